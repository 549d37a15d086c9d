import { type Executor, withTransaction } from "@svc/db/connect";
import { leaseIdleRunTask } from "@svc/db/job-tasks/lease";
import { putJobTasks } from "@svc/db/job-tasks/queue";
import { setJobPause } from "@svc/db/jobs/hold";
import { loadJob } from "@svc/db/jobs/load";
import { appendJobEvents } from "@svc/db/jobs/log";
import type { JobRecord } from "@svc/db/jobs/record";
import type { Change } from "../../state/change.ts";
import type { JobState } from "../../state/job.ts";
import { isParkable, type JobStatus } from "../../state/statuses.ts";
import type { EngineContext } from "../context.ts";
import { follow } from "../run/follow.ts";
import { leaseOf, takeJob } from "../store/open.ts";
import type { JobOfProject } from "./force.ts";
import { pauseNow, pauseWaiting, resumeNow } from "./pause.ts";

/** What came of pausing or resuming a job: done, no such job of the project, or why it stands where that cannot be done. */
export type Paused =
  | { readonly outcome: "done" | "missing" }
  | { readonly outcome: "ended" | "not_paused"; readonly status: JobStatus };

type Asked = { readonly context: EngineContext; readonly tx: Executor; readonly nowMs: number };

/**
 * Asks that a job be paused. One that nobody drives is parked at once, one that is driven between two acts of its driver; one that
 * waits keeps its park, and is parked when that ends. One that is to be paused already stays as it is.
 */
export function pauseJob(context: EngineContext, job: JobOfProject, chain: readonly string[]): Promise<Paused> {
  return withJob(context, job, async (found, asked) => {
    if (found.finishedAt !== null) return { outcome: "ended", status: found.status };
    if (found.pausedAt === null) await pause(found, chain, asked);
    return { outcome: "done" };
  });
}

/** Ends the pause of a job: it goes on as it stood, its deadline's clock too. */
export function resumeJob(context: EngineContext, job: JobOfProject, chain: readonly string[]): Promise<Paused> {
  return withJob(context, job, async (found, asked) => {
    if (found.finishedAt !== null) return { outcome: "ended", status: found.status };
    if (found.pausedAt === null) return { outcome: "not_paused", status: found.status };
    await setJobPause(asked.tx, found.id, undefined);
    await log(asked, found, "job-resumed", chain);
    // A person is waited for without a clock, and a driver that has not come to the pause finds that it is over.
    if (found.status === "parked" && found.park?.judgment === undefined) {
      await change(asked, (state, nowMs) => resumeNow(state, chain, nowMs), found);
    }
    return { outcome: "done" };
  });
}

function withJob(
  context: EngineContext,
  { jobId, projectId }: JobOfProject,
  run: (job: JobRecord, asked: Asked) => Promise<Paused>,
): Promise<Paused> {
  return withTransaction(context.db, async (tx) => {
    const job = await loadJob(tx, jobId, { lock: true });
    if (job === undefined || job.projectId !== projectId) return { outcome: "missing" };
    return run(job, { context, tx, nowMs: context.clock.now() });
  });
}

async function pause(job: JobRecord, chain: readonly string[], asked: Asked): Promise<void> {
  const { tx, context, nowMs } = asked;
  const { id: jobId, projectId, status, park } = job;
  const request = { atMs: nowMs, chain };
  await setJobPause(tx, jobId, request);
  await log(asked, job, "job-paused", chain);
  if (isParkable(status)) {
    const token = await leaseIdleRunTask(tx, leaseOf(context, job, nowMs));
    if (token !== undefined) return change(asked, pauseNow, job, token);
    // It may wait for the retry of a call.
    return putJobTasks(tx, [{ jobId, projectId, kind: "run", subject: "", dueAt: nowMs }]);
  }
  if (status === "parked" && park?.judgment === undefined)
    return change(asked, (state) => pauseWaiting(state, request), job);
}

async function change(
  { context, tx }: Asked,
  changeOf: (state: JobState, nowMs: number) => Change,
  { id }: JobRecord,
  leaseToken?: number,
): Promise<void> {
  const job = await loadJob(tx, id, { lock: true });
  if (job === undefined) throw new Error(`${id}, whose row is locked, is gone`);
  const { work, follower } = await takeJob(context, tx, job, leaseToken);
  await follow(work, changeOf(work.state, follower.startedMs), follower);
}

async function log(
  { tx, nowMs }: Asked,
  { id, status }: JobRecord,
  type: string,
  chain: readonly string[],
): Promise<void> {
  const event = { type, stepId: "", payload: JSON.stringify({ status }), principalChain: [...chain] };
  await appendJobEvents(tx, id, [event], nowMs);
}
