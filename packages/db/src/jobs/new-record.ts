import { wholeReceipt } from "../documents/jobs.ts";
import type { NewJob } from "./new-job.ts";
import type { JobRecord } from "./record.ts";

/** Returns the record of a new job without reading it, for callers that use it right after storing it. */
export function recordOfNewJob({ job, events }: NewJob): JobRecord {
  const { idempotencyKey: _key, contentDigest: _digest, refusedAnswers: _refused, childKey: _child, ...given } = job;
  return {
    ...given,
    simulatedFrom: given.simulatedFrom ?? null,
    skillSlug: given.skillSlug ?? "",
    parentJobId: given.parentJobId ?? null,
    child: given.child ?? null,
    standingProgramId: given.standingProgramId ?? "",
    standingRunId: given.standingRunId ?? null,
    callSeed: given.callSeed ?? null,
    input: given.input ?? null,
    overrides: given.overrides ?? null,
    generation: given.generation ?? 1,
    position: given.position ?? 0,
    progress: given.progress ?? null,
    binding: given.binding ?? null,
    attempt: given.attempt ?? 1,
    attemptKeyId: given.attemptKeyId ?? null,
    planApprovalId: given.planApprovalId ?? "",
    park: given.park ?? null,
    deadlineAt: given.deadlineAt ?? null,
    deadlineLeftMs: given.deadlineLeftMs ?? null,
    cancelRequestedAt: given.cancelRequestedAt ?? null,
    cancelChain: given.cancelChain ?? null,
    pausedAt: given.pausedAt ?? null,
    pauseChain: given.pauseChain ?? null,
    lastError: given.lastError ?? "",
    receipt: given.receipt ? wholeReceipt(given.receipt, given.estimate) : null,
    lastSeq: events.length,
    finishedAt: given.finishedAt ?? null,
    loopHolds: given.loopHolds ?? 0,
    restoredFrom: given.restoredFrom ?? null,
    hasLostRows: given.hasLostRows ?? false,
    isSwept: given.isSwept ?? false,
  };
}
