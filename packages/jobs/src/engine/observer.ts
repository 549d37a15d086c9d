import type { Id } from "@svc/core";

/** Who watches the engine; packages/server turns it into log lines and metrics. */
export type EngineObserver = {
  /** A job's status changed; committed. */
  moved(jobId: Id<"job">, from: string, to: string): void;
  /** A lease was lost under a driver: another node goes on with the job. */
  leaseLost(jobId: Id<"job">): void;
  /** Something failed that is tried again. */
  failed(what: "claim" | "renew" | "drive" | "task" | "sweep", error: unknown): void;
};

/** Watches nothing. */
export const silentObserver: EngineObserver = { moved: () => {}, leaseLost: () => {}, failed: () => {} };
