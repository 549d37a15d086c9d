import type { AddressGuard, Clock, Id, NodeId, Sealer } from "@svc/core";
import type { Database, Executor } from "@svc/db/connect";
import type { Dispatcher } from "@svc/delivery";
import type { ToolCaller } from "@svc/tools";
import type { AskObserver } from "./observer.ts";

/** What asks work with. */
export type AskContext = {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly guard: AddressGuard;
  readonly nodeId: NodeId;
  readonly caller: ToolCaller;
  readonly dispatcher: Pick<Dispatcher, "wake" | "expire">;
  /**
   * Moves a job as its settled ask says, in the transaction that settled it, under the job's lock: the engine's `settled`. Without
   * it the run task is made due, and whoever claims that moves the job.
   */
  readonly moveJob?: ((tx: Executor, jobId: Id<"job">) => Promise<void>) | undefined;
  /** The address of the console, with a slash at its end; undefined where none is served. */
  readonly consoleUrl?: (() => string) | undefined;
  readonly observer?: AskObserver;
  /** Told after a commit that tasks are due: the engine's `wake`. */
  readonly onDue: () => void;
  /** Told after a commit that a job's log may have grown. */
  readonly onLogged: (jobId: Id<"job">) => void;
};
