import { systemClock } from "@svc/core";
import { type JobEvent, JobStatus, type SvcClient } from "@svc/sdk";
import { type Question, questionOfJob } from "../../asks/question.ts";

/** Interval at which the children of a waiting job are read, in milliseconds. */
const lookMs = 1_000;
/** Deepest nesting of child jobs. */
const depthMax = 4;

/** A question of a child job. */
export type ChildQuestion = { readonly id: string; readonly question: Question };

/** Watches the children of a job. `stopped` settles after its signal has aborted. */
export type ChildWatch = { event(event: JobEvent): void; readonly stopped: Promise<void> };

/**
 * While a job waits for its child jobs, checks if one of them asks a person, because the job's own log does not report this. Each question
 * is shown once.
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
      // A failed read is repeated later. The stream reports the error.
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

/** Returns a question of a child of the given job, at any depth. */
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
