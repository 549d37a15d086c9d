import type { Id } from "@svc/core";
import {
  type ClaimedJobTask,
  type Executor,
  endJobTask,
  type JobRecord,
  type JobWithSteps,
  leaseRunTask,
  loadJob,
  loadJobSteps,
} from "@svc/db";
import { type Work, workOf } from "../state/apply.ts";
import { openState } from "../state/open.ts";
import { resumeFromAsk } from "./answer.ts";
import type { EngineContext } from "./context.ts";
import { type Follower, follow, type Interrupts } from "./loop.ts";
import type { Port } from "./port.ts";
import { jobSeals } from "./seals.ts";
import { createStorePort } from "./store-port.ts";

/** A job read under a lease, and what drives it. */
export type OpenJob = { readonly work: Work; readonly port: Port };

/** Reads a job for the driver that holds its run task; undefined when there is nothing to drive any more. */
export async function openJob(context: EngineContext, task: ClaimedJobTask): Promise<OpenJob | undefined> {
  const found = await context.jobs.add(task.jobId);
  if (found === undefined || found.job.finishedAt !== null) {
    await endJobTask(context.db, task);
    return undefined;
  }
  return open(context, context.db, found, task.leaseToken);
}

/** Opens a job that its submission has just stored, leased to this node: nobody else has ever driven it. */
export function openNewJob(context: EngineContext, job: JobRecord): Promise<OpenJob> {
  return open({ ...context, call: context.callFirst }, context.db, { job, steps: [] }, 1);
}

/**
 * Moves a job as the answer to its ask says, in the transaction that settles it: as far as it goes without a call. The job's row is
 * locked by then.
 */
export async function settleJob(context: EngineContext, tx: Executor, jobId: Id<"job">): Promise<void> {
  const job = await loadJob(tx, jobId, { lock: true });
  if (job === undefined || (job.status !== "parked" && job.status !== "pending_plan_approval")) return;
  const { work, follower } = await takeJob(context, tx, job);
  const { port, startedMs } = follower;
  const settled = await follow(work, await resumeFromAsk(work.state, port), follower);
  if (settled !== undefined) await port.commit(settled, { task: { dueAtMs: startedMs } });
}

/**
 * Takes a job from whoever drives it, for a change that is committed in the same transaction. The job's row is locked by then. What
 * an earlier driver still writes is refused by the lease's token.
 */
export async function takeJob(
  context: EngineContext,
  tx: Executor,
  job: JobRecord,
): Promise<{ readonly work: Work; readonly follower: Follower }> {
  const { clock, limits, nodeId: owner } = context;
  const { id: jobId, projectId } = job;
  const nowMs = clock.now();
  const lease = { jobId, projectId, owner, nowMs, leaseUntilMs: nowMs + limits.leaseMs };
  const steps = await loadJobSteps(tx, jobId);
  const { work, port } = await open(context, tx, { job, steps }, await leaseRunTask(tx, lease));
  return { work, follower: { port, interrupts: uninterrupted, startedMs: nowMs } };
}

const uninterrupted: Interrupts = { isStopping: false, isCancelSeen: false, hasOthersWaiting: () => false };

async function open(
  context: EngineContext,
  db: Executor,
  { job, steps }: JobWithSteps,
  leaseToken: number,
): Promise<OpenJob> {
  const { id: jobId, projectId, programDigest } = job;
  const loaded = await context.programs.get(db, projectId, programDigest);
  const seals = jobSeals(context.sealer, projectId, jobId);
  const state = openState(job, steps, { loaded, ...seals });
  const lease = { jobId, owner: context.nodeId, leaseToken };
  const metered = context.meter.begin({ projectId, jobId });
  return { work: workOf(state), port: createStorePort({ context, lease, seals, db }, metered) };
}
