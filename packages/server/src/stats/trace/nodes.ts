import { isoTime, timeOfId } from "@svc/core";
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
import { Remedy, Tone, TraceKind } from "@svc/gen/stats";

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

/** Returns the node of the webhook post from which svc made an event. Undefined if svc or the project itself made the event. */
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

/** Returns the node of a delivery. `endpoint`: the receiver; undefined if it was deleted. */
export function deliveryNode(delivery: Delivery, endpoint: TracedEndpoint | undefined): TracedNode {
  const { id, state } = delivery;
  const receiver = endpoint === undefined ? "a deleted subscription" : hostOf(endpoint.endpointUrl);
  const title = `Delivery to ${receiver}`;
  return { id, kind: TraceKind.DELIVERY, title, state, atMs: timeOfId(id), ...deliveryState(delivery) };
}

function deliveryState({ state, attempts, lastError, nextAttemptAt, subscriptionId }: Delivery): State {
  const tried = attempts === 1 ? "svc tried once" : `svc tried ${attempts} times`;
  const show = `svc subscriptions show ${subscriptionId}`;
  if (state === "delivered") return { tone: Tone.OK, summary: `The endpoint accepted it; ${tried}.` };
  if (state === "dead_letter") {
    const summary = `${deliveryErrorText(lastError)} ${tried} and gave up.`;
    // The present state of the endpoint does not explain a delivery that ended in the past, unless svc ended it because of that state.
    const causes = lastError.startsWith("subscription_inactive") ? [TraceKind.SUBSCRIPTION] : [];
    return { tone: Tone.BAD, summary, remedy: Remedy.RESEND_DELIVERY, command: show, causes };
  }
  if (attempts === 0) return { tone: Tone.INFO, summary: "It waits for its first attempt." };
  const next = nextAttemptAt === null ? "" : ` and tries again at ${isoTime(nextAttemptAt)}`;
  const summary = `${deliveryErrorText(lastError)} ${tried}${next}.`;
  // The endpoint does not cause an error that svc found before it sent a request.
  const isOwn = lastError.startsWith("body_invalid");
  const remedy = isOwn ? Remedy.WAIT : Remedy.REPAIR_ENDPOINT;
  return { tone: Tone.WARN, summary, remedy, command: show, ...(isOwn && { causes: [] }) };
}

const deliveryErrors: Readonly<Record<string, string>> = {
  timeout: "The endpoint did not answer in time.",
  connection_refused: "The endpoint refused the connection.",
  dns_not_found: "The host name of the endpoint does not exist.",
  tls_error: "The certificate of the endpoint was not accepted.",
  address_refused: "The deployment does not deliver to the address of the endpoint.",
  subscription_inactive: "The subscription was deactivated or deleted.",
  auth_failed: "svc could not fetch an access token for the endpoint.",
  body_invalid: "svc could not make the body from the event.",
};

function deliveryErrorText(error: string): string {
  const status = /^http_(\d{3})$/.exec(error)?.[1];
  if (status !== undefined) return `The endpoint answered ${status}.`;
  const known = deliveryErrors[error.split(/[\s:]/, 1)[0] ?? ""];
  return known ?? (error === "" ? "The endpoint did not accept it." : `The delivery failed: ${error}.`);
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

/** Returns the node of a schedule (standing program). */
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

/** Returns the node of a run of a schedule. */
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

/** Returns the node of a job. `title`: the title of its program. */
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

function jobState({ id, status, lastError, park }: JobRecord): State {
  const command = `svc jobs show ${id}`;
  const why = afterColon(lastError);
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
    case "failed":
    case "expired":
    case "rejected":
    case "aborted": {
      const words = {
        failed: "failed",
        expired: "missed its deadline",
        rejected: "was not approved",
        aborted: "was aborted",
      };
      const remedy = status === "failed" || status === "expired" ? Remedy.RETRY_JOB : Remedy.EDIT_PROGRAM;
      return { tone: Tone.BAD, summary: `It ${words[status]}${why}.`, remedy, command };
    }
    default:
      return { tone: Tone.INFO, summary: "It is not finished." };
  }
}

function parkText(reason: string): string {
  const said: Readonly<Record<string, string>> = {
    judgment: "It waits for an answer of a person.",
    approval: "It waits for an approval.",
    in_doubt: "svc cannot know if the app received a write. A person must decide.",
    undo_stuck: "The undo of a call failed. A person must decide.",
    poisoned: "svc stopped it, because it crashed or blocked its nodes several times.",
    administrator: "An administrator stopped it.",
    paused: "A caller paused it.",
  };
  return said[reason] ?? "It waits.";
}

function parkRemedy(reason: string | undefined): Remedy {
  if (reason === "paused" || reason === "administrator" || reason === "poisoned") return Remedy.RESUME;
  return reason === "in_doubt" ? Remedy.CHECK_APP : Remedy.ANSWER_ASK;
}

/** Returns the node of an ask (a question to a person). */
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

/** Returns the node of a tool call. `message`: the message of its answer, as plain text. */
export function callNode(call: ToolCallSummary, message: string): TracedNode {
  const { id, toolSlug, outcome, createdAt, durationMs } = call;
  const title = `Call of ${toolSlug}`;
  const causes = accountOutcomes.has(outcome) ? [TraceKind.ACCOUNT] : [];
  const base = { id, kind: TraceKind.CALL, title, state: outcome, atMs: createdAt, durationMs, causes };
  return { ...base, ...callState(call, message), ...(call.stepId !== "" && { step: call.stepId }) };
}

const callProblems: Readonly<Record<string, readonly [words: string, remedy: Remedy]>> = {
  held: ["svc did not send it, because it needs a confirmation", Remedy.ANSWER_ASK],
  invalid_arguments: ["Its arguments do not fit the tool", Remedy.EDIT_PROGRAM],
  no_account: ["The user has no account of the app", Remedy.CONNECT_ACCOUNT],
  account_unusable: ["The account cannot be used", Remedy.RECONNECT_ACCOUNT],
  missing_scope: ["The account lacks a permission that the tool needs", Remedy.RECONNECT_ACCOUNT],
  not_callable: ["The tool cannot be called", Remedy.EDIT_PROGRAM],
  not_bound: ["The key or job may not call the tool", Remedy.EDIT_PROGRAM],
  rate_limited: ["The app or a limit of the project allows no more calls now", Remedy.WAIT],
  provider_error: ["The app answered with an error", Remedy.RETRY_JOB],
  timeout: ["The app did not answer in time", Remedy.RETRY_JOB],
  unreachable: ["The app could not be reached", Remedy.RETRY_JOB],
  outcome_unknown: ["svc cannot know if the app received the write", Remedy.CHECK_APP],
};

function callState({ id, outcome, providerStatus }: ToolCallSummary, message: string): State {
  if (outcome === "ok") return { tone: Tone.OK, summary: "The app did it." };
  if (outcome === "running") return { tone: Tone.INFO, summary: "It has no answer yet." };
  const [words, remedy] = callProblems[outcome] ?? ["It failed", Remedy.UNSPECIFIED];
  const status = providerStatus === 0 ? "" : ` (${providerStatus})`;
  const said = afterColon(message);
  const command = `svc tool-calls show ${id}`;
  const tone = outcome === "held" ? Tone.WARN : Tone.BAD;
  return { tone, summary: `${words}${status}${said}.`, remedy, command };
}

/** Returns the node of a connected account at the time `nowMs` (epoch milliseconds), with the state that ListConnections shows. */
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

/** Returns the node of a saved tool (skill), for the results of a search. Its id is its slug. */
export function savedToolNode({ slug, description, createdAt }: ListedSkill): TracedNode {
  const base = { kind: TraceKind.SAVED_TOOL, state: "", tone: Tone.IDLE, atMs: createdAt };
  return { ...base, id: slug, title: `Saved tool ${slug}`, summary: description };
}

/** Returns the node of a person whom jobs may ask (a contact), for the results of a search. Its id is the principal's id. */
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
