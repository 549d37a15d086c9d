import { systemClock } from "@svc/core";
import { type JobEvent, JobStatus, type SvcClient } from "@svc/sdk";
import { type Question, questionOfJob } from "../../asks/question.ts";

/** How often the jobs that a waiting job runs are looked at, milliseconds. */
const lookMs = 1_000;
/** Jobs run jobs so deep at most. */
const depthMax = 4;

/** A question of a job that another runs. */
export type ChildQuestion = { readonly id: string; readonly question: Question };

/** What watches the jobs that a job runs; `stopped` settles once its signal has aborted. */
export type ChildWatch = { event(event: JobEvent): void; readonly stopped: Promise<void> };

/**
 * Looks, while a job waits for those that it runs as skills, whether one of them asks a person: the log of the job does not tell. Every
 * question is told once.
 */
export function watchChildren(
  client: Pick<SvcClient, "jobs">,
  jobId: string,
  { signal, question }: { readonly signal: AbortSignal; question(found: ChildQuestion): void },
): ChildWatch {
  let isWaiting = false;
  const told = new Set<string>();
  const look = async () => {
    while (!signal.aborted) {
      await systemClock.wait(lookMs, signal);
      if (!isWaiting || signal.aborted) continue;
      // What cannot be read now is read the next time; the stream says what is wrong.
      const found = await findQuestion(client, jobId, signal).catch(() => undefined);
      if (found === undefined || told.has(found.question.requestId) || signal.aborted) continue;
      told.add(found.question.requestId);
      question(found);
    }
  };
  return {
    event({ type, payloadJson }) {
      if (type !== "job-status-changed") return;
      const { to, reason } = JSON.parse(payloadJson) as { to?: unknown; reason?: unknown };
      isWaiting = to === "parked" && reason === "child";
    },
    stopped: look(),
  };
}

/** A question of a job that the given one runs, however deep. */
async function findQuestion(
  client: Pick<SvcClient, "jobs">,
  parentJobId: string,
  signal: AbortSignal,
  depth = 1,
): Promise<ChildQuestion | undefined> {
  const { jobs } = await client.jobs.listJobs({ parentJobId, status: JobStatus.PARKED, pageSize: 100 }, { signal });
  for (const job of jobs) {
    const question = questionOfJob(job);
    if (question !== undefined) return { id: job.id, question };
    const inside =
      job.park?.reason === "child" && depth < depthMax
        ? await findQuestion(client, job.id, signal, depth + 1)
        : undefined;
    if (inside !== undefined) return inside;
  }
  return undefined;
}
