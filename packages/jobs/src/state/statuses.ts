import type { JobStatus } from "@svc/db/schema/words";

export { type JobStatus, jobStatuses } from "@svc/db/schema/words";

/** Where RetryJob, and nothing else, takes a job that has ended. */
const attempted: readonly JobStatus[] = ["pending_plan_approval", "queued"];

/** The one table of transitions; what is not in it is a fault of the engine. */
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

/** Those of a rehearsal: it ends with the answer it is for, and nothing of its program is run. */
const rehearsed: typeof transitions = {
  ...transitions,
  pending_plan_approval: [...transitions.pending_plan_approval, "succeeded"],
};

/** The table for jobs, by whether they are rehearsals. */
export const movesOf = { job: transitions, rehearsal: rehearsed } as const;

/** A status that a new job may begin with. */
export const firstStatuses: readonly JobStatus[] = ["simulating", "pending_plan_approval", "queued"];

/** Whether a job, or one that is a rehearsal, may go from one status to another. */
export function mayMove(from: JobStatus, to: JobStatus, isRehearsal = false): boolean {
  return movesOf[isRehearsal ? "rehearsal" : "job"][from].includes(to);
}

/** Throws an Error when a job may not go from one status to another. */
export function assertMove(from: JobStatus, to: JobStatus): void {
  if (!mayMove(from, to)) throw new Error(`a job that is ${from} cannot become ${to}`);
}

/** Where an attempt at a job ends: receipt and end are final. Where another may follow, the table says so. */
export const endStatuses: ReadonlySet<JobStatus> = new Set([
  "succeeded",
  "failed",
  "aborted",
  "rejected",
  "expired",
  "cancelled",
]);

/** Whether a status is an end. */
export function isEnd(status: JobStatus): boolean {
  return endStatuses.has(status);
}

/** Whether RetryJob may take a job on from where it ended. */
export function isRetryable(status: JobStatus): boolean {
  return isEnd(status) && transitions[status].length > 0;
}

/** Where a job stands that an administrator, or the service, may park: where it would otherwise be driven. */
export type ParkableStatus = "queued" | "running" | "compensating";

/** Whether a job may be parked from outside its program. What waits for a person or a time, or for its twin, does no harm. */
export function isParkable(status: JobStatus): status is ParkableStatus {
  return status === "queued" || status === "running" || status === "compensating";
}
