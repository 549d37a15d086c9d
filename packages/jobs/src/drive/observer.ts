import type { Id, ProjectId } from "@svc/core";
import type { JobStatus, ParkableStatus } from "../state/statuses.ts";
import type { HoldReason } from "./schedule/park.ts";

/** A job that ended, in the numbers of its receipt: everything that one log line tells of it, and nothing that is data. */
export type EndedJob = {
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  readonly status: JobStatus;
  readonly outcome: "complete" | "partial" | "none";
  readonly isSimulated: boolean;
  /** From its submission to its end. */
  readonly durationMs: number;
  readonly steps: number;
  readonly calls: number;
  readonly writes: number;
  readonly retried: number;
  readonly unknown: number;
  readonly rows: number;
  readonly asks: number;
  /** The code that its last error begins with; empty for none. */
  readonly errorCode: string;
};

/** A job that was parked from outside its program. */
export type ParkedJob = {
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  readonly reason: HoldReason;
  /** The step that it had begun or came to; empty for none. */
  readonly stepId: string;
  /** Where it stood before. */
  readonly status: ParkableStatus;
  /** Of `poisoned`: what it did, beginning with a code. Else empty. */
  readonly why: string;
};

/** Who watches the engine; the node's composition turns it into log lines and metrics. */
export type EngineObserver = {
  /** A job ended; committed. */
  ended(job: EndedJob): void;
  /** A job was parked by the service or an administrator. */
  parked(job: ParkedJob): void;
  /** A lease was lost under a driver: it ran out and another node goes on with the job, or a park from outside took it. */
  leaseLost(jobId: Id<"job">, cause: "taken-over" | "parked"): void;
  /** Something failed that is tried again. */
  failed(what: "claim" | "renew" | "drive" | "park" | "task" | "sweep", error: unknown): void;
};

/** Watches nothing. */
export const silentObserver: EngineObserver = {
  ended: () => {},
  parked: () => {},
  leaseLost: () => {},
  failed: () => {},
};

/** Where a test may end a node: between these two acts something is half done. */
const faultPoints = [
  "after-claim",
  "before-call",
  "after-call",
  "before-commit",
  "after-commit",
  "after-ask-commit",
  "mid-undo",
] as const;

/** One of the places where a test may end a node. */
export type FaultPoint = (typeof faultPoints)[number];

/** Comes to a fault point. In production nothing happens; a test's may never resolve, or end the process. */
export type OnFaultPoint = (point: FaultPoint, at: { readonly stepId: string }) => Promise<void> | void;
