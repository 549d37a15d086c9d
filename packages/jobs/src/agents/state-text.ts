import { isoTime } from "@svc/core";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import type { AgentJobsContext } from "./parts.ts";
import type { TaskAsk } from "./task-ask.ts";
import { lastLogged, loggedText } from "./wait.ts";

/** What a job that has not ended does, or waits for, in a line for people. `asked`: the question that it waits with. */
export async function stateText(
  context: Pick<AgentJobsContext, "db" | "consoleUrl">,
  job: ListedJob,
  asked: TaskAsk | undefined,
): Promise<string> {
  if (asked !== undefined) return askedText(context, asked);
  const { park, status } = job;
  if (status === "parked" && park !== null) {
    const isTimed = park.reason === "wait" && park.wakeAt !== undefined;
    return isTimed ? `${park.stepId}: waits until ${isoTime(park.wakeAt)}` : `waits: ${park.reason}`;
  }
  const last = await lastLogged(context, job);
  return last === undefined ? status : loggedText(last);
}

/** Whom a job waits for, what they are asked, and where they answer. */
function askedText({ consoleUrl }: Pick<AgentJobsContext, "consoleUrl">, { ask, job }: TaskAsk): string {
  const who = ask.approvalId === "" ? ask.principalId : `${ask.principalId}, an approver,`;
  const place = consoleUrl === undefined ? "where their application shows it" : consolePlace(consoleUrl(), job, ask.id);
  return `waits for a person: ${who} is asked ${JSON.stringify(ask.question)}, and answers ${place}`;
}

function consolePlace(url: string, { id, projectId }: TaskAsk["job"], askId: string): string {
  return `in the console, ${url}p/${projectId}/asks/${id}/${askId}, or where the question was sent`;
}
