import type { Id, ProjectPrincipal } from "@svc/core";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import type { JobEventRecord } from "@svc/db/jobs/record";
import { jobsForProject } from "@svc/db/jobs/repo";
import { findFollowed } from "./find-job.ts";
import type { AgentJobsContext } from "./parts.ts";

/** Longest that an agent's call waits for a job, seconds: less than clients wait for an answer. */
export const waitSecondsMax = 25;

/** Pause between two looks at a job while no hint comes: from the first, doubled up to the second, milliseconds. */
const pollMsMin = 25;
const pollMsMax = 500;

/** How a job is waited for. */
export type JobWait = {
  readonly jobId: Id<"job">;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** Hears of what is new in its log. */
  readonly onLogged?: ((event: JobEventRecord) => void) | undefined;
};

/**
 * The job once it has ended, or waits for what does not come within the time, or when the time is up; undefined for one that the caller
 * may not follow. Rejects with the signal's reason.
 */
export async function waitForJob(
  context: AgentJobsContext,
  principal: ProjectPrincipal,
  { jobId, waitMs, signal, onLogged }: JobWait,
): Promise<ListedJob | undefined> {
  const { clock, hints } = context;
  const untilMs = clock.now() + waitMs;
  let grown = new AbortController();
  let pauseMs = pollMsMin;
  let seq = 0;
  const unsubscribe = hints.subscribe(jobId, () => grown.abort());
  try {
    for (;;) {
      // Made before the job is read: what is committed meanwhile is not waited for.
      grown = new AbortController();
      const job = await findFollowed(context, principal, jobId);
      if (job === undefined) return undefined;
      if (onLogged !== undefined && job.lastSeq > seq) {
        const last = await lastLogged(context, job);
        if (last !== undefined) onLogged(last);
      }
      pauseMs = job.lastSeq > seq ? pollMsMin : Math.min(2 * pauseMs, pollMsMax);
      seq = job.lastSeq;
      const leftMs = untilMs - clock.now();
      if (leftMs <= 0 || isAtRest(job, untilMs)) return job;
      await clock.wait(Math.min(pauseMs, leftMs), AbortSignal.any([signal, grown.signal]));
      signal.throwIfAborted();
    }
  } finally {
    unsubscribe();
  }
}

/** Whether nothing comes of waiting for a job until then: it has ended, or waits for a person or a later time. */
function isAtRest({ finishedAt, status, park, cancelRequestedAt }: ListedJob, untilMs: number): boolean {
  if (finishedAt !== null) return true;
  // It is about to end.
  if (cancelRequestedAt !== null) return false;
  if (status === "pending_plan_approval") return true;
  if (status !== "parked" || park === null) return false;
  return park.reason !== "wait" || (park.wakeAt ?? untilMs) >= untilMs;
}

/** The newest entry of a job's log. */
export async function lastLogged(
  { db }: Pick<AgentJobsContext, "db">,
  { id, projectId, lastSeq }: ListedJob,
): Promise<JobEventRecord | undefined> {
  const [event] = await jobsForProject(db, projectId).listEvents(id, { afterSeq: lastSeq - 1, limit: 1 });
  return event;
}

/** What an entry of the log says, in a line for people: its step, what happened, and how many rows are done. */
export function loggedText({ stepId, type, payload }: Pick<JobEventRecord, "stepId" | "type" | "payload">): string {
  const what = type.replaceAll("-", " ");
  const rows = /"in":(\d+)/.exec(payload)?.[1];
  const counted = rows === undefined ? what : `${what}, ${rows} rows`;
  return stepId === "" ? counted : `${stepId}: ${counted}`;
}
