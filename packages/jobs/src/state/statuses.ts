import type { JobStatus } from "@svc/db/schema/words";

export { type JobStatus, jobStatuses } from "@svc/db/schema/words";

/** Statuses with which a retry of an ended job begins. Only RetryJob makes these status changes. */
const attempted: readonly JobStatus[] = ["pending_plan_approval", "queued"];

/** The allowed status changes of a job: for each status, the statuses that can follow. Any other change is an error in the engine. */
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

/**
 * Status changes of an approval dry run: a job that only asks people to approve a schedule's program. The job ends when a person answers,
 * and it runs no step of that program.
 */
const rehearsed: typeof transitions = {
  ...transitions,
  pending_plan_approval: [...transitions.pending_plan_approval, "succeeded"],
};

/**
 * The allowed status changes. `job`: of ordinary jobs. `rehearsal`: of approval dry runs, which only ask people if a schedule may become
 * active.
 */
export const movesOf = { job: transitions, rehearsal: rehearsed } as const;

/** The statuses in which a new job can begin. */
export const firstStatuses: readonly JobStatus[] = ["simulating", "pending_plan_approval", "queued"];

/** True if a job, or an approval dry run, may move from one status to another. */
export function mayMove(from: JobStatus, to: JobStatus, isRehearsal = false): boolean {
  return movesOf[isRehearsal ? "rehearsal" : "job"][from].includes(to);
}

/** Throws an Error if a job may not move from one status to another. */
export function assertMove(from: JobStatus, to: JobStatus): void {
  if (!mayMove(from, to)) throw new Error(`a job that is ${from} cannot become ${to}`);
}

/** Statuses of a job that has ended. RetryJob can begin some of these jobs again. */
export const endStatuses: ReadonlySet<JobStatus> = new Set([
  "succeeded",
  "failed",
  "aborted",
  "rejected",
  "expired",
  "cancelled",
]);

/** True if an attempt of a job ends in this status. */
export function isEnd(status: JobStatus): boolean {
  return endStatuses.has(status);
}

/** True if RetryJob may continue a job that ended in this status. */
export function isRetryable(status: JobStatus): boolean {
  return isEnd(status) && transitions[status].length > 0;
}

/** Statuses in which a job can be paused, or parked by svc or an administrator. They are the statuses in which a job can run. */
export type ParkableStatus = "queued" | "running" | "compensating";

/** True if svc or an administrator may park a job in this status. False if the job has ended or already waits. */
export function isParkable(status: JobStatus): status is ParkableStatus {
  return status === "queued" || status === "running" || status === "compensating";
}
