import { type AppNames, callFailure, deliveryFailure, type Failure, isoTime, jobFailure, timeOfId } from "@svc/core";
import type { TracedEndpoint } from "@svc/db/activity/trace";
import type { AskRecord } from "@svc/db/asks/repo";
import type { ToolCallSummary } from "@svc/db/calls/list-page";
import type { ConnectedAccount } from "@svc/db/connections/account";
import type { Contact } from "@svc/db/contacts/repo";
import type { Delivery } from "@svc/db/deliveries/repo";
import type { Event } from "@svc/db/events/repo";
import type { JobRecord } from "@svc/db/jobs/record";
import type { ListedSkill } from "@svc/db/skills/repo";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { StandingRunRecord } from "@svc/db/standing/runs";
import { Remedy } from "@svc/gen/failures";
import { Tone, TraceKind } from "@svc/gen/stats";
import { remedyMessage } from "@svc/node";

/**
 * A node of a trace (a graph of causes and effects). `summary`: one sentence about the state. `remedy` and `command`: the action that may
 * solve the problem, and the command of `svc` for it. `causes`: the kinds of neighbors that may have caused the state, the most likely
 * first; all kinds if it is not set. `step`: id of the step that made this call or child job. `failedStep`: id of the step in which this job
 * failed. `folded`: the number of resources that the node represents, and the filter of their list.
 */
export type TracedNode = {
  readonly id: string;
  readonly kind: TraceKind;
  readonly title: string;
  readonly state: string;
  readonly tone: Tone;
  readonly summary: string;
  readonly atMs?: number;
  readonly durationMs?: number;
  readonly remedy?: Remedy;
  readonly command?: string;
  readonly causes?: readonly TraceKind[];
  readonly step?: string;
  readonly failedStep?: string;
  readonly folded?: { readonly count: number; readonly listFilter: string };
};

type State = Pick<TracedNode, "tone" | "summary" | "remedy" | "command" | "causes">;

/**
 * Returns the node of a trace (a graph of causes and effects) for the webhook post from which svc made an event. Returns undefined if svc
 * or the project itself made the event.
 */
export function postNode({ id, kind, toolkitSlug, receivedAt }: Omit<Event, "payload">): TracedNode | undefined {
  if (kind !== "event" || ["svc", "events"].includes(toolkitSlug)) return undefined;
  return {
    ...{ id: `post_of_${id}`, kind: TraceKind.POST, title: `Webhook post of ${toolkitSlug}`, state: "" },
    ...{ tone: Tone.IDLE, atMs: receivedAt },
    summary: `svc received it at ${isoTime(receivedAt)}, checked its signature and made an event of it.`,
  };
}

/** Returns the node of an event. */
export function eventNode({ id, kind, triggerSlug, receivedAt }: Omit<Event, "payload">): TracedNode {
  const title = kind === "test" ? "Test event" : `Event ${triggerSlug}`;
  const summary = kind === "swept" ? "Its retention has ended, so svc deleted its content." : "svc stored the event.";
  return { id, kind: TraceKind.EVENT, title, state: "", tone: Tone.IDLE, atMs: receivedAt, summary };
}

/** Returns the node of a trace (a graph of causes and effects) for a delivery. `endpoint`: the receiver; undefined if it was deleted. */
export function deliveryNode(delivery: Delivery, endpoint: TracedEndpoint | undefined): TracedNode {
  const { id, state } = delivery;
  const receiver = endpoint === undefined ? "a deleted subscription" : hostOf(endpoint.endpointUrl);
  const title = `Delivery to ${receiver}`;
  return { id, kind: TraceKind.DELIVERY, title, state, atMs: timeOfId(id), ...deliveryState(delivery) };
}

function deliveryState({ state, attempts, lastError, nextAttemptAt, subscriptionId, lastAttemptAt }: Delivery): State {
  const tried = attempts === 1 ? "svc tried once" : `svc tried ${attempts} times`;
  const command = `svc subscriptions show ${subscriptionId}`;
  if (state === "delivered") return { tone: Tone.OK, summary: `The endpoint accepted it; ${tried}.` };
  const failure = deliveryFailure({ subscriptionId, error: lastError, atMs: lastAttemptAt ?? 0, state });
  if (failure === undefined) return { tone: Tone.INFO, summary: "It waits for its first attempt." };
  const isEnded = state === "dead_letter";
  const next = nextAttemptAt === null ? "" : ` and tries again at ${isoTime(nextAttemptAt)}`;
  const summary = `${failure.title}. ${tried}${isEnded ? " and gave up" : next}.`;
  // The present state of the endpoint explains no delivery that ended in the past, unless svc ended it because of that state. It causes no
  // error that svc found before it sent a request.
  const isOfEndpoint = isEnded ? lastError.startsWith("subscription_inactive") : !lastError.startsWith("body_invalid");
  const causes = isOfEndpoint ? [TraceKind.SUBSCRIPTION] : [];
  return { tone: isEnded ? Tone.BAD : Tone.WARN, summary, remedy: remedyOf(failure), command, causes };
}

/** Returns the node of a subscription. */
export function endpointNode(endpoint: TracedEndpoint): TracedNode {
  const { id, endpointUrl, createdAt } = endpoint;
  const title = `Endpoint ${hostOf(endpointUrl)}`;
  return { id, kind: TraceKind.SUBSCRIPTION, title, atMs: createdAt, ...endpointState(endpoint) };
}

function endpointState({ id, active, inactiveReason, failingSince, pausedAt }: TracedEndpoint) {
  const command = `svc subscriptions show ${id}`;
  if (pausedAt !== null)
    return { state: "paused", tone: Tone.WARN, summary: "It is paused.", remedy: Remedy.RESUME, command };
  if (!active) {
    const summary = `It is off; the reason is ${inactiveReason || "deactivated"}.`;
    return { state: "inactive", tone: Tone.BAD, summary, remedy: Remedy.RESUME, command };
  }
  if (failingSince === null) return { state: "active", tone: Tone.OK, summary: "The endpoint accepts deliveries." };
  const summary = `The endpoint has accepted nothing since ${isoTime(failingSince)}.`;
  return { state: "failing", tone: Tone.BAD, summary, remedy: Remedy.REPAIR_ENDPOINT, command };
}

/** Returns the node of a trace (a graph of causes and effects) for a schedule (standing program). */
export function scheduleNode(program: StandingProgramRecord): TracedNode {
  const { id, slug, title, state, pauseReason, pauseDetail, createdAt } = program;
  const command = `svc standing show ${id}`;
  const detail = afterColon(pauseDetail);
  const causes = pauseReason === "failures" || pauseReason === "fail_step" ? [TraceKind.RUN] : [];
  const said: Record<StandingProgramRecord["state"], State> = {
    active: { tone: Tone.OK, summary: "It starts jobs when they are due." },
    pending: { tone: Tone.WARN, summary: "It waits for an approval.", remedy: Remedy.ANSWER_ASK, command, causes },
    paused: {
      ...{ tone: Tone.WARN, summary: `It is paused; the reason is ${pauseReason || "unknown"}${detail}.` },
      ...{ remedy: Remedy.RESUME, command, causes },
    },
    ended: { tone: Tone.IDLE, summary: "It has no further run." },
  };
  const name = `Schedule ${title || slug}`;
  return { id, kind: TraceKind.SCHEDULE, title: name, state, atMs: createdAt, ...said[state] };
}

/** Returns the node of a trace (a graph of causes and effects) for a run of a schedule. */
export function runNode(run: StandingRunRecord): TracedNode {
  const { id, kind, state, fireAt } = run;
  const causes = { schedule: "at its time", event: "by an event", poll: "by new rows", hand: "by a request" } as const;
  return { id, kind: TraceKind.RUN, title: `Run ${causes[kind]}`, state, atMs: fireAt, ...runState(run) };
}

function runState({ state, reason, detail, jobStatus, programId }: StandingRunRecord): State {
  const why = reason === "" ? "" : `; the reason is ${reason}${afterColon(detail)}`;
  const command = `svc standing show ${programId}`;
  if (state === "skipped") return { tone: Tone.IDLE, summary: `The schedule skipped it${why}.` };
  if (state === "refused") return { tone: Tone.BAD, summary: `svc could not start a job${why}.`, command };
  if (state === "started") return { tone: Tone.INFO, summary: "Its job is not finished." };
  if (state !== "ended") return { tone: Tone.INFO, summary: `It has not started a job yet${why}.` };
  if (jobStatus === "succeeded") return { tone: Tone.OK, summary: "Its job succeeded." };
  return { tone: jobStatus === "cancelled" ? Tone.IDLE : Tone.BAD, summary: `Its job ended as ${jobStatus}.`, command };
}

/** Returns the node of a trace (a graph of causes and effects) for a job. `title`: the title of the job's program. */
export function jobNode(job: JobRecord, title: string): TracedNode {
  const { id, status, createdAt, finishedAt } = job;
  const durationMs = finishedAt === null ? 0 : finishedAt - createdAt;
  const name = title === "" ? "Job" : `Job ${title}`;
  const failedStep = status === "failed" ? /^\w+: step (\w+): /.exec(job.lastError)?.[1] : undefined;
  return {
    ...{ id, kind: TraceKind.JOB, title: name, state: status, atMs: createdAt, durationMs, ...jobState(job) },
    ...(job.child !== null && { step: job.child.stepId }),
    ...(failedStep !== undefined && { failedStep }),
    causes: failedStep === undefined ? causesOfWait(job) : [TraceKind.CALL, TraceKind.JOB],
  };
}

/** Returns the kinds of effects for which a job may wait. Empty if the job waits for none, or has ended. */
function causesOfWait({ status, park, finishedAt }: JobRecord): readonly TraceKind[] {
  const { ASK, CALL, JOB } = TraceKind;
  if (status !== "parked") return finishedAt === null ? [ASK, JOB] : [];
  switch (park?.reason) {
    case "in_doubt":
    case "undo_stuck":
      return [ASK, CALL];
    case "paused":
    case "administrator":
    case "poisoned":
      return [];
    case "child":
      return [ASK, JOB];
    default:
      return [ASK];
  }
}

function jobState(job: JobRecord): State {
  const { id, status, park, lastError } = job;
  const command = `svc jobs show ${id}`;
  const failure = jobFailure({ ...job, atMs: job.finishedAt ?? job.updatedAt, entities: job.estimate.entities });
  if (failure !== undefined) {
    const tone = status === "parked" ? Tone.WARN : Tone.BAD;
    return { tone, summary: `${failure.title}.`, remedy: remedyOf(failure), command };
  }
  switch (status) {
    case "succeeded":
      return { tone: Tone.OK, summary: "It succeeded." };
    case "cancelled":
      return { tone: Tone.IDLE, summary: "A caller cancelled it." };
    case "parked":
      if (park?.reason === "wait") return { tone: Tone.INFO, summary: "It waits and continues by itself." };
      if (park?.reason === "child") return { tone: Tone.INFO, summary: "It waits for a job that it started." };
      return { tone: Tone.WARN, summary: parkText(park?.reason ?? ""), remedy: parkRemedy(park?.reason), command };
    case "pending_plan_approval":
      return { tone: Tone.WARN, summary: "A person must approve its plan.", remedy: Remedy.ANSWER_ASK, command };
    default:
      // The code of the last error while a call waits until an approver accepts a change of its tool.
      return lastError.startsWith("TOOL_CHANGED:")
        ? { tone: Tone.WARN, summary: `It waits for an approver${afterColon(lastError)}.`, command }
        : { tone: Tone.INFO, summary: "It is not finished." };
  }
}

function parkText(reason: string): string {
  const said: Readonly<Record<string, string>> = {
    judgment: "It waits for an answer of a person.",
    approval: "It waits for an approval.",
    administrator: "An administrator stopped it.",
    paused: "A caller paused it.",
  };
  return said[reason] ?? "It waits.";
}

function parkRemedy(reason: string | undefined): Remedy {
  return reason === "paused" || reason === "administrator" ? Remedy.RESUME : Remedy.ANSWER_ASK;
}

/** Returns the node of a trace (a graph of causes and effects) for an ask (a job's question to a person). */
export function askNode({ id, kind, state, principalId, askedAt, decision }: AskRecord): TracedNode {
  const base = { id, kind: TraceKind.ASK, state, atMs: askedAt };
  const title = `${kind === "approval" || kind === "confirm" ? "Approval" : "Question"} to ${principalId || "a person"}`;
  if (state === "pending") {
    const summary = `${principalId || "A person"} has not answered yet.`;
    return {
      ...base,
      title,
      tone: Tone.WARN,
      summary,
      remedy: Remedy.ANSWER_ASK,
      command: `svc asks show ${id}`,
    };
  }
  const answer = decision === null ? "" : `: ${decision.continuation}`;
  const said = {
    answered: "It was answered",
    defaulted: "Its default applied",
    withdrawn: "It was withdrawn",
  } as const;
  return { ...base, title, tone: Tone.IDLE, summary: `${said[state]}${answer}.` };
}

/** Outcomes of tool calls that the account of the call may have caused. */
export const accountOutcomes: ReadonlySet<string> = new Set(["account_unusable", "no_account", "missing_scope"]);

/**
 * Returns the node of a trace (a graph of causes and effects) for a tool call. `message`: the message of its answer, as plain text.
 * `appNames`: names of apps.
 */
export function callNode(call: ToolCallSummary, message: string, appNames: AppNames): TracedNode {
  const { id, toolSlug, outcome, createdAt, durationMs } = call;
  const title = `Call of ${toolSlug}`;
  const causes = accountOutcomes.has(outcome) ? [TraceKind.ACCOUNT] : [];
  const base = { id, kind: TraceKind.CALL, title, state: outcome, atMs: createdAt, durationMs, causes };
  return { ...base, ...callState(call, message, appNames), ...(call.stepId !== "" && { step: call.stepId }) };
}

function callState(call: ToolCallSummary, message: string, appNames: AppNames): State {
  const { id, outcome } = call;
  const command = `svc tool-calls show ${id}`;
  const failure = callFailure({ ...call, message }, appNames);
  if (failure !== undefined)
    return { tone: Tone.BAD, summary: `${failure.title}.`, remedy: remedyOf(failure), command };
  if (outcome === "ok") return { tone: Tone.OK, summary: "The app did it." };
  if (outcome === "running") return { tone: Tone.INFO, summary: "It has no answer yet." };
  const summary = "svc did not send it, because it needs a confirmation.";
  return { tone: Tone.WARN, summary, remedy: Remedy.ANSWER_ASK, command };
}

/** Returns the best action against a failure. */
function remedyOf({ remedies: [first] }: Failure): Remedy {
  return first === undefined ? Remedy.UNSPECIFIED : remedyMessage(first);
}

/**
 * Returns the node of a trace (a graph of causes and effects) for a connected account at the time `nowMs` (epoch milliseconds). Its state
 * is the one that ListConnections shows.
 */
export function accountNode(account: ConnectedAccount, nowMs: number): TracedNode {
  const { id, toolkitSlug, entityId, expiresAt, createdAt } = account;
  const ranOut = account.state === "active" && expiresAt !== null && expiresAt <= nowMs;
  const state = ranOut ? "expired" : account.state;
  const lastError = ranOut ? "its credential ran out" : account.lastError;
  const owner = entityId === "" ? "the project" : entityId;
  const command = `svc connections show ${id}`;
  const why = afterColon(lastError);
  const said: Record<ConnectedAccount["state"], State> = {
    active: { tone: Tone.OK, summary: "It can be used." },
    pending: {
      tone: Tone.WARN,
      summary: "Its owner has not connected it yet.",
      remedy: Remedy.CONNECT_ACCOUNT,
      command,
    },
    expired: { tone: Tone.BAD, summary: `It has expired${why}.`, remedy: Remedy.RECONNECT_ACCOUNT, command },
    superseded: { tone: Tone.IDLE, summary: "A newer account replaced it." },
    revoked: { tone: Tone.BAD, summary: "It was deleted.", remedy: Remedy.CONNECT_ACCOUNT, command },
  };
  const title = `Account of ${owner} in ${toolkitSlug}`;
  return { id, kind: TraceKind.ACCOUNT, title, state, atMs: createdAt, ...said[state] };
}

/** Returns a saved tool (skill) as a result of a search over resources. The id of the result is the tool's slug. */
export function savedToolNode({ slug, description, createdAt }: ListedSkill): TracedNode {
  const base = { kind: TraceKind.SAVED_TOOL, state: "", tone: Tone.IDLE, atMs: createdAt };
  return { ...base, id: slug, title: `Saved tool ${slug}`, summary: description };
}

/**
 * Returns a person whom jobs may ask (a contact) as a result of a search over resources. The id of the result is the contact's principal
 * id.
 */
export function personNode({ principalId, name, isApprover, createdAt }: Contact): TracedNode {
  const summary = isApprover ? "This person may approve." : "This person answers questions.";
  const base = { kind: TraceKind.PERSON, state: "", tone: Tone.IDLE, atMs: createdAt };
  return { ...base, id: principalId, title: name || principalId, summary };
}

/** Returns a text as the end of a sentence, after a colon and without its final period. Empty if there is no text. */
function afterColon(text: string): string {
  return text === "" ? "" : `: ${text.replace(/[.\s]+$/u, "")}`;
}

/** Returns the host of an endpoint. Its path is left out, because it may contain a secret. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "an endpoint";
}
