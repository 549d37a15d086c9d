import type { CatalogViews } from "@svc/catalog";
import type { Clock, NodeId, Sealer, ThreadPool, WorkMeter } from "@svc/core";
import type { Database, Executor } from "@svc/db/connect";
import type { ClaimedReplay } from "@svc/db/replays/repo";
import type { Restore } from "@svc/db/restores/repo";
import {
  clearDueTasks,
  decideStandingVersion,
  lockStandingPrograms,
  standingProgramsForProject,
} from "@svc/db/standing/programs";
import type { DryRunEnd, JobStarter } from "@svc/jobs";
import { createEvaluator } from "@svc/program";
import type { ToolCaller } from "@svc/tools";
import type { StandingContext, StandingFaultPoint, StandingLimits } from "./context.ts";
import { createStandingEngine, type StandingEngine } from "./claim/engine.ts";
import { type StandingObserver, silentStandingObserver } from "./observer.ts";
import { activate } from "./programs/activate.ts";
import { firstOfSource } from "./schedule/due.ts";
import { createStandingService } from "./service/service.ts";
import { createVersionCache, titleOf } from "./versions.ts";

/** The bounds that hold where nothing else is said. */
const defaultStandingLimits: StandingLimits = {
  pollMs: 1_000,
  leaseMs: 30_000,
  batchMax: 100,
  projectRunsMax: 200,
  projectRunsMargin: 4_000,
  pollPagesMax: 50,
  programsMax: 10_000,
  runRetentionMs: 30 * 86_400_000,
};

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
export type StandingParts = {
  readonly engine: StandingEngine;
  readonly standingService: ReturnType<typeof createStandingService>;
  /** Lets a version run whose rehearsal was approved, or rejects it, in the transaction that ends the rehearsal. */
  readonly settleRehearsal: (tx: Executor, ended: DryRunEnd) => Promise<void>;
};

/** Makes what starts programs by themselves on a node. The engine is not started. */
export function createStanding({
  observer = silentStandingObserver,
  limits,
  threads,
  ...options
}: StandingOptions): StandingParts {
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

/**
 * Lets a version run whose rehearsal was approved, or rejects it, in the transaction that ends the rehearsal. One that another version
 * took the place of meanwhile is left as it is.
 */
async function settleRehearsal(
  { clock, versions, meter }: StandingContext,
  tx: Executor,
  { programId, jobId, status, planApprovalId: approvalId, lastError }: DryRunEnd,
): Promise<void> {
  const nowMs = clock.now();
  const [program] = await lockStandingPrograms(tx, [programId]);
  if (program === undefined || program.deletedAt !== null || program.pendingVersion === 0) return;
  const { projectId, pendingVersion: version } = program;
  const name = { programId, projectId, version };
  const { record, ...loaded } = (await versions.get(tx, [name]))(name);
  if (record.rehearsalJobId !== jobId) return;
  if (status === "succeeded") {
    await decideStandingVersion(tx, name, { approval: "granted", approvalId, grantedVersion: version });
    const { definition } = loaded;
    const firstAt = await firstOfSource(definition.source, nowMs, meter.begin({ projectId }));
    await activate(tx, program, { version, title: titleOf(loaded), definition, firstAt, nowMs });
    return;
  }
  await decideStandingVersion(tx, name, { approval: "rejected", approvalId });
  const detail = status === "failed" ? `: its simulation failed: ${lastError}` : "";
  await standingProgramsForProject(tx, projectId).change(programId, {
    pendingVersion: 0,
    updatedAt: nowMs,
    ...(program.state === "pending" && {
      state: "paused",
      pauseReason: "approval",
      pauseDetail: `version ${version} was not approved${detail}`.slice(0, 1_000),
    }),
  });
  await clearDueTasks(tx, programId, program.state === "pending" ? ["fire"] : []);
}
