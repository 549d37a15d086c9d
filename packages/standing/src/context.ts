import type { CatalogViews } from "@svc/catalog";
import type { Clock, NodeId, Sealer, WorkMeter } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { OperationalFilters } from "@svc/db/events/operational";
import type { ClaimedReplay } from "@svc/db/replays/repo";
import type { Restore } from "@svc/db/restores/repo";
import type { JobStarter } from "@svc/jobs";
import type { Evaluator } from "@svc/program";
import type { ToolCaller } from "@svc/tools";
import type { StandingObserver } from "./observer.ts";
import type { VersionCache } from "./versions.ts";

/** Limits of the engine of standing programs (which start jobs on a schedule or event). Times are in milliseconds. */
export type StandingLimits = {
  /** Maximum pause in milliseconds until a node again looks for due tasks and events. Default 1 s. */
  readonly pollMs: number;
  /**
   * Duration of a lease (the time in which only one node works on a task), in milliseconds. If a node fails, its tasks are delayed by up to
   * this time. Default 30 s.
   */
  readonly leaseMs: number;
  /** Maximum number of due tasks about which one transaction decides. The same number limits the events of one transaction. Default 100. */
  readonly batchMax: number;
  /**
   * Maximum unfinished runs of a project (SVC_STANDING_RUNS). Runs whose job is parked (waits for a person or a release) do not count.
   * Default 200.
   */
  readonly projectRunsMax: number;
  /**
   * If a project is at least this many runs below its maximum, several nodes may start its runs at the same time. Closer to the maximum,
   * one node at a time starts them, because together they could exceed it. Default 4,000, which is 200 runs on each of 20 nodes.
   */
  readonly projectRunsMargin: number;
  /**
   * Maximum number of pages of a tool's list that one poll reads. If the list has more pages, the next poll continues after the last page
   * that was read. Default 50.
   */
  readonly pollPagesMax: number;
  /** Maximum number of schedules in a project (SVC_STANDING_MAX). Default 10,000. */
  readonly programsMax: number;
  /** Milliseconds for which svc keeps a run after its end (SVC_STANDING_RUN_RETENTION). Default 30 days. */
  readonly runRetentionMs: number;
};

/** Points at which tests stop the engine or end the process. */
export type StandingFaultPoint = "rows-read" | "arrivals-claimed" | "before-decided" | "after-decided";

/** Dependencies of the code that decides which runs of schedules are started. */
export type StandingContext = {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly nodeId: NodeId;
  readonly starter: JobStarter;
  /** Makes the tool calls with which polls read lists. */
  readonly caller: ToolCaller;
  /** Applies the filters of subscriptions to the operational events about schedules. */
  readonly filters: OperationalFilters;
  readonly views: CatalogViews;
  readonly meter: WorkMeter;
  readonly evaluator: Evaluator;
  readonly versions: VersionCache;
  readonly observer: StandingObserver;
  /** Returns the last restore of the database from a backup, or undefined. Called each time a run starts. */
  readonly restored?: (() => Restore | undefined) | undefined;
  readonly limits: StandingLimits;
  /** Version of this node's time zone data, such as `2026a`. */
  readonly tzVersion: string;
  /**
   * Passes claimed tasks of throttled replays to the replay engine of this node. One SQL statement claims both these tasks and the tasks of
   * schedules.
   */
  readonly takeReplays: (tasks: readonly ClaimedReplay[]) => void;
  /** Makes the delivery engine of this node claim at once, because operational events are queued. */
  readonly wakeDeliveries: () => void;
  /** For tests: called at each fault point, where a test may end the node. */
  readonly onFaultPoint?: ((point: StandingFaultPoint) => Promise<void> | void) | undefined;
};
