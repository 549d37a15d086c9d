import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type DeliveryId, timeOfId } from "@svc/core";
import type { AttemptEntry, Delivery, Event, Subscription } from "@svc/db";
import {
  type DeliveryAttempt as DeliveryAttemptMessage,
  DeliveryAttemptSchema,
  type Delivery as DeliveryMessage,
  DeliverySchema,
  type Event as EventMessage,
  EventSchema,
  type Subscription as SubscriptionMessage,
  SubscriptionSchema,
} from "@svc/gen/triggers";

/** A subscription as callers read it: without its secret. */
export function subscriptionMessage(row: Subscription): SubscriptionMessage {
  return create(SubscriptionSchema, {
    id: row.id,
    endpointUrl: row.endpointUrl,
    toolkitSlug: row.toolkitSlug,
    triggerSlug: row.triggerSlug,
    active: row.active,
    inactiveReason: row.inactiveReason,
    createdAt: timestampFromMs(row.createdAt),
  });
}

/** An event as callers read it. */
export function eventMessage(row: Event): EventMessage {
  return create(EventSchema, {
    id: row.id,
    toolkitSlug: row.toolkitSlug,
    triggerSlug: row.triggerSlug,
    entityId: row.entityId,
    payloadJson: row.payload,
    occurredAt: timestampFromMs(row.occurredAt),
    receivedAt: timestampFromMs(row.receivedAt),
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

function optionalTime<Name extends string>(name: Name, ms: number | null): { [key in Name]?: Timestamp } {
  return ms === null ? {} : ({ [name]: timestampFromMs(ms) } as { [key in Name]: Timestamp });
}
