import { isoTime, type ProjectPrincipal } from "@svc/core";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import { canAskUser, type McpContext, type Params, toolResult } from "@svc/tools";
import { endedAnswer, lastLogged, loggedText } from "./find-job.ts";
import { type AgentJobsContext, askRequest, findTaskAsk, isAskedOfUser, type TaskAsk } from "./task-ask.ts";

/**
 * Returns one line for people that describes the state of a job which has not ended. `asked`: the question to a person that the job waits
 * for, if any.
 */
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

/** Returns a text that names the person for whom a job waits, the question, and the address where it can be answered. */
function askedText({ consoleUrl }: Pick<AgentJobsContext, "consoleUrl">, { ask, job }: TaskAsk): string {
  const who = ask.approvalId === "" ? ask.principalId : `${ask.principalId}, an approver,`;
  const place =
    consoleUrl === undefined ? "where their application shows the question" : consolePlace(consoleUrl(), job, ask.id);
  return `waits for a person: ${who} is asked ${JSON.stringify(ask.question)}; they answer ${place}`;
}

function consolePlace(url: string, { id, projectId }: TaskAsk["job"], askId: string): string {
  return `in the console, ${url}p/${projectId}/asks/${id}/${askId}, or where the question was sent`;
}

/**
 * The caller that follows a task. `principal`: the key that makes the caller's calls. `client`: the caller's MCP client, with the kinds of
 * questions that the client can show to its user.
 */
type Follower = { readonly principal: ProjectPrincipal } & Pick<McpContext, "client">;

/** Pause that a client should make between two reads of a running job, in milliseconds. */
const busyPollMs = 1_000;
const idlePollMs = 5_000;

/**
 * Returns a job as a task of the MCP tasks extension. A failed job is `completed`, with a result that reports the failure, because MCP uses
 * `failed` only for protocol errors. A job with a question that the caller's user may answer is `input_required`. Any other open job is
 * `working`.
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

/**
 * Returns the MCP task with which svc answers a tool call if the job that the call started has not ended. If the job asks its user a
 * question, this task does not contain the form for the answer; the client gets the form when it reads the task by id.
 */
export async function newTaskOf(context: AgentJobsContext, job: ListedJob): Promise<Params> {
  const asked = await findTaskAsk(context, job);
  return { ...seedOf(context, job), status: "working", statusMessage: await stateText(context, job, asked) };
}

/** Returns the fields that a task has in every status, such as its id, times and polling interval. The task's id is the job's id. */
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
