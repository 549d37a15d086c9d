import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Trigger, Webhook } from "@svc/catalog";
import { type DeliveryId, type SubscriptionId, timeOfId } from "@svc/core";
import {
  type AttemptEntry,
  type Delivery,
  type DeliveryCounts,
  type Event,
  firstEventAt,
  type ReplayRecord,
  type ReplayState,
  type Subscription,
  type SubscriptionProgress,
} from "@svc/db";
import {
  type AgentSubscription,
  AgentSubscriptionSchema,
  type DeliveryAttempt as DeliveryAttemptMessage,
  DeliveryAttemptSchema,
  type Delivery as DeliveryMessage,
  DeliverySchema,
  type Event as EventMessage,
  EventSchema,
  type IngestEndpoint,
  IngestEndpointSchema,
  type ReplayCount,
  ReplayCountSchema,
  type Replay as ReplayMessage,
  ReplaySchema,
  ReplayState as ReplayStateMessage,
  type SubscriptionHealth,
  SubscriptionHealthSchema,
  type Subscription as SubscriptionMessage,
  SubscriptionSchema,
} from "@svc/gen/triggers";

/** A subscription as callers read it: without its secret. Its health is that of `nowMs`; all of it with its progress. */
export function subscriptionMessage(
  row: Subscription,
  nowMs: number,
  progress?: SubscriptionProgress,
): SubscriptionMessage {
  return create(SubscriptionSchema, {
    id: row.id,
    endpointUrl: row.endpointUrl,
    toolkitSlug: row.toolkitSlug,
    triggerSlug: row.triggerSlug,
    active: row.active,
    inactiveReason: row.inactiveReason,
    createdAt: timestampFromMs(row.createdAt),
    health: healthMessage(row, nowMs, progress),
    entityId: row.entityId,
    ...(row.keyId !== null && { agent: agentMessage(row, row.keyId) }),
  });
}

function agentMessage({ mcpId, expiresAt }: Subscription, keyId: string): AgentSubscription {
  return create(AgentSubscriptionSchema, { id: mcpId, keyId, ...optionalTime("refreshBefore", expiresAt) });
}

/** What is known of an endpoint's health by its subscription's row. */
export function healthMessage(
  row: Pick<Subscription, "active" | "failingSince" | "backoffUntil">,
  nowMs: number,
  { lastSuccessAt, pending }: Partial<SubscriptionProgress> = {},
): SubscriptionHealth {
  const { active, failingSince, backoffUntil } = row;
  const isHeldBack = active && backoffUntil !== null && backoffUntil > nowMs;
  const state = failingSince === null ? "well" : isHeldBack ? "backing_off" : "failing";
  return create(SubscriptionHealthSchema, {
    state: active ? state : "inactive",
    ...optionalTime("failingSince", failingSince),
    ...(isHeldBack && { backoffUntil: timestampFromMs(backoffUntil) }),
    ...optionalTime("lastSuccessAt", lastSuccessAt ?? null),
    pendingDeliveries: pending ?? 0,
  });
}

/** An event as callers read it, with how its deliveries stand where that was asked for. */
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
  });
}

/** A delivery as callers read it. Its id carries when it was made. */
export function deliveryMessage(row: Delivery): DeliveryMessage {
  return create(DeliverySchema, {
    id: row.id,
    eventId: row.eventId,
    subscriptionId: row.subscriptionId,
    state: row.state,
    attempts: row.attempts,
    lastError: row.lastError,
    replayed: row.replayed,
    createdAt: timestampFromMs(timeOfId(row.id)),
    ...optionalTime("lastAttemptAt", row.lastAttemptAt),
    ...optionalTime("nextAttemptAt", row.nextAttemptAt),
  });
}

/** An attempt as callers read it. */
export function attemptMessage(deliveryId: DeliveryId, entry: AttemptEntry): DeliveryAttemptMessage {
  return create(DeliveryAttemptSchema, {
    deliveryId,
    number: entry.number,
    at: timestampFromMs(entry.startedAt),
    durationMs: entry.durationMs,
    address: entry.address,
    statusCode: entry.statusCode,
    error: entry.error,
    responseHeaders: entry.responseHeaders,
    responseBody: entry.responseBody,
    requestUrl: entry.requestUrl,
  });
}

const replayStates: Readonly<Record<ReplayState, ReplayStateMessage>> = {
  running: ReplayStateMessage.RUNNING,
  paused: ReplayStateMessage.PAUSED,
  done: ReplayStateMessage.DONE,
  cancelled: ReplayStateMessage.CANCELLED,
};

/** A paced replay as callers read it. Its position is an event's id once it came to one. */
export function replayMessage(row: ReplayRecord): ReplayMessage {
  const hasBegun = row.positionEventId !== firstEventAt(row.since);
  return create(ReplaySchema, {
    id: row.id,
    state: replayStates[row.state],
    reason: row.reason,
    waitsFor: row.waitsForId ?? "",
    since: timestampFromMs(row.since),
    until: timestampFromMs(row.until),
    toolkitSlug: row.toolkitSlug,
    triggerSlug: row.triggerSlug,
    subscriptionId: row.subscriptionId ?? "",
    onlyUndelivered: row.onlyUndelivered,
    perSecond: row.perSecond,
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

/** How much of a count is each subscription's, ordered by its id. */
export function replayCountMessages(counts: ReadonlyMap<SubscriptionId, number>): ReplayCount[] {
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([subscriptionId, count]) => create(ReplayCountSchema, { subscriptionId, count: counted(count) }));
}

/** The wire's numbers have 32 bits. */
function counted(count: number): number {
  return Math.min(count, 0xffffffff);
}

function optionalTime<Name extends string>(name: Name, ms: number | null): { [key in Name]?: Timestamp } {
  return ms === null ? {} : ({ [name]: timestampFromMs(ms) } as { [key in Name]: Timestamp });
}

/** An inbound path as the contract has it; its sample is made at `nowMs`. */
export function ingestEndpointMessage(
  { slug, webhook, trigger }: { slug: string; webhook: Webhook; trigger: Trigger | undefined },
  secretSet: boolean,
  nowMs: number,
): IngestEndpoint {
  const { scheme, secretEnv } = webhook;
  const { header = "", prefix = "", encoding = "" } = scheme === "hmac_sha256" ? webhook : {};
  const parameter = scheme === "token_query" ? webhook.parameter : "";
  const signing = { header, prefix, encoding, parameter };
  const base = { toolkitSlug: slug, path: `/webhooks/${slug}`, scheme, secretEnv, secretSet, ...signing };
  if (trigger === undefined) return create(IngestEndpointSchema, base);
  const { headers, query, body } = trigger.sample(nowMs);
  const bodyJson = body === undefined ? "" : JSON.stringify(body);
  return create(IngestEndpointSchema, { ...base, sample: { triggerSlug: trigger.slug, headers, query, bodyJson } });
}
