import type { Id, ProjectId } from "@svc/core";
import type { JobStatus, ParkableStatus } from "../state/statuses.ts";
import type { HoldReason } from "./schedule/park.ts";

/** A job that ended, with the numbers of its receipt: everything that its log line contains, and no data. */
export type EndedJob = {
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  readonly status: JobStatus;
  readonly outcome: "complete" | "partial" | "none";
  readonly isSimulated: boolean;
  /** Milliseconds from its submission to its end. */
  readonly durationMs: number;
  readonly steps: number;
  readonly calls: number;
  readonly writes: number;
  readonly retried: number;
  readonly unknown: number;
  readonly rows: number;
  readonly asks: number;
  /** The code of its last error. Empty if there is none. */
  readonly errorCode: string;
};

/** A job that was parked from outside its program. */
export type ParkedJob = {
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  readonly reason: HoldReason;
  /** The step that it had begun or was about to begin. Empty if there is none. */
  readonly stepId: string;
  /** Its status before. */
  readonly status: ParkableStatus;
  /** For `poisoned`: the reason, beginning with a code. Otherwise empty. */
  readonly why: string;
};

/** Receiver of the engine's observations. The node turns them into log lines and metrics. */
export type EngineObserver = {
  /** Called after the end of a job is committed. */
  ended(job: EndedJob): void;
  /** Called when svc or an administrator parked a job. */
  parked(job: ParkedJob): void;
  /** Called when a driver lost its lease: it expired and another node continues the job, or a park from outside took it. */
  leaseLost(jobId: Id<"job">, cause: "taken-over" | "parked"): void;
  /** Called when something failed that will be tried again. */
  failed(what: "claim" | "renew" | "drive" | "park" | "task" | "sweep", error: unknown): void;
};

/** An observer that ignores everything. */
export const silentObserver: EngineObserver = {
  ended: () => {},
  parked: () => {},
  leaseLost: () => {},
  failed: () => {},
};

/** Points where a test may end a node: something is half done there. */
const faultPoints = [
  "after-claim",
  "before-call",
  "after-call",
  "before-commit",
  "after-commit",
  "after-ask-commit",
  "mid-undo",
] as const;

/** A point where a test may end a node. */
export type FaultPoint = (typeof faultPoints)[number];

/** Called at a fault point. In production it does nothing; a test's may never resolve, or end the process. */
export type OnFaultPoint = (point: FaultPoint, at: { readonly stepId: string }) => Promise<void> | void;
