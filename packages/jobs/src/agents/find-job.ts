import { type Id, isWithin, type ProjectPrincipal } from "@svc/core";
import { requestJobCancel } from "@svc/db/jobs/cancel";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import { jobsForProject } from "@svc/db/jobs/repo";

import type { AgentJobsContext } from "./parts.ts";

/**
 * A job that whoever asks may follow as a task: of its project, within what it is bound to, and for a grant one that the grant itself
 * began. Undefined for any other.
 */
export async function findFollowed(
  { db }: Pick<AgentJobsContext, "db">,
  { projectId, keyId, binding, isGrant = false }: ProjectPrincipal,
  id: Id<"job">,
): Promise<ListedJob | undefined> {
  const job = await jobsForProject(db, projectId).find(id);
  if (job === undefined || !isWithin(job, binding)) return undefined;
  return isGrant && job.keyId !== keyId ? undefined : job;
}

/** Asks a job to end; one that has ended stays as it is. */
export async function cancelJob(
  { db, clock, engine }: Pick<AgentJobsContext, "db" | "clock" | "engine">,
  { id }: ListedJob,
  { projectId, keyId }: ProjectPrincipal,
): Promise<void> {
  await requestJobCancel(db, { jobId: id, projectId, chain: [`key:${keyId}`], nowMs: clock.now() });
  engine.cancel(id);
  engine.wake();
}
