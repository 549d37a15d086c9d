import type { JobStatus } from "@svc/db/schema/words";

export { type JobStatus, jobStatuses } from "@svc/db/schema/words";

/** Statuses that an ended job can move to, through RetryJob only. */
const attempted: readonly JobStatus[] = ["pending_plan_approval", "queued"];

/** The one table of transitions. Any other transition is an error of the engine. */
export const transitions: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  simulating: ["pending_plan_approval", "queued", "failed", "cancelled"],
  pending_plan_approval: ["queued", "rejected", "cancelled"],
  queued: ["running", "parked", "expired", "cancelled"],
  running: ["parked", "compensating", "succeeded", "failed", "expired", "cancelled"],
  parked: ["queued", "running", "compensating", "aborted", "failed", "expired", "cancelled"],
  compensating: ["parked", "failed", "aborted", "cancelled"],
  succeeded: [],
  failed: attempted,
  aborted: attempted,
  rejected: [],
  expired: attempted,
  cancelled: attempted,
};

/** The transitions of an approval dry run: it ends with its answer, and nothing of its program runs. */
const rehearsed: typeof transitions = {
  ...transitions,
  pending_plan_approval: [...transitions.pending_plan_approval, "succeeded"],
};

/** The tables of transitions, for jobs and for approval dry runs. */
export const movesOf = { job: transitions, rehearsal: rehearsed } as const;

/** The statuses that a new job may begin with. */
export const firstStatuses: readonly JobStatus[] = ["simulating", "pending_plan_approval", "queued"];

/** True if a job, or an approval dry run, may move from one status to another. */
export function mayMove(from: JobStatus, to: JobStatus, isRehearsal = false): boolean {
  return movesOf[isRehearsal ? "rehearsal" : "job"][from].includes(to);
}

/** Throws an Error if a job may not move from one status to another. */
export function assertMove(from: JobStatus, to: JobStatus): void {
  if (!mayMove(from, to)) throw new Error(`a job that is ${from} cannot become ${to}`);
}

/** Statuses in which an attempt of a job ends: its receipt and end are final. The table says if another attempt may follow. */
export const endStatuses: ReadonlySet<JobStatus> = new Set([
  "succeeded",
  "failed",
  "aborted",
  "rejected",
  "expired",
  "cancelled",
]);

/** True if a status is an end. */
export function isEnd(status: JobStatus): boolean {
  return endStatuses.has(status);
}

/** True if RetryJob may continue a job from this end. */
export function isRetryable(status: JobStatus): boolean {
  return isEnd(status) && transitions[status].length > 0;
}

/** Statuses in which an administrator or svc may park a job: those in which it would otherwise run. */
export type ParkableStatus = "queued" | "running" | "compensating";

/** True if a job may be parked from outside its program. A job that waits for a person, a time or its simulation does no harm. */
export function isParkable(status: JobStatus): status is ParkableStatus {
  return status === "queued" || status === "running" || status === "compensating";
}
