import { isoTime, type JsonObject, parseExactJson } from "@svc/core";
import type { ArrivedEvent } from "@svc/db/standing/arrivals";
import type { Occurrence } from "./occurrence.ts";

// It was bounded when it was received.
const unbounded = { depthMax: Number.POSITIVE_INFINITY };

/** An event as definitions name it. */
export function eventOf({ id, triggerSlug, entityId, occurredAt, receivedAt, payload }: ArrivedEvent): JsonObject {
  return {
    ...{ id, triggerSlug, entityId },
    occurredAt: isoTime(occurredAt),
    receivedAt: isoTime(receivedAt),
    payload: parseExactJson(payload, unbounded) as JsonObject,
  };
}

/** What is given beside `fire` of events, the last one being `event`. */
export function givenOfEvents(events: readonly JsonObject[]): JsonObject {
  const event = events.at(-1);
  return { ...(event !== undefined && { event }), events };
}

/** An event as something that is due. */
export function occurrenceOfEvent({ id, receivedAt, payload }: ArrivedEvent, event: JsonObject): Occurrence {
  return {
    kind: "event",
    sourceKey: `e:${id}`,
    fireAt: receivedAt,
    missed: 0,
    previousAt: null,
    callerKeyId: null,
    input: undefined,
    given: givenOfEvents([event]),
    event: { eventId: id, atMs: receivedAt, bytes: Buffer.byteLength(payload) },
  };
}
