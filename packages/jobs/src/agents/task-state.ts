import { isoTime, type ProjectPrincipal } from "@svc/core";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import { canAskUser, type McpContext, type Params, toolResult } from "@svc/tools";
import { endedAnswer, lastLogged, loggedText } from "./find-job.ts";
import { type AgentJobsContext, askRequest, findTaskAsk, isAskedOfUser, type TaskAsk } from "./task-ask.ts";

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

/** Who follows a task, and what its client can be asked. */
type Follower = { readonly principal: ProjectPrincipal } & Pick<McpContext, "client">;

/** How soon a client may look again, milliseconds: at a job that is at work, and at one that waits. */
const busyPollMs = 1_000;
const idlePollMs = 5_000;

/**
 * A job as a task of the protocol's extension. One that failed is `completed` with a result that says so, since the protocol's `failed`
 * is for errors of its own. A question that the follower's user may answer makes it `input_required`; with any other it is `working`,
 * and says whom it waits for.
 */
export async function taskOf(context: AgentJobsContext, job: ListedJob, follower: Follower): Promise<Params> {
  if (job.status === "cancelled") return { ...seedOf(context, job), status: "cancelled", statusMessage: job.lastError };
  if (job.finishedAt !== null) {
    const answer = await endedAnswer(context, job);
    return { ...seedOf(context, job), status: "completed", statusMessage: job.status, result: toolResult(answer) };
  }
  const asked = job.status === "running" ? undefined : await findTaskAsk(context, job);
  if (asked !== undefined && canAskUser(follower) && (await isAskedOfUser(context, asked, follower.principal))) {
    const { id, question } = asked.ask;
    const inputRequests = { [id]: askRequest(asked.ask) };
    return { ...seedOf(context, job), status: "input_required", statusMessage: question, inputRequests };
  }
  return { ...seedOf(context, job), status: "working", statusMessage: await stateText(context, job, asked) };
}

/** The task that a call becomes: without what a client asks for by its id. */
export async function newTaskOf(context: AgentJobsContext, job: ListedJob): Promise<Params> {
  const asked = await findTaskAsk(context, job);
  return { ...seedOf(context, job), status: "working", statusMessage: await stateText(context, job, asked) };
}

/** What a task is at any time. A job's id is its task's. */
function seedOf({ jobRetentionMs }: AgentJobsContext, { id, status, createdAt, updatedAt, finishedAt }: ListedJob) {
  const isKept = finishedAt === null || jobRetentionMs === undefined;
  return {
    taskId: id,
    createdAt: isoTime(createdAt),
    lastUpdatedAt: isoTime(updatedAt),
    ttlMs: isKept ? null : finishedAt - createdAt + jobRetentionMs,
    ...(finishedAt === null && { pollIntervalMs: status === "running" ? busyPollMs : idlePollMs }),
  };
}
