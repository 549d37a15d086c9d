import { systemClock } from "@svc/core";
import { type JobEvent, JobStatus, type SvcClient } from "@svc/sdk";
import { type Question, questionOfJob } from "../../asks/question.ts";

/** Interval at which the command reads the child jobs of a waiting job, in milliseconds. */
const lookMs = 1_000;
/** Maximum nesting of child jobs (a child job of a child job, and so on) that the command reads. */
const depthMax = 4;

/** A question of a child job. `id`: the id of the child job. */
export type ChildQuestion = { readonly id: string; readonly question: Question };

/**
 * The watch of a job's child jobs. `event`: receives each entry of the job's log. `stopped`: resolves when the watch has stopped, after its
 * signal has aborted.
 */
export type ChildWatch = { event(event: JobEvent): void; readonly stopped: Promise<void> };

/**
 * Watches a job's child jobs while the job waits for them, and shows each question of a child job once. The log of the job itself does not
 * contain these questions.
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
      // If this read fails, nothing is printed: the read is repeated later, and the stream of the job's log reports the error.
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

/** Returns a question of a child job at any depth below the given job. Returns undefined if no child job asks a question. */
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
