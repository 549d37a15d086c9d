import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { jobNotFound } from "@svc/asks";
import { requireId, requireProject } from "@svc/core";
import { type JobEventRecord, type JobRecord, jobsForProject, type StepReceiptDocument } from "@svc/db";
import { type JobStepSchema, type JobsService, ListStepsResponseSchema } from "@svc/gen/jobs";
import { jobSeals } from "../drive/seals.ts";
import { workOf } from "../state/apply.ts";
import { type StepInstruction, stepOf } from "../state/flow.ts";
import type { JobState } from "../state/job.ts";
import { openState } from "../state/open.ts";
import { overridesOf } from "../state/overrides.ts";
import { shownOf } from "../state/shown.ts";
import type { JobsContext } from "./context.ts";

type Methods = Pick<ServiceImpl<typeof JobsService>, "listSteps">;

/** Entries at the end of a log that tell the pace of the step at work. */
const paceEntries = 50;

/** ListSteps. */
export function stepMethods({ db, sealer, programs }: JobsContext): Methods {
  return {
    async listSteps(request, ctx) {
      const { projectId } = requireProject(ctx);
      const jobId = requireId("job", "jobId", request.jobId);
      const repository = jobsForProject(db, projectId);
      const job = await repository.find(jobId);
      if (job === undefined) throw jobNotFound("jobId", request.jobId);
      const [loaded, steps, events] = await Promise.all([
        programs.get(db, projectId, job.programDigest),
        repository.listSteps([jobId]),
        repository.listEvents(jobId, { afterSeq: Math.max(0, job.lastSeq - paceEntries), limit: paceEntries }),
      ]);
      const { state } = workOf(
        openState(job, steps.get(jobId) ?? [], { loaded, ...jobSeals(sealer, projectId, jobId) }),
      );
      return create(ListStepsResponseSchema, {
        steps: loaded.flow.instructions.flatMap((at) =>
          at.kind === "step" ? [toStep(at, { state, job, events })] : [],
        ),
        overridesJson: overridesText(state),
      });
    },
  };
}

type Reading = { readonly state: JobState; readonly job: JobRecord; readonly events: readonly JobEventRecord[] };

function toStep(at: StepInstruction, reading: Reading): MessageInitShape<typeof JobStepSchema> {
  const { step } = at;
  const receipt = reading.state.steps.get(step.id)?.receipt;
  const done = receipt?.rows?.in ?? 0;
  const isAtWork = receipt?.state === "" && reading.state.finishedAt === null;
  const total = isAtWork || receipt === undefined ? rowsOfSource(at, reading.state) : undefined;
  return {
    stepId: step.id,
    kind: step.kind,
    state: receipt === undefined ? "waiting" : isAtWork ? "running" : receipt.state,
    attempts: receipt?.attempts ?? 0,
    rowsDone: done,
    ...(total !== undefined && { rowsRemaining: Math.max(0, total - done) }),
    rowsPerSecond: isAtWork ? paceOf(receipt, reading) : 0,
    ...(receipt?.calls && { calls: receipt.calls }),
    ...(receipt && { startedAt: timestampFromMs(receipt.startedAt) }),
    ...(receipt?.finishedAt !== undefined && { finishedAt: timestampFromMs(receipt.finishedAt) }),
  };
}

/** How many rows a step takes, once the step that makes them has ended; undefined where that is not known. */
function rowsOfSource({ step }: StepInstruction, { steps, loaded }: JobState): number | undefined {
  if (!("source" in step) || typeof step.source !== "string") return undefined;
  const source = steps.get(step.source)?.receipt;
  const { set } = stepOf(loaded.flow, step.source);
  return source === undefined || source.state === "" || set === undefined ? undefined : source.rows?.[set];
}

/** Rows a second since the log last told of the step; else since it began. */
function paceOf({ stepId, rows, startedAt }: StepReceiptDocument, { job, events }: Reading): number {
  const told = events.findLast(
    (event) => event.type === "step-progress" && event.stepId === stepId && event.at < job.updatedAt,
  );
  const from = told === undefined ? undefined : { rows: rowsIn(told.payload), atMs: told.at };
  const { rows: before = 0, atMs = startedAt } = from ?? {};
  const seconds = (job.updatedAt - atMs) / 1000;
  const done = (rows?.in ?? 0) - before;
  return seconds <= 0 || done < 0 ? 0 : Math.round((done / seconds) * 10) / 10;
}

function rowsIn(payload: string): number {
  const { rows } = JSON.parse(payload) as { readonly rows?: { readonly in?: number } };
  return rows?.in ?? 0;
}

/** What answers and retries changed of the job, and is in force, as people may see it; empty for nothing. */
function overridesText(state: JobState): string {
  const changed = overridesOf(state);
  const shown = shownOf(state);
  const params = Object.fromEntries(Object.keys(changed.params).map((name) => [name, shown.scope.params[name]]));
  const hasParams = Object.keys(params).length > 0;
  const hasArgs = Object.keys(shown.stepArgs).length > 0;
  if (!hasParams && !hasArgs) return "";
  return JSON.stringify({ ...(hasParams && { params }), ...(hasArgs && { args: shown.stepArgs }) });
}
