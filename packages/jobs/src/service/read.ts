import type { Id, ProjectId } from "@svc/core";
import { asksForProject, type Executor, jobsForProject, type ListedJob } from "@svc/db";
import type { Job } from "@svc/gen/jobs";
import { jobNotFound } from "../asks/errors.ts";
import { toJob } from "../convert/jobs.ts";
import type { ParkDocument } from "../engine/documents.ts";

/** Jobs of a project as callers read them, in the order given. */
export async function toJobs(db: Executor, projectId: ProjectId, rows: readonly ListedJob[]): Promise<Job[]> {
  if (rows.length === 0) return [];
  // A job that waits for its first step has none: so a submission is answered by one statement less.
  const begun = rows.filter(({ status }) => status !== "queued").map(({ id }) => id);
  const parked = rows.filter(({ park }) => park !== null).map(({ id }) => id);
  const [steps, asks] = await Promise.all([
    begun.length === 0 ? new Map() : jobsForProject(db, projectId).listSteps(begun),
    asksForProject(db, projectId).listPending(parked),
  ]);
  return rows.map((job) => {
    const requestId = (job.park as ParkDocument | null)?.judgment?.requestId;
    // Read a moment later than the job, an ask may be the next one already: the two belong together or are not shown together.
    const pendingAsk = asks.find(({ id }) => id === requestId);
    return toJob({ job, steps: steps.get(job.id) ?? [], pendingAsk });
  });
}

/** One job of a project as callers read it. Throws JOB_NOT_FOUND, naming `field`. */
export async function readJob(db: Executor, projectId: ProjectId, field: string, id: Id<"job">): Promise<Job> {
  const row = await jobsForProject(db, projectId).find(id);
  const [job] = row === undefined ? [] : await toJobs(db, projectId, [row]);
  if (job === undefined) throw jobNotFound(field, id);
  return job;
}

/** The simulation that was made for a job by simulateFirst. */
export async function readTwin(db: Executor, projectId: ProjectId, id: Id<"job">): Promise<Job | undefined> {
  const row = await jobsForProject(db, projectId).findTwin(id);
  return row === undefined ? undefined : (await toJobs(db, projectId, [row]))[0];
}
