import type { Id, ProjectId } from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import type { ParkDocument } from "@svc/db/documents/jobs";
import { clearJobLoopHolds, countJobLoopHold } from "@svc/db/jobs/hold";
import { loadJob } from "@svc/db/jobs/load";
import type { JobRecord } from "@svc/db/jobs/record";
import type { Change } from "../../state/change.ts";
import type { JobState } from "../../state/job.ts";
import { isParkable, type JobStatus } from "../../state/statuses.ts";
import type { EngineContext } from "../context.ts";
import { follow } from "../run/follow.ts";
import { takeJob } from "../store/open.ts";
import { afterLoopHold, type Hold, hold, isHoldReason, release } from "./park.ts";

/** Identifies a job by its id and by the project that it must belong to. */
export type JobOfProject = { readonly jobId: Id<"job">; readonly projectId: ProjectId };

/** Result of parking a job by force, or of releasing it: done, the project has no such job, or the job's state does not allow it. */
export type ForceResult =
  | { readonly outcome: "done" | "missing" }
  | {
      readonly outcome: "refused";
      readonly status: JobStatus;
      /** Reason why the job is parked (stopped or waiting). Undefined if the job is not parked. */
      readonly parkReason: ParkDocument["reason"] | undefined;
    };

/**
 * Suspends a job that any node is running, even if that node no longer responds. Takes over the job's lease (the time-limited right to run
 * it), so the database refuses later writes of that node for the job. The result of a call that is in progress is still recorded.
 */
export function parkJob(context: EngineContext, { jobId, projectId }: JobOfProject, how: Hold): Promise<ForceResult> {
  return withTransaction(context.db, async (tx) => {
    const job = await loadJob(tx, jobId, { lock: true });
    if (job === undefined || job.projectId !== projectId) return { outcome: "missing" };
    return parkLocked(context, tx, job, how);
  });
}

/**
 * Releases a job that svc or an administrator parked: the job gets back the status that it had before. The job's counts of lost leases (a
 * node's time-limited rights to run it) and of blocked event loops start again at zero.
 */
export function releaseJob(
  context: EngineContext,
  { jobId, projectId }: JobOfProject,
  chain: readonly string[],
): Promise<ForceResult> {
  return withTransaction(context.db, async (tx) => {
    const job = await loadJob(tx, jobId, { lock: true });
    if (job === undefined || job.projectId !== projectId) return { outcome: "missing" };
    if (job.park === null || !isHoldReason(job.park.reason)) return refusedFor(job);
    await clearJobLoopHolds(tx, jobId);
    return force(context, tx, job, (state, nowMs) => release(state, { chain, reason: "released" }, nowMs));
  });
}

/**
 * Counts that a job has blocked its node's event loop. If this has happened too often, parks the job (stores it as waiting, with no node
 * working on it) and returns true. Otherwise returns false.
 */
export function countLoopHold(context: EngineContext, jobId: Id<"job">, ms: number): Promise<boolean> {
  return withTransaction(context.db, async (tx) => {
    const holds = await countJobLoopHold(tx, jobId);
    if (holds === undefined || holds < context.limits.loopHoldsMax) return false;
    const job = await loadJob(tx, jobId, { lock: true });
    if (job === undefined) return false;
    return (await parkLocked(context, tx, job, afterLoopHold(holds, ms))).outcome === "done";
  });
}

async function parkLocked(context: EngineContext, tx: Executor, job: JobRecord, how: Hold): Promise<ForceResult> {
  if (!isParkable(job.status)) return refusedFor(job);
  return force(context, tx, job, (state, nowMs) => hold(state, how, nowMs));
}

async function force(
  context: EngineContext,
  tx: Executor,
  job: JobRecord,
  change: (state: JobState, nowMs: number) => Change,
): Promise<ForceResult> {
  const { work, follower } = await takeJob(context, tx, job);
  await follow(work, change(work.state, follower.startedMs), follower);
  return { outcome: "done" };
}

function refusedFor({ status, park }: JobRecord): ForceResult {
  return { outcome: "refused", status, parkReason: park?.reason };
}
