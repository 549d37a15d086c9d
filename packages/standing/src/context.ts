import type { CatalogViews } from "@svc/catalog";
import type { Clock, NodeId, Sealer, WorkMeter } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { ClaimedReplay } from "@svc/db/replays/repo";
import type { Restore } from "@svc/db/restores/repo";
import type { JobStarter } from "@svc/jobs";
import type { Evaluator } from "@svc/program";
import type { ToolCaller } from "@svc/tools";
import type { StandingObserver } from "./observer.ts";
import type { VersionCache } from "./versions.ts";

/** Bounds of the engine; times in milliseconds. */
export type StandingLimits = {
  /** Longest pause between two looks for what is due. Default 1 s. */
  readonly pollMs: number;
  /** A lease lasts this long; a node that dies holds up what it had claimed for so long. Default 30 s. */
  readonly leaseMs: number;
  /** Tasks, and events, that are decided in one transaction. Default 100. */
  readonly batchMax: number;
  /** Runs of a project under way at once, parked ones apart (SVC_STANDING_RUNS). Default 200. */
  readonly projectRunsMax: number;
  /** Where a project is as far from that, nodes start its runs beside each other. Default 4,000: 200 of each of 20 nodes. */
  readonly projectRunsMargin: number;
  /** Pages that a poll reads; the next one goes on. Default 50. */
  readonly pollPagesMax: number;
  /** Standing programs of a project (SVC_STANDING_MAX). Default 10,000. */
  readonly programsMax: number;
  /** How long a run stays after its end (SVC_STANDING_RUN_RETENTION). Default 30 days. */
  readonly runRetentionMs: number;
};

/** Where tests stop the engine or end the process. */
export type StandingFaultPoint = "rows-read" | "arrivals-claimed" | "before-decided" | "after-decided";

/** What deciding about occurrences works with. */
export type StandingContext = {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly nodeId: NodeId;
  readonly starter: JobStarter;
  /** Calls tools: polls read by it. */
  readonly caller: ToolCaller;
  readonly views: CatalogViews;
  readonly meter: WorkMeter;
  readonly evaluator: Evaluator;
  readonly versions: VersionCache;
  readonly observer: StandingObserver;
  /** The last restore of the store from a backup; nothing where there was none. Asked at each start. */
  readonly restored?: (() => Restore | undefined) | undefined;
  readonly limits: StandingLimits;
  /** Which time zone data this node has, such as `2026a`. */
  readonly tzVersion: string;
  /** Takes over the tasks of paced replays that were claimed with the others: one look a second finds both. */
  readonly takeReplays: (tasks: readonly ClaimedReplay[]) => void;
  /** Has the delivery engine of this node look for what was queued: notices were. */
  readonly wakeDeliveries: () => void;
  /** For tests: comes to a fault point. */
  readonly onFaultPoint?: ((point: StandingFaultPoint) => Promise<void> | void) | undefined;
};
