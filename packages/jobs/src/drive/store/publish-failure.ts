import { isoTime, parseId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import {
  type OperationalEvent,
  type OperationalFilters,
  occurrenceOf,
  publishOperationalEvents,
  startsOnOperationalEvents,
} from "@svc/db/events/operational";
import type { JobState } from "../../state/job.ts";

/** A job that failed or expired. svc publishes an event (`svc.job_failed`) about it. */
export type FailedJob = JobState & { readonly status: "failed" | "expired"; readonly finishedAt: number };

/**
 * Stores the operational event about a failed job, in the transaction that ends the job. Stores nothing if operational events led to the
 * job.
 */
export async function publishFailure(
  tx: Executor,
  job: FailedJob,
  now: { readonly filters: OperationalFilters; readonly nowMs: number },
): Promise<void> {
  const { id: jobId, projectId, status, binding, standingProgramId, finishedAt, lastError } = job;
  const { title } = job.loaded.program;
  const payload = { jobId, status, title, standingProgramId, endedAt: isoTime(finishedAt), lastError };
  const place = { projectId, entityId: binding?.entityId ?? "", occurrence: occurrenceOf(jobId) };
  const event: OperationalEvent = { name: "job_failed", ...place, payload };
  const eventsOf = async () => ((await startsOnOperationalEvents(tx, schedulesOf(job))) ? [] : [event]);
  await publishOperationalEvents(tx, [job], eventsOf, now);
}

/** Returns the ids of the schedules that the job's chain of causes names, because one of their runs started the job, directly or not. */
function schedulesOf({ principalChain }: JobState) {
  return principalChain.flatMap((name) =>
    name.startsWith("standing:") ? (parseId("stp", name.slice("standing:".length)) ?? []) : [],
  );
}
