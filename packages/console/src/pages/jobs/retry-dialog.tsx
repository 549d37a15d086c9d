import { type Job, JobsService } from "@svc/gen/jobs";
import { useState } from "react";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { randomKey } from "../../random.ts";
import { announce } from "../../ui/notice/announce.tsx";
import { programPart } from "./program.ts";
import { useRefreshJob } from "./use-job.ts";

/**
 * Draws the dialog that retries a job which failed. The same job runs again, from the step where it stopped or from an earlier step.
 * `fromStepId`: the step that is chosen at first. Default: the step where the job stopped.
 */
export default function RetryDialog({
  job,
  fromStepId = "",
  onClose,
}: {
  job: Job;
  fromStepId?: string;
  onClose: () => void;
}) {
  const refresh = useRefreshJob(job.id);
  const [idempotencyKey] = useState(randomKey);
  const params = programPart(job.programJson, "params");
  const unknown = job.stepReceipts.reduce((sum, { calls }) => sum + (calls?.unknown ?? 0), 0);
  return (
    <WriteDialog
      method={JobsService.method.retryJob}
      title="Retry this job?"
      fields={{
        fromStepId: {
          select: "From",
          options: [
            { value: "", words: "where it stopped" },
            ...job.stepReceipts.map(({ stepId, kind }) => ({ value: stepId, words: `${stepId}, ${kind}` })),
          ],
        },
        paramsJson: {
          area: "Other params",
          mono: true,
          hint: `A JSON object with the values to change. All others stay the same. The program has ${params}`,
          when: () => params !== "",
        },
        resendUnknown: {
          check: "Send uncertain writes again",
          hint: `svc can't tell whether the app received ${unknown}. If you send them again, the app may do them twice. Otherwise svc asks a person.`,
          when: () => unknown > 0,
        },
      }}
      start={{ fromStepId }}
      placed={params === "" ? ["fromStepId"] : ["fromStepId", "paramsJson"]}
      request={(values) => ({ id: job.id, ...values, idempotencyKey })}
      keep="Cancel"
      act={`Retry`}
      onClose={onClose}
      done={({ job: next }) => {
        announce(`Attempt ${next?.attempt ?? ""} begins.`);
        refresh();
        onClose();
      }}
    >
      <p>The same job continues. Rows that succeeded stay, and failed rows run again. The deadline starts again.</p>
    </WriteDialog>
  );
}
