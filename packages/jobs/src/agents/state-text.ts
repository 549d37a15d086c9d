import { isoTime } from "@svc/core";
import type { ListedJob } from "@svc/db";
import type { AgentJobsContext } from "./parts.ts";
import type { TaskAsk } from "./task-ask.ts";
import { lastLogged, loggedText } from "./wait.ts";

/** What a job that has not ended does, or waits for, in a line for people. `asked`: the question that it waits with. */
export async function stateText(
  context: Pick<AgentJobsContext, "db">,
  job: ListedJob,
  asked: TaskAsk | undefined,
): Promise<string> {
  if (asked !== undefined) return `waits for ${asked.ask.principalId}, who is asked: ${asked.ask.question}`;
  const { park, status } = job;
  if (status === "parked" && park !== null) {
    const isTimed = park.reason === "wait" && park.wakeAt !== undefined;
    return isTimed ? `${park.stepId}: waits until ${isoTime(park.wakeAt)}` : `waits: ${park.reason}`;
  }
  const last = await lastLogged(context, job);
  return last === undefined ? status : loggedText(last);
}
