import { type Job, JobsService } from "@svc/gen/jobs";
import { useState } from "react";
import { placeFailure } from "../../calls/fault.ts";
import { useWrite } from "../../calls/write.ts";
import { randomKey } from "../../random.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { AreaField, CheckField } from "../../ui/fields/field.tsx";
import { SelectField } from "../../ui/fields/select-field.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { programPart } from "./program.ts";
import { useRefreshJob } from "./use-job.ts";

/** Takes a job on that did not end well: the same job, from where it stopped or from an earlier step. */
export function RetryDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const refresh = useRefreshJob(job.id);
  const [fromStepId, setFromStepId] = useState("");
  const [paramsJson, setParamsJson] = useState("");
  const [resendUnknown, setResendUnknown] = useState(false);
  const [idempotencyKey] = useState(randomKey);
  const params = programPart(job.programJson, "params");
  const unknown = job.stepReceipts.reduce((sum, { calls }) => sum + (calls?.unknown ?? 0), 0);
  const retry = useWrite(JobsService.method.retryJob, {
    onSuccess: ({ job: next }) => {
      announce(`Attempt ${next?.attempt ?? ""} begins.`);
      refresh();
      onClose();
    },
  });
  const { at, rest } = placeFailure(retry.error, ["fromStepId", ...(params === "" ? [] : (["paramsJson"] as const))]);
  const send = () => retry.send({ id: job.id, fromStepId, paramsJson, resendUnknown, idempotencyKey });
  return (
    <Dialog
      open
      onClose={onClose}
      title="Retry this job?"
      hideOnInteractOutside={false}
      actions={
        <>
          <Button onPress={onClose}>Not now</Button>
          <Button kind="primary" onPress={send} busy={retry.isSending ? "Sending" : undefined}>
            Begin attempt {job.attempt + 1}
          </Button>
        </>
      }
    >
      <p>It goes on as the same job. What ended well stays; failed rows are done again. Its deadline begins anew.</p>
      <SelectField
        label="From"
        value={fromStepId}
        options={[
          { value: "", words: "where it stopped" },
          ...job.stepReceipts.map(({ stepId, kind }) => ({ value: stepId, words: `${stepId}, ${kind}` })),
        ]}
        onChange={setFromStepId}
        fault={at.fromStepId}
      />
      {params !== "" && (
        <AreaField
          label="Other params"
          mono
          value={paramsJson}
          onChange={setParamsJson}
          fault={at.paramsJson}
          hint={`As a JSON object; those left out stay. The program has ${params}`}
        />
      )}
      {unknown > 0 && (
        <CheckField
          label="Send writes in doubt again"
          checked={resendUnknown}
          onChange={setResendUnknown}
          hint={`${unknown} were sent, and whether they were carried out is not known. Otherwise people are asked.`}
        />
      )}
      <FaultNotice error={rest} />
    </Dialog>
  );
}
