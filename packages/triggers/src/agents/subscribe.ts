import {
  type Clock,
  createId,
  equalConstantTime,
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
import {
  type Attempt,
  createAgentEndpoint,
  type Dispatcher,
  formerSecretContext,
  signingSecretContext,
} from "@svc/delivery";
import { complete, type McpContext, type McpError, type McpOutcome, type Params, refused } from "@svc/tools";
import type { AgentEventsContext } from "./context.ts";
import { type CallbackFailure, callbackFailed, exhausted, forbidden } from "./errors.ts";
import { positionOfNow, type ServedPosition, servedPosition } from "./follow.ts";
import { type CursorScope, openCursor, positionAt, sealCursor, settledMs, timeOfUuid } from "./position.ts";
import { replayFrom } from "./replay.ts";
import { readSubscribe, type SubscribeRequest } from "./subscribe-request.ts";

/** A callback to be asked if it wants events. */
type Callback = { readonly url: string; readonly secret: string; readonly mcpId: string };

/** Asks a callback. Returns the error for the client unless the callback agreed. */
type Challenge = (callback: Callback) => Promise<McpError | undefined>;

/** Milliseconds that a callback has to answer. */
const timeoutMs = 10_000;
/** Requests to one host by this node within a minute, for all callers together. */
const perMinuteMax = 60;
const minuteMs = 60_000;
const hostsMax = 10_000;

/** Creates the challenge. svc posts a word to the callback, which must return it. The address itself is checked when it is dialed. */
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

/** Any answer shows that the server was reached. */
function failureOf({ error, statusCode }: Attempt): CallbackFailure {
  if (statusCode > 0) return "challenge_failed";
  return categoryOf(error);
}

/** Returns the reason that a client may learn of a failed attempt: a word of a closed set. */
function categoryOf(error: string): CallbackFailure {
  if (error.startsWith("timeout")) return "timeout";
  if (error.startsWith("tls_error")) return "tls_error";
  if (error.startsWith("http_5")) return "http_5xx";
  if (error.startsWith("http_")) return "http_4xx";
  return "connection_refused";
}

/** Subscriptions of one key or grant. */
const perKeyMax = 100;
/** Lifetime of a subscription, in milliseconds. The client's wish is limited to this range, and "no end" means its maximum. */
const ttl = { minMs: 60_000, defaultMs: 3_600_000, maxMs: 86_400_000 };
/** Milliseconds after a new secret during which deliveries are also signed with the previous one. */
const formerMs = 600_000;

type SubscribeContext = AgentEventsContext & { readonly challenge: Challenge };
type SubscribeAttempt = {
  readonly request: SubscribeRequest;
  readonly principal: ProjectPrincipal;
  readonly scope: CursorScope;
};

/** Creates events/subscribe. It starts a subscription, or extends the one with the same identity. */
export function createSubscribe(
  events: AgentEventsContext,
): (params: Params, context: McpContext) => Promise<McpOutcome> {
  const subscribing = { ...events, challenge: createChallenge(events) };
  return async (params, context) => {
    const request = readSubscribe(events, params, context);
    if ("error" in request) return refused(request.error);
    const { principal } = context;
    const { projectId } = principal;
    const asked = { request, principal, scope: { ...request, projectId } };
    const known = await agentSubscriptionsForProject(events.db, projectId).find(request.mcpId);
    if (known?.inactiveReason === "deactivated")
      return refused(forbidden("the project paused this subscription; somebody there may enable it again"));
    const isLive =
      known !== undefined && known.inactiveReason !== "revoked" && (known.expiresAt ?? 0) > events.clock.now();
    return isLive ? refresh(subscribing, asked, known) : begin(subscribing, asked);
  };
}

/** Creates a subscription after its callback has agreed. */
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

/** Extends a subscription. One that was given up delivers again, from the cursor on. */
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
      ...secretsAfter(events, known, request.secret),
    },
    nowMs,
  );
  if (made === undefined)
    return refused(forbidden("the key or grant has ended, or the project paused this subscription"));
  // Deliveries in flight continue: the client's cursor is at their position or before it.
  if (known.active)
    return complete({ ...answerOf(made, { cursor: made.cursor, truncated: false }), deliveryStatus: status });
  return complete({ ...(await resumed(events, asked, made, served)), deliveryStatus: status });
}

/** Returns the start of a subscription: the client's cursor if it can be served, otherwise now. */
async function beginAt(
  events: AgentEventsContext,
  scope: CursorScope,
  { cursor, maxAgeMs }: Pick<SubscribeRequest, "cursor" | "maxAgeMs">,
): Promise<ServedPosition> {
  const known = cursor === null ? undefined : openCursor(events.sealer, scope, cursor);
  if (known !== undefined) return servedPosition(events, scope, known, maxAgeMs);
  return { position: await positionOfNow(events, scope), truncated: cursor !== null };
}

/** Queues the events that a restarted subscription has missed since its position, and returns the answer. */
async function resumed(
  events: AgentEventsContext,
  { request, principal, scope }: SubscribeAttempt,
  made: Subscription,
  { position, truncated }: ServedPosition,
) {
  // Every node now routes to it: events stored before are found, and later ones are delivered anyway.
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

/** Returns a position before which nothing is pending: that of the oldest pending delivery, or a while before now. */
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
  // The position never moves back, so that an earlier answer stays valid.
  const position = before !== undefined && timeOfUuid(before.fromUuid) >= pendingAt ? before : positionAt(pendingAt);
  return { position, truncated: false };
}

/** Returns the secrets after the client's present one is added. The previous one also signs for a while. */
function secretsAfter({ sealer, clock }: AgentEventsContext, known: Subscription, secret: string) {
  const { id, projectId, signingSecret, formerSecret, formerUntil } = known;
  const present = sealer.open(signingSecret, signingSecretContext(projectId, id)).toString("utf8");
  if (present === secret) return { signingSecret, formerSecret, formerUntil };
  return {
    signingSecret: sealer.seal(Buffer.from(secret, "utf8"), signingSecretContext(projectId, id)),
    formerSecret: sealer.seal(Buffer.from(present, "utf8"), formerSecretContext(projectId, id)),
    formerUntil: clock.now() + formerMs,
  };
}

/** Returns how deliveries went until this refresh. */
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

/** Returns the lifetime that is granted for a requested one, in milliseconds. */
function grantedMs(ttlMs: number | null | undefined): number {
  if (ttlMs === undefined) return ttl.defaultMs;
  return ttlMs === null ? ttl.maxMs : Math.min(Math.max(ttlMs, ttl.minMs), ttl.maxMs);
}
