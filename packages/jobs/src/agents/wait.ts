import type { ListedJob } from "@svc/db/jobs/find-listed";
import type { JobEventRecord } from "@svc/db/jobs/record";
import { jobsForProject } from "@svc/db/jobs/repo";
import type { AgentJobsContext } from "./task-ask.ts";

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
