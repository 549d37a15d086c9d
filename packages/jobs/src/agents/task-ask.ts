import { isOwnConfirmation } from "@svc/asks";
import { type Id, type ProjectPrincipal, parseId } from "@svc/core";
import { type AskRecord, findPendingAsk } from "@svc/db/asks/repo";
import { loadJob } from "@svc/db/jobs/load";
import type { JobRecord } from "@svc/db/jobs/record";
import type { AgentJobsContext } from "./parts.ts";

/** A question that a task waits with, and the job that asks it: a program runs skills, which may ask themselves. */
export type TaskAsk = { readonly ask: AskRecord; readonly job: JobRecord };

/** How deep programs run each other. */
const depthMax = 4;

/** The question that a job waits with, or a job that it runs; undefined for none. */
export async function findTaskAsk({ db }: Pick<AgentJobsContext, "db">, job: JobRecord): Promise<TaskAsk | undefined> {
  if (job.finishedAt !== null) return undefined;
  let asking: JobRecord | undefined = job;
  for (let depth = 0; depth <= depthMax && asking !== undefined; depth++) {
    const ask = await findPendingAsk(db, asking.id);
    if (ask !== undefined) return { ask, job: asking };
    const childId: Id<"job"> | undefined = parseId("job", asking.park?.childJobId ?? "");
    asking = childId && (await loadJob(db, childId));
  }
  return undefined;
}

/** True if the user of a client may be asked: approvals are decided by their key, and the hand that made a call does not confirm it. */
export async function isAskedOfUser(
  { db }: Pick<AgentJobsContext, "db">,
  asked: TaskAsk,
  { keyId }: Pick<ProjectPrincipal, "keyId">,
): Promise<boolean> {
  return asked.ask.approvalId === "" && !(await isOwnConfirmation(db, asked, keyId));
}
