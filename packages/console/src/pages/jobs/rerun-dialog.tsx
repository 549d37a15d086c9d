import { type Job, JobsService } from "@svc/gen/jobs";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { placeFailure } from "../../calls/fault.ts";
import { useWrite } from "../../calls/write.ts";
import { randomKey } from "../../random.ts";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { AreaField, CheckField } from "../../ui/fields/field.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { Table } from "../../ui/rows/table.tsx";
import { programPart } from "./program.ts";

/**
 * Draws the dialog that submits the program of a job again as a new job. It shows which tools of the program have changed since the old
 * job.
 */
export default function RerunDialog({ job, projectId, onClose }: { job: Job; projectId: string; onClose: () => void }) {
  const [inputJson, setInputJson] = useState("");
  const [paramsJson, setParamsJson] = useState("");
  const [repin, setRepin] = useState(false);
  const [idempotencyKey, setIdempotencyKey] = useState(randomKey);
  const changing =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      set(value);
      setIdempotencyKey(randomKey());
    };
  const rerun = useWrite(JobsService.method.rerunJob);
  const { job: made, drift = [] } = rerun.answer ?? {};
  const has = (part: string) => programPart(job.programJson, part) !== "";
  const fields = [
    ...(has("inputSchema") ? (["inputJson"] as const) : []),
    ...(has("params") ? (["paramsJson"] as const) : []),
  ];
  const { at, rest } = placeFailure(rerun.error, fields);
  const send = () => rerun.send({ id: job.id, inputJson, paramsJson, repin, idempotencyKey });
  const actions =
    made === undefined ? (
      <>
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="primary" onPress={send} busy={rerun.isSending ? "Submitting" : undefined}>
          Run again
        </Button>
      </>
    ) : (
      <Link
        to="/p/$projectId/jobs/$jobId"
        params={{ projectId, jobId: made.id }}
        className={buttonClass("primary")}
        onClick={onClose}
      >
        Open the new job
      </Link>
    );
  return (
    <Dialog open onClose={onClose} title="Run this program again?" hideOnInteractOutside={false} wide actions={actions}>
      {made === undefined ? (
        <>
          <p>svc submits the same program as a new job. The usual checks and approvals apply.</p>
          {has("inputSchema") && (
            <AreaField
              label="Other input"
              mono
              value={inputJson}
              onChange={changing(setInputJson)}
              fault={at.inputJson}
              hint="A JSON object. Leave it empty for the input of this job."
            />
          )}
          {has("params") && (
            <AreaField
              label="Other params"
              mono
              value={paramsJson}
              onChange={changing(setParamsJson)}
              fault={at.paramsJson}
              hint="A JSON object. Leave it empty for the params of the program."
            />
          )}
          <CheckField
            label="Use the newest versions of the tools"
            checked={repin}
            onChange={changing(setRepin)}
            hint="If you do not check this, the new job uses the versions of the tools that this job used."
          />
          <FaultNotice error={rest} />
        </>
      ) : (
        <>
          <p>Submitted as {made.id}.</p>
          {drift.length === 0 ? (
            <p>The tools have not changed since this job was submitted.</p>
          ) : (
            <>
              <p>
                A tool has changed since then
                {repin ? ". The new job uses the new version" : ". The new job uses the old version"}:
              </p>
              <Table
                label="What changed"
                head={["Tool", "What", "Before", "Today"]}
                rows={drift.map(({ toolSlug, what, before, after }) => ({
                  id: `${toolSlug} ${what}`,
                  cells: [toolSlug, what, before.slice(0, 80), after === "" ? "gone" : after.slice(0, 80)],
                }))}
              />
            </>
          )}
        </>
      )}
    </Dialog>
  );
}
