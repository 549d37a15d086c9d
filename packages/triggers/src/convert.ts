import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { timeOfId } from "@svc/core";
import type { Delivery, DeliveryAttempt, Event, Subscription } from "@svc/db";
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
    ...optionalTime("nextAttemptAt", row.dueAt),
  });
}

/** An attempt as callers read it. */
export function attemptMessage(row: DeliveryAttempt): DeliveryAttemptMessage {
  return create(DeliveryAttemptSchema, {
    deliveryId: row.deliveryId,
    number: row.number,
    at: timestampFromMs(row.startedAt),
    durationMs: row.durationMs,
    address: row.address,
    statusCode: row.statusCode,
    error: row.error,
    responseHeaders: row.responseHeaders,
    responseBody: row.responseBody,
    requestUrl: row.requestUrl,
  });
}

function optionalTime<Name extends string>(name: Name, ms: number | null): { [key in Name]?: Timestamp } {
  return ms === null ? {} : ({ [name]: timestampFromMs(ms) } as { [key in Name]: Timestamp });
}
