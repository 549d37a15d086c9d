/**
 * Where a job stands. `simulating`: its twin runs first. `pending_plan_approval`: people decide on the plan. `queued`: accepted.
 * `running`: a driver moves it on. `parked`: waits for a person or a time; `park.reason` says which. `compensating`: its saga
 * undoes. From `succeeded` on, an end: finishedAt and receipt are final.
 */
export const jobStatuses = [
  "simulating",
  "pending_plan_approval",
  "queued",
  "running",
  "parked",
  "compensating",
  "succeeded",
  "failed",
  "aborted",
  "rejected",
  "expired",
  "cancelled",
] as const;

/** One status of a job. */
export type JobStatus = (typeof jobStatuses)[number];

/** The one table of transitions; what is not in it is a fault of the engine. */
export const transitions: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  simulating: ["pending_plan_approval", "queued", "failed", "cancelled"],
  pending_plan_approval: ["queued", "rejected", "cancelled"],
  queued: ["running", "expired", "cancelled"],
  running: ["parked", "compensating", "succeeded", "failed", "expired", "cancelled"],
  parked: ["running", "compensating", "aborted", "failed", "expired", "cancelled"],
  compensating: ["parked", "failed", "aborted", "cancelled"],
  succeeded: [],
  failed: [],
  aborted: [],
  rejected: [],
  expired: [],
  cancelled: [],
};

/** A status that a new job may begin with. */
export const firstStatuses: readonly JobStatus[] = ["simulating", "pending_plan_approval", "queued"];

/** Whether a job may go from one status to another. */
export function mayMove(from: JobStatus, to: JobStatus): boolean {
  return transitions[from].includes(to);
}

/** Throws an Error when a job may not go from one status to another. */
export function assertMove(from: JobStatus, to: JobStatus): void {
  if (!mayMove(from, to)) throw new Error(`a job that is ${from} cannot become ${to}`);
}

/** Whether a status is an end. */
export function isEnd(status: JobStatus): boolean {
  return transitions[status].length === 0;
}

/** The status that a text from the store spells. Throws for any other text: the row was written by another version. */
export function jobStatusOf(text: string): JobStatus {
  const status = jobStatuses.find((known) => known === text);
  if (status === undefined) throw new Error(`${text} is no status of a job`);
  return status;
}
