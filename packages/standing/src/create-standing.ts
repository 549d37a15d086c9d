import type { CatalogViews } from "@svc/catalog";
import type { Clock, NodeId, Sealer, ThreadPool, WorkMeter } from "@svc/core";
import type { Database, Executor } from "@svc/db/connect";
import type { ClaimedReplay } from "@svc/db/replays/task";
import type { Restore } from "@svc/db/restores/repo";
import type { EndedRehearsal, JobStarter } from "@svc/jobs";
import { createEvaluator } from "@svc/program";
import type { ToolCaller } from "@svc/tools";
import {
  defaultStandingLimits,
  type StandingContext,
  type StandingFaultPoint,
  type StandingLimits,
} from "./engine/context.ts";
import { createStandingEngine, type StandingEngine } from "./engine/engine.ts";
import { type StandingObserver, silentStandingObserver } from "./observer.ts";
import { settleRehearsal } from "./programs/rehearse.ts";
import { createStandingService } from "./service/service.ts";
import { createVersionCache } from "./versions.ts";

/** What the standing programs of a node are made of. */
export type StandingOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly nodeId: NodeId;
  readonly starter: JobStarter;
  /** Calls tools: polls read by it. */
  readonly caller: ToolCaller;
  readonly views: CatalogViews;
  /** Meters what expressions take, by project. */
  readonly meter: WorkMeter;
  /** Threads whose entry is `evaluationThread` of the program's package: what is expensive to evaluate runs there. */
  readonly threads: ThreadPool;
  readonly observer?: StandingObserver | undefined;
  /** Bounds that differ from the defaults. */
  readonly limits?: Partial<StandingLimits> | undefined;
  /** As of the engine: see `StandingContext`. */
  readonly restored?: (() => Restore | undefined) | undefined;
  /** What moves paced replays on, whose tasks are claimed with those of standing programs. */
  readonly takeReplays: (tasks: readonly ClaimedReplay[]) => void;
  /** Has the delivery engine of this node look for what was queued. */
  readonly wakeDeliveries: () => void;
  /** For tests: comes to a fault point of the engine. */
  readonly onFaultPoint?: ((point: StandingFaultPoint) => Promise<void> | void) | undefined;
};

/** What starts programs by themselves, and serves them, on a node. */
export type Standing = {
  readonly engine: StandingEngine;
  readonly standingService: ReturnType<typeof createStandingService>;
  /** Lets a version run whose rehearsal was approved, or rejects it, in the transaction that ends the rehearsal. */
  readonly settleRehearsal: (tx: Executor, ended: EndedRehearsal) => Promise<void>;
};

/** Makes what starts programs by themselves on a node. The engine is not started. */
export function createStanding({
  observer = silentStandingObserver,
  limits,
  threads,
  ...options
}: StandingOptions): Standing {
  const context: StandingContext = {
    ...options,
    evaluator: createEvaluator(threads),
    observer,
    tzVersion: process.versions["tz"] ?? "",
    versions: createVersionCache(options.sealer, options.meter),
    limits: { ...defaultStandingLimits, ...limits },
  };
  const engine = createStandingEngine(context);
  return {
    engine,
    standingService: createStandingService({ ...context, engine }),
    settleRehearsal: (tx, ended) => settleRehearsal(context, tx, ended),
  };
}
