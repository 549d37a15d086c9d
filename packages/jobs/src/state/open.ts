import type { JobRecord, JobStepRecord } from "@svc/db/jobs/record";
import type { JsonObject, JsonValue } from "@svc/program";
import type { LoadedProgram, Position, StoredOverrides, StoredState } from "./job.ts";
import type { Progress } from "./progress.ts";
import { openProgress } from "./stored-progress.ts";

/**
 * Functions that decrypt the stored parts of a job. `place`: names the column and the row for which a part was encrypted; it can be
 * decrypted only with the same place.
 */
export type Opener = {
  open(this: void, place: string, sealed: Uint8Array): JsonValue;
  /**
   * Decrypts a value that was encrypted for `place` (column and row), and returns it as a JSON object. Throws an Error if the decrypted
   * value is not an object.
   */
  openObject(this: void, place: string, sealed: Uint8Array): JsonObject;
};

/** Returns the keys and programs that caused the job's current attempt, in order. If a key retried the job, it is the last one. */
function chainOf({ principalChain, attemptKeyId }: JobRecord): readonly string[] {
  const key = `key:${attemptKeyId}`;
  return attemptKeyId === null || principalChain.at(-1) === key ? principalChain : [...principalChain, key];
}

/**
 * Returns the state of a job from its database rows, decrypted. Throws an Error if a newer version of svc stored a row in a form that this
 * version cannot read.
 */
export function openState(
  job: JobRecord,
  steps: readonly JobStepRecord[],
  { loaded, open, openObject }: Opener & { readonly loaded: LoadedProgram },
): StoredState {
  const { status, saga } = job;
  const { flow } = loaded;
  const owner = { status, saga, index: job.position, flow, steps };
  const principalChain = chainOf(job);
  const underway = openProgress(job.progress, owner, open);
  const overrides = job.overrides === null ? undefined : (openObject("overrides", job.overrides) as StoredOverrides);
  return {
    id: job.id,
    projectId: job.projectId,
    keyId: job.attemptKeyId ?? job.keyId,
    binding: job.binding,
    isSimulated: job.mode === "simulate",
    isRehearsal: job.mode === "rehearse",
    simulatedFrom: job.simulatedFrom,
    parent: job.parentJobId === null || job.child === null ? null : { jobId: job.parentJobId, ...job.child },
    standingProgramId: job.standingProgramId,
    standingRunId: job.standingRunId,
    callSeed: job.callSeed?.toString("hex") ?? job.id,
    restoredFrom: job.restoredFrom,
    traceparent: job.traceparent,
    attempt: job.attempt,
    principalChain,
    submitChain: job.principalChain,
    estimate: job.estimate,
    loaded,
    createdAt: job.createdAt,
    input: job.input === null ? loaded.program.input : openObject("input", job.input),
    status,
    positions:
      underway.branches.length === 0 ? [{ index: job.position, progress: underway.step }] : branchesOf(underway),
    blocks: underway.blocks,
    plan: underway.plan,
    undo: underway.undo,
    steps: new Map(
      steps.map(({ stepId, ordinal, receipt, output }) => {
        const value = output === null ? undefined : open(`steps/${stepId}`, output);
        return [stepId, { ordinal, receipt, value }];
      }),
    ),
    // Later values in this list replace earlier ones: first the program's own params, then changes stored by versions before 0.2, then
    // changes by later versions.
    params: { ...loaded.program.params, ...job.params, ...overrides?.params },
    stepArgs: { ...job.stepArgs, ...overrides?.stepArgs },
    generation: job.generation,
    used: job.used,
    rowsMade: underway.rowsMade,
    simulated: underway.simulated,
    saga,
    park: job.park,
    planApprovalId: job.planApprovalId,
    deadline:
      job.deadlineAt === null
        ? { leftMs: job.deadlineLeftMs ?? loaded.program.limits.deadlineMs }
        : { atMs: job.deadlineAt },
    lastError: job.lastError,
    finishedAt: job.finishedAt,
    lastSeq: job.lastSeq,
    cancel:
      job.cancelRequestedAt === null
        ? undefined
        : { atMs: job.cancelRequestedAt, chain: job.cancelChain ?? job.principalChain },
    pause: job.pausedAt === null ? undefined : { atMs: job.pausedAt, chain: job.pauseChain ?? job.principalChain },
    progressLoggedAt: underway.progressLoggedAt,
  };
}

function branchesOf({ branches }: Progress): Position[] {
  return branches.map((branch) => ({ ...branch, progress: branch.progress }));
}
