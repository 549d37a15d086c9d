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

/** Result of pausing or resuming a job: done, the project has no such job, or the job's state prevents it. */
export type PauseResult =
  | { readonly outcome: "done" | "missing" }
  | { readonly outcome: "ended" | "not_paused"; readonly status: JobStatus };

type PauseContext = { readonly context: EngineContext; readonly tx: Executor; readonly nowMs: number };

/**
 * Requests a pause of a job. A running job stops before its next step action (unit of a step's work). A job that no node is running is
 * stopped at once. A job that waits for a person or a time keeps waiting, and is paused when this wait ends. A repeated request changes
 * nothing.
 */
export function pauseJob(context: EngineContext, job: JobOfProject, chain: readonly string[]): Promise<PauseResult> {
  return withJob(context, job, async (found, asked) => {
    if (found.finishedAt !== null) return { outcome: "ended", status: found.status };
    if (found.pausedAt === null) await pause(found, chain, asked);
    return { outcome: "done" };
  });
}

/**
 * Ends the pause of a job. The job continues in the state that it had before. The time until its deadline, which stood still during the
 * pause, passes again.
 */
export function resumeJob(context: EngineContext, job: JobOfProject, chain: readonly string[]): Promise<PauseResult> {
  return withJob(context, job, async (found, asked) => {
    if (found.finishedAt !== null) return { outcome: "ended", status: found.status };
    if (found.pausedAt === null) return { outcome: "not_paused", status: found.status };
    await setJobPause(asked.tx, found.id, undefined);
    await log(asked, found, "job-resumed", chain);
    // The change below resumes a paused job. It is not needed in two cases. If the job waits for a person, its deadline is stopped anyway.
    // If the driver has not paused the job yet, the driver itself notices that the request was withdrawn.
    if (found.status === "parked" && found.park?.judgment === undefined) {
      await change(asked, (state, nowMs) => resumeNow(state, chain, nowMs), found);
    }
    return { outcome: "done" };
  });
}

function withJob(
  context: EngineContext,
  { jobId, projectId }: JobOfProject,
  run: (job: JobRecord, asked: PauseContext) => Promise<PauseResult>,
): Promise<PauseResult> {
  return withTransaction(context.db, async (tx) => {
    const job = await loadJob(tx, jobId, { lock: true });
    if (job === undefined || job.projectId !== projectId) return { outcome: "missing" };
    return run(job, { context, tx, nowMs: context.clock.now() });
  });
}

async function pause(job: JobRecord, chain: readonly string[], asked: PauseContext): Promise<void> {
  const { tx, context, nowMs } = asked;
  const { id: jobId, projectId, status, park } = job;
  const request = { atMs: nowMs, chain };
  await setJobPause(tx, jobId, request);
  await log(asked, job, "job-paused", chain);
  if (isParkable(status)) {
    const token = await leaseIdleRunTask(tx, leaseOf(context, job, nowMs));
    if (token !== undefined) return change(asked, pauseNow, job, token);
    // A driver runs the job, or the job waits for the retry of a call. The task becomes due now, so that the pause takes effect soon.
    return putJobTasks(tx, [{ jobId, projectId, kind: "run", subject: "", dueAt: nowMs }]);
  }
  if (status === "parked" && park?.judgment === undefined)
    return change(asked, (state) => pauseWaiting(state, request), job);
}

async function change(
  { context, tx }: PauseContext,
  changeOf: (state: JobState, nowMs: number) => Change,
  { id }: JobRecord,
  leaseToken?: number,
): Promise<void> {
  const job = await loadJob(tx, id, { lock: true });
  if (job === undefined) throw new Error(`${id}, whose row is locked, does not exist`);
  const { work, follower } = await takeJob(context, tx, job, leaseToken);
  await follow(work, changeOf(work.state, follower.startedMs), follower);
}

async function log(
  { tx, nowMs }: PauseContext,
  { id, status }: JobRecord,
  type: string,
  chain: readonly string[],
): Promise<void> {
  const event = { type, stepId: "", payload: JSON.stringify({ status }), principalChain: [...chain] };
  await appendJobEvents(tx, id, [event], nowMs);
}
