import type { ThreadPool } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import {
  clearDueTasks,
  decideStandingVersion,
  lockStandingPrograms,
  standingProgramsForProject,
} from "@svc/db/standing/programs";
import type { DryRunEnd } from "@svc/jobs";
import { createEvaluator } from "@svc/program";
import { createStandingEngine, type StandingEngine } from "./claim/engine.ts";
import type { StandingContext, StandingLimits } from "./context.ts";
import { type StandingObserver, silentStandingObserver } from "./observer.ts";
import { activate } from "./programs/activate.ts";
import { firstOfSource } from "./schedule/due.ts";
import { createStandingService } from "./service/service.ts";
import { createVersionCache, titleOf } from "./versions.ts";

/** Default limits of standing programs (programs that start jobs on a schedule or event). */
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

/** Dependencies and options of the engine and the API service for standing programs (schedules) on one node. */
export type StandingOptions = Omit<StandingContext, "evaluator" | "versions" | "observer" | "limits" | "tzVersion"> & {
  /** Threads that evaluate expensive expressions. Their entry module is `evaluationThread` of packages/program. */
  readonly threads: ThreadPool;
  readonly observer?: StandingObserver | undefined;
  /** Limits that replace the default limits of schedules. */
  readonly limits?: Partial<StandingLimits> | undefined;
};

/** Engine and service of a node's standing programs (which start jobs on a schedule or event). */
export type StandingParts = {
  readonly engine: StandingEngine;
  readonly standingService: ReturnType<typeof createStandingService>;
  /**
   * Ends the approval of a schedule's version. Activates the version if its approval dry run (a simulation run for the person who approves)
   * succeeded; otherwise rejects it. Runs in the transaction that ends the dry run.
   */
  readonly settleRehearsal: (tx: Executor, ended: DryRunEnd) => Promise<void>;
};

/** Creates the engine and the API service that run the schedules of a node. The engine is not started. */
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
 * Activates the version of a schedule whose approval dry run (a simulation run for the person who approves) ended, or rejects it. Runs in
 * the transaction that ends the dry run. Changes nothing if a newer version has replaced this version in the meantime.
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
