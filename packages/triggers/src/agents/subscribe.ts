import {
  type Clock,
  createId,
  equalConstantTime,
  firstUuidAt,
  generateToken,
  isObject,
  isoTime,
  LeastRecentlyUsed,
  type ProjectPrincipal,
  timeOfId,
} from "@svc/core";
import { agentSubscriptionsForProject } from "@svc/db/subscriptions/agent-subscriptions";
import { findLastDeliveryError, findOldestPendingEvent } from "@svc/db/subscriptions/health";
import { readSubscriptionProgress } from "@svc/db/subscriptions/read-progress";
import type { Subscription } from "@svc/db/subscriptions/repo";
import { type Attempt, createAgentEndpoint, type Dispatcher, signingSecretContext } from "@svc/delivery";
import { complete, type McpContext, type McpError, type McpOutcome, type Params, refused } from "@svc/tools";
import type { ServedPosition } from "../polls/polls.ts";
import { type CursorScope, openCursor, positionAt, sealCursor, settledMs } from "../polls/position.ts";
import { secretsAfter } from "../service/subscription-secret.ts";
import type { AgentEventsContext } from "./context.ts";
import { type CallbackFailure, callbackFailed, exhausted, forbidden } from "./errors.ts";
import { replayFrom } from "./replay.ts";
import { readSubscribe, type SubscribeRequest } from "./subscribe-request.ts";
import { scopeOf } from "./target.ts";

/** An agent's receiver of events. Before it gets events, svc asks the receiver if it wants them. */
type Callback = { readonly url: string; readonly secret: string; readonly mcpId: string };

/** Asks a callback if it wants events. Returns undefined if it agrees, or else the error for the client. */
type Challenge = (callback: Callback) => Promise<McpError | undefined>;

/** Maximum time in milliseconds in which an agent's receiver must confirm that it wants events. */
const timeoutMs = 10_000;
/**
 * Maximum number of challenges (requests that ask a callback to confirm) that this node sends to one host within a minute, for all callers
 * together.
 */
const perMinuteMax = 60;
const minuteMs = 60_000;
const hostsMax = 10_000;

/**
 * Returns the function that asks a callback to confirm that it wants events (the challenge). It posts a random word, which the callback
 * must return. The address of the callback is checked when svc connects to it.
 */
function createChallenge({ dispatcher, clock }: { dispatcher: Pick<Dispatcher, "tell">; clock: Clock }): Challenge {
  const asked = new LeastRecentlyUsed<string, number[]>(hostsMax);
  return async ({ url, secret, mcpId }) => {
    const nowMs = clock.now();
    const { host } = new URL(url);
    const recent = (asked.get(host) ?? []).filter((atMs) => atMs > nowMs - minuteMs);
    if (recent.length >= perMinuteMax) return exhausted("verifications", perMinuteMax);
    asked.set(host, [...recent, nowMs]);
    const word = generateToken();
    const id = `msg_verification_${generateToken()}`;
    const body = JSON.stringify({ type: "verification", challenge: word });
    const attempt = await dispatcher.tell(createAgentEndpoint(url, secret, mcpId), { id, body }, timeoutMs);
    return saysBack(attempt, word) ? undefined : callbackFailed(failureOf(attempt));
  };
}

function saysBack({ error, responseBody }: Attempt, word: string): boolean {
  if (error !== "") return false;
  try {
    const said: unknown = JSON.parse(responseBody);
    return isObject(said) && typeof said["challenge"] === "string" && equalConstantTime(said["challenge"], word);
  } catch {
    return false;
  }
}

/**
 * Returns the reason why an agent's callback URL failed the test request that svc sends before it accepts the URL. If there was any HTTP
 * answer, the reason is `challenge_failed`, because the server was reached. Without an answer, the connection's error decides.
 */
function failureOf({ error, statusCode }: Attempt): CallbackFailure {
  if (statusCode > 0) return "challenge_failed";
  return categoryOf(error);
}

/** Returns the reason of a failed challenge in the form that a client may see: one word of a fixed list. */
function categoryOf(error: string): CallbackFailure {
  if (error.startsWith("timeout")) return "timeout";
  if (error.startsWith("tls_error")) return "tls_error";
  if (error.startsWith("http_5")) return "http_5xx";
  if (error.startsWith("http_")) return "http_4xx";
  return "connection_refused";
}

/** Maximum number of subscriptions of one key or grant (a person's permission for an agent). */
const perKeyMax = 100;
/**
 * Lifetime of a subscription, in milliseconds: minimum, default and maximum. A lifetime that the client requests is limited to this range.
 * A client that requests a subscription without an end gets the maximum lifetime.
 */
const ttl = { minMs: 60_000, defaultMs: 3_600_000, maxMs: 86_400_000 };
/** Milliseconds after a change of a subscription's signing secret in which deliveries are signed with the previous secret as well. */
const formerMs = 600_000;

type SubscribeContext = AgentEventsContext & { readonly challenge: Challenge };
type SubscribeAttempt = {
  readonly request: SubscribeRequest;
  readonly principal: ProjectPrincipal;
  readonly scope: CursorScope;
};

/** Returns the method events/subscribe. It starts a subscription, or extends the existing subscription with the same identity. */
export function createSubscribe(
  events: AgentEventsContext,
): (params: Params, context: McpContext) => Promise<McpOutcome> {
  const subscribing = { ...events, challenge: createChallenge(events) };
  return async (params, context) => {
    const request = await readSubscribe(events, params, context);
    if ("error" in request) return refused(request.error);
    const { principal } = context;
    const { projectId } = principal;
    const asked = { request, principal, scope: scopeOf(request, projectId) };
    const known = await agentSubscriptionsForProject(events.db, projectId).find(request.mcpId);
    if (known?.inactiveReason === "deactivated")
      return refused(forbidden("the project paused this subscription, and may enable it again"));
    const isLive =
      known !== undefined && known.inactiveReason !== "revoked" && (known.expiresAt ?? 0) > events.clock.now();
    return isLive ? refresh(subscribing, asked, known) : begin(subscribing, asked);
  };
}

/**
 * Creates a subscription of an agent. If the agent's callback URL is new, svc first sends it a challenge, which the callback must answer.
 */
async function begin(events: SubscribeContext, { request, principal, scope }: SubscribeAttempt): Promise<McpOutcome> {
  const { db, clock, sealer, challenge } = events;
  const { projectId, keyId } = principal;
  const { url, secret, mcpId, trigger, entityId } = request;
  const subscriptions = agentSubscriptionsForProject(db, projectId);
  if (!(await subscriptions.hasEndpoint(keyId, url, clock.now()))) {
    const refusal = await challenge({ url, secret, mcpId });
    if (refusal !== undefined) return refused(refusal);
  }
  const served = await beginAt(events, scope, request);
  const nowMs = clock.now();
  const id = createId("sub", nowMs);
  const made = await subscriptions.create(
    {
      ...{ id, keyId, mcpId, entityId, endpointUrl: url, createdAt: nowMs },
      ...{ toolkitSlug: trigger.toolkitSlug, triggerSlug: trigger.slug },
      signingSecret: sealer.seal(Buffer.from(secret, "utf8"), signingSecretContext(projectId, id)),
      cursor: sealCursor(sealer, scope, served.position),
      expiresAt: nowMs + grantedMs(request.ttlMs),
    },
    { perKeyMax, nowMs },
  );
  if ("keyEnded" in made) return refused(forbidden("the key or grant has ended"));
  if ("keyReached" in made) return refused(exhausted("subscriptions", made.keyReached));
  if ("quotaReached" in made) return refused(exhausted("subscriptions", made.quotaReached.most));
  return complete(await resumed(events, { request, principal, scope }, made, served));
}

/** Extends a subscription. If svc had stopped delivering to it, deliveries start again from the client's cursor. */
async function refresh(events: SubscribeContext, asked: SubscribeAttempt, known: Subscription): Promise<McpOutcome> {
  const { db, clock, sealer } = events;
  const { request, scope } = asked;
  const { projectId } = scope;
  const nowMs = clock.now();
  const served = known.active ? await watermarkOf(events, scope, known) : await beginAt(events, scope, request);
  const status = await deliveryStatus(events, known);
  const made = await agentSubscriptionsForProject(db, projectId).refresh(
    known.id,
    {
      cursor: sealCursor(sealer, scope, served.position),
      expiresAt: nowMs + grantedMs(request.ttlMs),
      ...secretsAfter(sealer, known, request.secret, nowMs + formerMs),
    },
    nowMs,
  );
  if (made === undefined)
    return refused(forbidden("the key or grant has ended, or the project paused this subscription"));
  // The subscription was active, so its running deliveries continue. They need not be queued again, because the returned cursor is not
  // later than any of them.
  if (known.active)
    return complete({ ...answerOf(made, { cursor: made.cursor, truncated: false }), deliveryStatus: status });
  return complete({ ...(await resumed(events, asked, made, served)), deliveryStatus: status });
}

/** Returns the position at which a subscription begins: the client's cursor if svc can serve it, otherwise the current position. */
async function beginAt(
  events: AgentEventsContext,
  scope: CursorScope,
  { cursor, maxAgeMs }: Pick<SubscribeRequest, "cursor" | "maxAgeMs">,
): Promise<ServedPosition> {
  const known = cursor === null ? undefined : openCursor(events.sealer, scope, cursor);
  if (known !== undefined) return events.polls.served(scope, known, maxAgeMs);
  return { position: await events.polls.now(scope), truncated: cursor !== null };
}

/** Queues the events that a restarted subscription has missed since its position. Returns the answer for the client. */
async function resumed(
  events: AgentEventsContext,
  { request, principal, scope }: SubscribeAttempt,
  made: Subscription,
  { position, truncated }: ServedPosition,
) {
  // True if the client sent a cursor. Then the events stored after this cursor and before now are searched here. Later events need no
  // search, because every node now sends events to the subscription.
  const isPast = request.cursor !== null;
  const isCut = isPast && (await replayFrom(events, { principal, scope, subscription: made, position }));
  return answerOf(made, { cursor: made.cursor, truncated: truncated || isCut });
}

function answerOf(
  { mcpId, expiresAt }: Subscription,
  from: { readonly cursor: string; readonly truncated: boolean },
): Params {
  return { id: mcpId, refreshBefore: expiresAt === null ? null : isoTime(expiresAt), ...from };
}

/** Returns a position in the events of a subscription. All events before this position were delivered. The position never moves back. */
async function watermarkOf(
  { db, clock, sealer }: AgentEventsContext,
  scope: CursorScope,
  known: Subscription,
): Promise<ServedPosition> {
  const before = openCursor(sealer, scope, known.cursor);
  const oldest = await findOldestPendingEvent(db, known.id);
  if (oldest === "unknown") return { position: before ?? positionAt(known.createdAt), truncated: false };
  const settledAt = clock.now() - settledMs;
  const pendingAt = oldest === undefined ? settledAt : Math.min(settledAt, timeOfId(oldest));
  // The position up to which all events were delivered never becomes earlier. So a position that svc returned to the client before stays
  // valid.
  const position = before !== undefined && before.fromUuid >= firstUuidAt(pendingAt) ? before : positionAt(pendingAt);
  return { position, truncated: false };
}

/** Returns the state of an agent's subscription: if it is active, the time of its last delivery, and its last error. */
async function deliveryStatus({ db }: AgentEventsContext, known: Subscription): Promise<Params> {
  const { projectId, id, active, failingSince } = known;
  const { lastSuccessAt } = await readSubscriptionProgress(db, projectId, id);
  const isWell = failingSince === null;
  const lastError = isWell ? null : categoryOf(await findLastDeliveryError(db, projectId, id));
  return {
    active,
    lastDeliveryAt: lastSuccessAt === undefined ? null : isoTime(lastSuccessAt),
    lastError,
    ...(failingSince !== null && { failedSince: isoTime(failingSince) }),
  };
}

/** Returns the lifetime that svc grants for the requested lifetime, in milliseconds. */
function grantedMs(ttlMs: number | null | undefined): number {
  if (ttlMs === undefined) return ttl.defaultMs;
  return ttlMs === null ? ttl.maxMs : Math.min(Math.max(ttlMs, ttl.minMs), ttl.maxMs);
}
