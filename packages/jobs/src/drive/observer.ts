import type { Failure, Id, ProjectId } from "@svc/core";
import type { JobStatus, ParkableStatus } from "../state/statuses.ts";
import type { HoldReason } from "./schedule/park.ts";

/**
 * A job that ended, with the counts of its receipt (report). The log line of the job contains exactly these fields, and no data of the job.
 */
export type EndedJob = {
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  readonly status: JobStatus;
  readonly outcome: "complete" | "partial" | "none";
  readonly isSimulated: boolean;
  /** Milliseconds from the submission of the job to the end of the job. */
  readonly durationMs: number;
  readonly steps: number;
  readonly calls: number;
  readonly writes: number;
  readonly retried: number;
  readonly unknown: number;
  readonly rows: number;
  readonly asks: number;
  /** Code of the job's last error. Empty if there is no error. */
  readonly errorCode: string;
};

/** A job that svc or an administrator has parked (stopped until release). Jobs that wait because of their own program are not included. */
export type ParkedJob = {
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  readonly reason: HoldReason;
  /** The step that the job had begun or was about to begin. Empty if there is no such step. */
  readonly stepId: string;
  /** The job's status before it was parked (stopped until release). */
  readonly status: ParkableStatus;
  /**
   * Description of the problem, beginning with a code, if the job was suspended with the reason `poisoned` (nodes repeatedly died, hung or
   * were blocked while they ran the job). Empty for all other reasons.
   */
  readonly why: string;
};

/** Receives reports of the engine, which runs jobs (for example, that a job ended). The node turns them into log lines and metrics. */
export type EngineObserver = {
  /**
   * Called after the end of a job is committed. `failure`: why it failed. Undefined if it did not fail, and for child jobs and simulations.
   */
  ended(job: EndedJob, failure?: Failure): void;
  /** Called when svc or an administrator has parked a job (stopped it until release). */
  parked(job: ParkedJob): void;
  /**
   * Called when a driver (the code that runs one job's steps) lost its lease (time-limited claim of the job). `taken-over`: the lease
   * expired and another node continues the job. `parked`: svc or an administrator parked the job.
   */
  leaseLost(jobId: Id<"job">, cause: "taken-over" | "parked"): void;
  /** Called when a part of the engine's own work failed, for example a claim of jobs. `what` names the work. The engine tries it again. */
  failed(what: "claim" | "renew" | "drive" | "park" | "task" | "sweep", error: unknown): void;
};

/** An observer of the job engine that ignores every report. */
export const silentObserver: EngineObserver = {
  ended: () => {},
  parked: () => {},
  leaseLost: () => {},
  failed: () => {},
};

/**
 * Points in the execution of a job at which a test may simulate a crash of the node. At each of these points, a part of the job's work is
 * done and a part is not.
 */
const faultPoints = [
  "after-claim",
  "before-call",
  "after-call",
  "before-commit",
  "after-commit",
  "after-ask-commit",
  "mid-undo",
] as const;

/** Name of a point in the work on a job at which a test can simulate the death of the node. */
export type FaultPoint = (typeof faultPoints)[number];

/**
 * Called at a fault point (a point of the work at which a test may end the node). In production this function is absent. A test's function
 * may end the process, or return a promise that never resolves.
 */
export type OnFaultPoint = (point: FaultPoint, at: { readonly stepId: string }) => Promise<void> | void;
