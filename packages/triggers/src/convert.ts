import { create } from "@bufbuild/protobuf";
import { durationFromMs, type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { deliveryFailure, isoTime, type SubscriptionId, timeOfId } from "@svc/core";
import type { DeliveryCounts } from "@svc/db/deliveries/read";
import type { DeliveryEndpoint, EndpointTimes } from "@svc/db/deliveries/read-endpoint-times";
import type { Delivery } from "@svc/db/deliveries/repo";
import type { SubscriptionRetry } from "@svc/db/documents/subscriptions";
import type { Event } from "@svc/db/events/repo";
import { firstEventAt, type ReplayRecord } from "@svc/db/replays/repo";
import type { ReplayState } from "@svc/db/schema/words";
import type { SubscriptionProgress } from "@svc/db/subscriptions/read-progress";
import type { Subscription } from "@svc/db/subscriptions/repo";
import { type QuarantinedPost as QuarantinedPostMessage, QuarantinedPostSchema } from "@svc/gen/admin";
import {
  type AgentSubscription,
  AgentSubscriptionSchema,
  type Delivery as DeliveryMessage,
  DeliverySchema,
  type Event as EventMessage,
  EventSchema,
  type ReplayCount,
  ReplayCountSchema,
  type Replay as ReplayMessage,
  ReplaySchema,
  ReplayState as ReplayStateMessage,
  SubscriptionCredentialsSchema,
  SubscriptionFormatSchema,
  type SubscriptionHealth,
  SubscriptionHealthSchema,
  SubscriptionMatchSchema,
  type Subscription as SubscriptionMessage,
  SubscriptionPaceSchema,
  SubscriptionRetrySchema,
  SubscriptionSchema,
} from "@svc/gen/triggers";

import { failureMessage } from "@svc/tools";
import { eventsToolkitSlug } from "./own/toolkit.ts";
import type { OpenedPost } from "./quarantine.ts";
import { paceFields } from "./service/subscription-parts.ts";

/** Values about the endpoint of a subscription that are not in the subscription's row, such as pending deliveries and response times. */
export type EndpointFacts = Partial<SubscriptionProgress & EndpointTimes>;

/**
 * Returns a subscription in the form of the API, without its secret. Its health is computed for the time `nowMs`, from its row and `facts`.
 */
export function subscriptionMessage(row: Subscription, nowMs: number, facts: EndpointFacts = {}): SubscriptionMessage {
  return create(SubscriptionSchema, {
    id: row.id,
    endpointUrl: row.endpointUrl,
    toolkitSlug: row.toolkitSlug,
    triggerSlug: row.triggerSlug,
    active: row.active,
    inactiveReason: row.inactiveReason,
    createdAt: timestampFromMs(row.createdAt),
    health: healthMessage(row, nowMs, facts),
    entityId: row.entityId,
    origin: row.origin,
    pausedBy: row.pausedBy,
    ...(row.keyId !== null && { agent: agentMessage(row, row.keyId) }),
    ...partsOf(row),
    ...optionalTime("pausedAt", row.pausedAt),
    ...optionalTime("formerSecretUntil", row.formerUntil !== null && row.formerUntil > nowMs ? row.formerUntil : null),
  });
}

/**
 * Returns the settings of a subscription as fields of the API message, such as `retry`, `match` and `format`. A field that is not set is
 * absent.
 */
export function partsOf({ settings, triggerSlugs }: Pick<Subscription, "settings" | "triggerSlugs">) {
  const { description = "", filter = "", format, retry, pace, credentials } = settings ?? {};
  return {
    ...(retry && { retry: retryMessage(retry) }),
    ...(pace && { pace: create(SubscriptionPaceSchema, paceFields(pace)) }),
    description,
    ...((filter !== "" || triggerSlugs.length > 0) && {
      match: create(SubscriptionMatchSchema, { triggerSlugs, filter }),
    }),
    ...(format && { format: create(SubscriptionFormatSchema, format) }),
    ...(credentials && {
      credentials: create(SubscriptionCredentialsSchema, { ...credentials, headerNames: [...credentials.headerNames] }),
    }),
  };
}

function retryMessage({ scheduleMs = [], giveUpAfterMs, timeoutMs = 0 }: SubscriptionRetry) {
  return create(SubscriptionRetrySchema, {
    schedule: scheduleMs.map(durationFromMs),
    ...(typeof giveUpAfterMs === "number" && { giveUpAfter: durationFromMs(giveUpAfterMs) }),
    neverGiveUp: giveUpAfterMs === null,
    timeoutMs,
  });
}

function agentMessage({ mcpId, expiresAt }: Subscription, keyId: string): AgentSubscription {
  return create(AgentSubscriptionSchema, { id: mcpId, keyId, ...optionalTime("refreshBefore", expiresAt) });
}

/**
 * Returns the health of an endpoint. It is computed from the subscription's row, and from values such as pending deliveries and response
 * times.
 */
export function healthMessage(
  row: Pick<Subscription, "active" | "failingSince" | "backoffUntil"> &
    Partial<Pick<Subscription, "inactiveReason" | "filterFaults">>,
  nowMs: number,
  { lastSuccessAt, pending, pacedUntil, durationsMs = [], lastError = "" }: EndpointFacts = {},
): SubscriptionHealth {
  const { active, failingSince, backoffUntil } = row;
  const isHeldBack = active && backoffUntil !== null && backoffUntil > nowMs;
  const [p50Ms, p99Ms] = [quantile(durationsMs, 0.5), quantile(durationsMs, 0.99)];
  const well = p50Ms >= slowMs ? "slow" : "well";
  const state = !active ? "inactive" : failingSince === null ? well : isHeldBack ? "backing_off" : "failing";
  const health = create(SubscriptionHealthSchema, {
    ...{ state, lastError, p50Ms, p99Ms, measuredAttempts: durationsMs.length },
    ...optionalTime("failingSince", failingSince),
    ...(isHeldBack && { backoffUntil: timestampFromMs(backoffUntil) }),
    ...optionalTime("lastSuccessAt", lastSuccessAt ?? null),
    pendingDeliveries: pending ?? 0,
    ...optionalTime("pacedUntil", active && pacedUntil !== undefined && pacedUntil > nowMs ? pacedUntil : null),
    filterFaults: counted(row.filterFaults ?? 0),
  });
  return { ...health, reason: healthReason(health, { ...row, lastError }) };
}

/** Typical answer time from which an endpoint counts as slow, in milliseconds. */
const slowMs = 2_000;

/** Returns a quantile of sorted values, such as the median if `part` is 0.5. Returns 0 for an empty list. */
function quantile(sorted: readonly number[], part: number): number {
  return Math.round(sorted[Math.ceil(sorted.length * part) - 1] ?? 0);
}

function healthReason(
  { state, p50Ms, measuredAttempts }: SubscriptionHealth,
  row: Pick<Subscription, "failingSince" | "backoffUntil"> & { inactiveReason?: string; lastError: string },
): string {
  const error = row.lastError === "" ? "" : `, last with ${row.lastError}`;
  const since = row.failingSince === null ? "" : ` since ${isoTime(row.failingSince)}`;
  switch (state) {
    case "slow":
      return `half of the latest ${measuredAttempts} attempts took ${p50Ms} ms or longer`;
    case "failing":
      return `attempts fail${since}${error}; one delivery at a time tests the endpoint, and the others follow when it succeeds`;
    case "backing_off":
      return `attempts fail${since}${error}; the next test is at ${isoTime(row.backoffUntil ?? 0)}`;
    case "inactive":
      return `nothing is delivered: ${row.inactiveReason ?? "it is inactive"}`;
    default:
      return "";
  }
}

/** Returns an event in the form of the API, with the counts of its deliveries if the caller requested them. */
export function eventMessage(row: Event, deliveries?: DeliveryCounts): EventMessage {
  return create(EventSchema, {
    id: row.id,
    toolkitSlug: row.toolkitSlug,
    triggerSlug: row.triggerSlug,
    entityId: row.entityId,
    payloadJson: row.payload,
    occurredAt: timestampFromMs(row.occurredAt),
    receivedAt: timestampFromMs(row.receivedAt),
    ...(deliveries && { deliveries }),
    key: row.toolkitSlug === eventsToolkitSlug ? row.dedupeKey : "",
  });
}

/**
 * Returns a delivery in the form of the API. The time of its creation comes from its id. For a pending delivery, the time of its next
 * attempt is computed from the state of the endpoint at the time in `moment`.
 */
export function deliveryMessage(
  row: Delivery,
  endpoint: DeliveryEndpoint | undefined,
  moment: Moment,
): DeliveryMessage {
  const failure = failureOfDelivery(row, endpoint);
  const waits = row.state === "pending" ? waitOf(row, endpoint, moment) : { reason: "", nextAttemptAt: null };
  return create(DeliverySchema, {
    id: row.id,
    eventId: row.eventId,
    subscriptionId: row.subscriptionId,
    state: row.state,
    attempts: row.attempts,
    lastError: row.lastError,
    replayed: row.replayed,
    createdAt: timestampFromMs(timeOfId(row.id)),
    waitingReason: waits.reason,
    ...optionalTime("lastAttemptAt", row.lastAttemptAt),
    ...optionalTime("nextAttemptAt", waits.nextAttemptAt),
    ...(failure && { failure: failureMessage(failure) }),
  });
}

function failureOfDelivery(
  { id, subscriptionId, state, lastError, lastAttemptAt }: Delivery,
  endpoint: DeliveryEndpoint | undefined,
) {
  if (state === "delivered") return undefined;
  const failingSince = state === "pending" ? endpoint?.failingSince : undefined;
  const atMs = lastAttemptAt ?? timeOfId(id);
  return deliveryFailure({ subscriptionId, error: lastError, atMs, state, failingSince });
}

/** Data that explains why a delivery waits. `isHeld`: true if svc sends nothing because its database was restored from a backup. */
type Moment = { readonly nowMs: number; readonly isHeld: boolean };

/** Returns why a pending delivery waits, and the earliest time of its next attempt. */
function waitOf(
  { nextAttemptAt }: Delivery,
  endpoint: DeliveryEndpoint | undefined,
  { nowMs, isHeld }: Moment,
): { reason: string; nextAttemptAt: number | null } {
  if (endpoint?.active !== true) return { reason: "inactive", nextAttemptAt: null };
  if (isHeld) return { reason: "restored", nextAttemptAt: null };
  const dueAt = nextAttemptAt ?? nowMs;
  const opensAt = endpoint.failingSince === null ? undefined : Math.max(endpoint.backoffUntil ?? nowMs, nowMs);
  if (opensAt !== undefined && opensAt >= dueAt) return { reason: "endpoint_failing", nextAttemptAt: opensAt };
  if (dueAt > nowMs) return { reason: "retry", nextAttemptAt: dueAt };
  const pacedUntil = endpoint.pacedUntil ?? 0;
  if (pacedUntil > nowMs || endpoint.isPaceFull) return { reason: "paced", nextAttemptAt: Math.max(pacedUntil, nowMs) };
  return { reason: "turn", nextAttemptAt: dueAt };
}

const replayStates: Readonly<Record<ReplayState, ReplayStateMessage>> = {
  running: ReplayStateMessage.RUNNING,
  paused: ReplayStateMessage.PAUSED,
  done: ReplayStateMessage.DONE,
  cancelled: ReplayStateMessage.CANCELLED,
};

/**
 * Returns a throttled replay in the form of the API. The field for the replay's position contains the id of the last event that the replay
 * has reached. The field is empty before the first event.
 */
export function replayMessage(row: ReplayRecord): ReplayMessage {
  const hasBegun = row.positionEventId !== firstEventAt(row.since);
  return create(ReplaySchema, {
    id: row.id,
    state: replayStates[row.state],
    reason: row.reason,
    waitsFor: row.waitsForId ?? "",
    since: timestampFromMs(row.since),
    ...optionalTime("until", row.until),
    toolkitSlug: row.toolkitSlug,
    triggerSlug: row.triggerSlug,
    subscriptionId: row.subscriptionId ?? "",
    onlyUndelivered: row.onlyUndelivered,
    states: row.onlyFailed ? ["failed"] : [],
    perSecond: row.perSecond,
    origin: row.origin,
    total: counted(row.total),
    totalComplete: row.uncountedFromId === null,
    queued: counted(row.queued),
    position: hasBegun ? row.positionEventId : "",
    positionAt: timestampFromMs(hasBegun ? timeOfId(row.positionEventId) : row.since),
    createdAt: timestampFromMs(row.createdAt),
    updatedAt: timestampFromMs(row.updatedAt),
    ...optionalTime("endedAt", row.endedAt),
  });
}

/** Returns API messages with the number of events that a replay would deliver to each subscription, ordered by subscription id. */
export function replayCountMessages(counts: ReadonlyMap<SubscriptionId, number>): ReplayCount[] {
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([subscriptionId, count]) => create(ReplayCountSchema, { subscriptionId, count: counted(count) }));
}

/** Returns a count limited to the largest 32-bit number, because numbers of the API have 32 bits. */
function counted(count: number): number {
  return Math.min(count, 0xffffffff);
}

function optionalTime<Name extends string>(name: Name, ms: number | null): { [key in Name]?: Timestamp } {
  return ms === null ? {} : ({ [name]: timestampFromMs(Math.trunc(ms)) } as { [key in Name]: Timestamp });
}

/** Returns a quarantined webhook post (which svc could not turn into an event) without its body. */
export function quarantinedPostMessage(post: OpenedPost): QuarantinedPostMessage {
  return create(QuarantinedPostSchema, {
    id: post.id,
    toolkitSlug: post.toolkitSlug,
    reason: post.reason,
    detail: post.detail,
    headers: post.headers,
    query: post.query,
    bodyBytes: post.bodyBytes,
    items: [...(post.items?.indexes ?? [])],
    receivedAt: timestampFromMs(post.receivedAt),
    ...(post.releasedAt === null ? {} : { releasedAt: timestampFromMs(post.releasedAt) }),
  });
}
