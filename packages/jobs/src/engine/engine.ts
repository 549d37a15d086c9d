import { type Clock, createBatcher, type Id, type NodeId, type Sealer } from "@svc/core";
import { type Database, type Executor, leaseRunTask, loadJob, loadJobSteps, loadJobsWithSteps } from "@svc/db";
import type { ToolCaller } from "@svc/tools";
import type { AskPort } from "../asks/types.ts";
import { canonicalHash } from "../program/canonical.ts";
import { defaultEngineLimits, type EngineContext, type EngineLimits } from "./context.ts";
import { resumeFromAsk } from "./decide.ts";
import type { ReceiptDocument } from "./documents.ts";
import type { OnFaultPoint } from "./fault-points.ts";
import { type EngineObserver, silentObserver } from "./observer.ts";
import type { ProgramCache } from "./programs.ts";
import { Run } from "./run.ts";
import { type TaskHandlers, Worker } from "./worker.ts";

/** What an engine is made of. */
export type JobEngineOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly caller: ToolCaller;
  readonly nodeId: NodeId;
  readonly asks: AskPort;
  readonly programs: ProgramCache;
  /** Who does the tasks of asks: hops, reaching contacts, publishing. */
  readonly handlers: TaskHandlers;
  readonly observer?: EngineObserver;
  /** Bounds that differ from the defaults. */
  readonly limits?: Partial<EngineLimits>;
  /** The receiptHash of a receipt; by default that of the document as it is stored. */
  readonly hashReceipt?: (receipt: ReceiptDocument) => string;
  /** For tests: comes to a fault point. */
  readonly onFaultPoint?: OnFaultPoint;
};

/** The job engine of one node. */
export type JobEngine = {
  /** Begins to claim due tasks. */
  start(): void;
  /** Looks for due tasks now: told after a commit that made some. */
  wake(): void;
  /** Tells a driver on this node that its job is to be cancelled, as the store says already. */
  cancel(jobId: Id<"job">): void;
  /**
   * Moves a job as the answer to its ask says, in the transaction that settles it. The job's row is locked by `lockJob` before the
   * ask is. Makes no call: what remains to be done is due at once. Call `wake` after the commit.
   */
  settled(tx: Executor, jobId: Id<"job">): Promise<void>;
  /** Claims nothing more, lets calls in flight end for at most `graceMs`, and gives the jobs back. */
  drain(graceMs: number): Promise<void>;
  stats(): { readonly held: number };
};

/** Makes the job engine of a node. */
export function createJobEngine(options: JobEngineOptions): JobEngine {
  const { observer = silentObserver, limits, hashReceipt = canonicalHash, onFaultPoint = () => {} } = options;
  const { db } = options;
  const context: EngineContext = {
    ...options,
    jobs: createBatcher({ run: (ids) => loadJobsWithSteps(db, ids), sizeMax: 50, concurrency: 4, besideMin: 8 }),
    observer,
    hashReceipt,
    onFaultPoint,
    limits: { ...defaultEngineLimits, ...limits },
    onDue: () => worker.wake(),
  };
  const worker = new Worker(context, options.handlers);
  return {
    start: () => worker.start(),
    wake: () => worker.wake(),
    cancel: (jobId) => worker.cancel(jobId),
    settled: (tx, jobId) => moveSettled(context, tx, jobId),
    drain: (graceMs) => worker.drain(graceMs),
    stats: () => worker.stats(),
  };
}

async function moveSettled(context: EngineContext, tx: Executor, jobId: Id<"job">): Promise<void> {
  const { clock, limits, nodeId: owner } = context;
  const job = await loadJob(tx, jobId, { lock: true });
  if (job === undefined || (job.status !== "parked" && job.status !== "pending_plan_approval")) return;
  const steps = await loadJobSteps(tx, jobId);
  const loaded = await context.programs.get(tx, job.projectId, job.programDigest);
  const nowMs = clock.now();
  const lease = { jobId, projectId: job.projectId, owner, nowMs, leaseUntilMs: nowMs + limits.leaseMs };
  const run = new Run(context, await leaseRunTask(tx, lease), { job, steps, loaded, db: tx });
  if ((await resumeFromAsk(run)) === "on") await run.commit({ dueAtMs: nowMs });
}
