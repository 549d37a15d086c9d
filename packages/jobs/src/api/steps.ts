import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { askFaults } from "@svc/asks";
import { appNamesOf } from "@svc/catalog";
import { type Id, type ProjectId, requireId, requireProject } from "@svc/core";
import type { StepReceiptDocument } from "@svc/db/documents/step-receipt";
import type { JobEventRecord, JobRecord } from "@svc/db/jobs/record";
import { jobsForProject } from "@svc/db/jobs/repo";
import type { JobStepSchema, JobsService } from "@svc/gen/jobs";
import { stepTitle } from "@svc/program";
import { jobSeals } from "../drive/store/seals.ts";
import { jobFaults } from "../errors.ts";
import { workOf } from "../state/apply.ts";
import { type StepInstruction, stepOf } from "../state/flow.ts";
import { type JobState, overridesOf } from "../state/job.ts";
import { openState } from "../state/open.ts";
import { shownOf } from "../state/shown.ts";
import type { JobsContext } from "./context.ts";
import { toStepReceipt } from "./convert-jobs.ts";
import { readStepRows, stepArguments, valueForm } from "./step-detail.ts";
import { readStepTimes, type StepTimes, spansOf, waitsOf } from "./step-times.ts";

type Methods = Pick<ServiceImpl<typeof JobsService>, "listSteps" | "getStep">;

/**
 * Number of the newest log entries of a job from which svc computes when each step ran and waited, and how many rows per second the current
 * step processes.
 */
const entriesMax = 1_000;

/** Returns the methods ListSteps and GetStep. */
export function stepMethods(context: JobsContext): Methods {
  const { db, sealer, engine, views } = context;
  return {
    async listSteps(request, ctx) {
      const { projectId } = requireProject(ctx);
      const reading = await readSteps(context, projectId, requireId("job", "jobId", request.jobId));
      return {
        steps: reading.state.loaded.flow.instructions.flatMap((at) =>
          at.kind === "step" ? [toStep(at, reading)] : [],
        ),
        overridesJson: overridesText(reading.state),
      };
    },
    async getStep(request, ctx) {
      const { projectId } = requireProject(ctx);
      const jobId = requireId("job", "jobId", request.jobId);
      const reading = await readSteps(context, projectId, jobId);
      const { state } = reading;
      if (!state.loaded.flow.indexOf.has(request.stepId)) throw jobFaults.STEP_NOT_FOUND(jobId, request.stepId);
      const at = stepOf(state.loaded.flow, request.stepId);
      const receipt = state.steps.get(request.stepId)?.receipt;
      const seals = jobSeals(sealer, projectId, jobId);
      const [made, why, view] = await Promise.all([
        receipt?.rows === undefined ? undefined : readStepRows(db, { state, seals, receipt }),
        engine.whyNotRetried({ jobId, projectId }, request.stepId),
        views.forProject(projectId),
      ]);
      const appNames = appNamesOf(view);
      return {
        step: toStep(at, reading),
        ...(receipt && { receipt: toStepReceipt(receipt, { entities: reading.job.estimate.entities, appNames }) }),
        arguments: [...stepArguments(at.step, state)],
        output: [...(made === undefined || made.sampled === 0 ? valueForm(at.step, state) : made.form)],
        outputRows: made?.sampled ?? 0,
        rows: [...(made?.rows ?? [])],
        hasMoreRows: made?.hasMore ?? false,
        canRetry: why === undefined,
        retryWhy: why === undefined ? "" : `the job ${why}`,
      };
    },
  };
}

/** Reads a job with its steps and the newest entries of its log. Throws JOB_NOT_FOUND if the project has no such job. */
async function readSteps(
  { db, sealer, programs }: JobsContext,
  projectId: ProjectId,
  jobId: Id<"job">,
): Promise<Reading> {
  const repository = jobsForProject(db, projectId);
  const job = await repository.find(jobId);
  if (job === undefined) throw askFaults.JOB_NOT_FOUND("jobId", jobId);
  const [loaded, steps, events] = await Promise.all([
    programs.get(db, projectId, job.programDigest),
    repository.listSteps([jobId]),
    repository.listEvents(jobId, { afterSeq: Math.max(0, job.lastSeq - entriesMax), limit: entriesMax }),
  ]);
  const { state } = workOf(openState(job, steps.get(jobId) ?? [], { loaded, ...jobSeals(sealer, projectId, jobId) }));
  return { state, job, events, times: readStepTimes(events, { flow: loaded.flow, attempt: job.attempt }) };
}

type Reading = {
  readonly state: JobState;
  readonly job: JobRecord;
  readonly events: readonly JobEventRecord[];
  readonly times: StepTimes;
};

function toStep(at: StepInstruction, reading: Reading): MessageInitShape<typeof JobStepSchema> {
  const { step } = at;
  const receipt = reading.state.steps.get(step.id)?.receipt;
  const done = receipt?.rows?.in ?? 0;
  const isAtWork = receipt?.state === "" && reading.state.finishedAt === null;
  const branch = branchTaken(at, reading.state);
  const made = at.set === "ok" ? receipt?.rows?.ok : undefined;
  const total = isAtWork || receipt === undefined ? rowsOfSource(at, reading.state) : undefined;
  return {
    stepId: step.id,
    kind: step.kind,
    state: stateOf(at, reading.state),
    attempts: receipt?.attempts ?? 0,
    rowsDone: done,
    ...(total !== undefined && { rowsRemaining: Math.max(0, total - done) }),
    ...(made !== undefined && { rowsMade: made }),
    ...(branch !== undefined && { branch }),
    rowsPerSecond: isAtWork ? paceOf(receipt, reading) : 0,
    ...(receipt?.calls && { calls: receipt.calls }),
    simulatedWrites: reading.state.simulated[step.id]?.count ?? 0,
    simulatedCalls: [...(reading.state.simulated[step.id]?.first ?? [])],
    ...(receipt && { startedAt: timestampFromMs(receipt.startedAt) }),
    ...(receipt?.finishedAt !== undefined && { finishedAt: timestampFromMs(receipt.finishedAt) }),
    title: stepTitle(step, reading.state.loaded.program.points),
    parentStepId: at.inside.at(-1)?.stepId ?? "",
    spans: spansOf(at, receipt, reading.times),
    waits: waitsOf(at, receipt, reading.times),
  };
}

/**
 * Returns the state of a step: waiting, running, not reached, or how it ended. The receipt (stored summary) of an `if` step is final as
 * soon as a branch is chosen. So an `if` step counts as running while the job is inside one of its branches.
 */
function stateOf(at: StepInstruction, state: JobState): string {
  const receipt = state.steps.get(at.step.id)?.receipt;
  const hasEnded = state.finishedAt !== null;
  if (receipt === undefined) return hasEnded || isPassedOver(at, state) ? "not_reached" : "waiting";
  if (hasEnded) return receipt.state;
  return receipt.state === "" || standingIn(at, state) !== undefined ? "running" : receipt.state;
}

/**
 * Returns the job's current position (index of an instruction) if the job is inside a branch of this `if` step. Otherwise returns
 * undefined.
 */
function standingIn({ step, index, next, end, handler = end }: StepInstruction, state: JobState): number | undefined {
  if (step.kind !== "if" || !state.steps.has(step.id)) return undefined;
  // In the list of instructions, the branches of an `if` come first. If the `if` has an error handler, one jump instruction and then the
  // handler follow. The branches then end before the jump, otherwise at `end`.
  const behind = handler === end ? end : handler - 1;
  return state.positions.find((position) => position.index >= next && position.index > index && position.index < behind)
    ?.index;
}

/** True if an `if` around this step took its other branch, so that the step does not run. False also while the branch is not known. */
function isPassedOver(at: StepInstruction, state: JobState): boolean {
  return at.inside.some(({ stepId, handles }) => {
    const block = stepOf(state.loaded.flow, stepId);
    const taken = handles || block.step.kind !== "if" ? undefined : branchTaken(block, state);
    return taken !== undefined && taken !== (at.index < block.otherwise ? "then" : "else");
  });
}

/**
 * Returns the branch that an `if` step took, or undefined if that is not known. If the job is now inside the `if` step, its current step
 * shows the branch. Otherwise the branch is the one in which a step has begun.
 */
function branchTaken(at: StepInstruction, state: JobState): "then" | "else" | undefined {
  const { step, otherwise } = at;
  if (step.kind !== "if") return undefined;
  const standing = standingIn(at, state);
  if (standing !== undefined) return standing < otherwise ? "then" : "else";
  const isRepeated = at.inside.some(({ stepId }) => stepOf(state.loaded.flow, stepId).step.kind === "until");
  if (isRepeated || state.steps.get(step.id)?.receipt.state !== "completed") return undefined;
  const hasBegun = (steps: readonly { readonly id: string }[]) => steps.some(({ id }) => state.steps.has(id));
  const [inThen, inElse] = [hasBegun(step.whenTrue), hasBegun(step.whenFalse)];
  return inThen === inElse ? undefined : inThen ? "then" : "else";
}

/** Returns the number of rows that a step is to process, or undefined while the step that makes these rows has not ended. */
function rowsOfSource({ step }: StepInstruction, { steps, loaded }: JobState): number | undefined {
  if (!("source" in step) || typeof step.source !== "string") return undefined;
  const source = steps.get(step.source)?.receipt;
  const { set } = stepOf(loaded.flow, step.source);
  return source === undefined || source.state === "" || set === undefined ? undefined : source.rows?.[set];
}

/**
 * Returns a step's pace in rows per second. It is measured since the last log entry about the step's progress, or else since the step
 * began.
 */
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

/**
 * Returns the values that people changed in the job, in their answers or when they retried it. Sensitive values are masked. Empty if
 * nothing was changed.
 */
function overridesText(state: JobState): string {
  const changed = overridesOf(state);
  const shown = shownOf(state);
  const params = Object.fromEntries(Object.keys(changed.params).map((name) => [name, shown.scope.params[name]]));
  const hasParams = Object.keys(params).length > 0;
  const hasArgs = Object.keys(shown.stepArgs).length > 0;
  if (!hasParams && !hasArgs) return "";
  return JSON.stringify({ ...(hasParams && { params }), ...(hasArgs && { args: shown.stepArgs }) });
}
