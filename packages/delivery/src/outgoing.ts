import { type DeliveryId, type EventId, isoTime, type ProjectId, type SubscriptionId } from "@svc/core";
import type { Endpoint } from "./endpoint.ts";

/** The values of an event that the body of a delivery contains. */
export type DeliveredEvent = {
  id: EventId;
  /**
   * Kind of the body that svc sends. `event`: an event. `test`: a test event. `ask`: a question of a job to a person. `notice`: an
   * operational event about a schedule, in the format of questions.
   */
  kind: "event" | "test" | "ask" | "notice";
  toolkitSlug: string;
  triggerSlug: string;
  entityId: string;
  /**
   * JSON text of the payload, inserted unchanged into the body. For the kinds `ask` and `notice`, the payload is a JSON object, and its
   * fields follow `id` and `type` in the body.
   */
  payload: string;
  occurredAtMs: number;
  receivedAtMs: number;
  /** The span that stored the event, as a W3C `traceparent`. */
  traceparent?: string | null | undefined;
};

/** Returns the body that is posted for an event. Its bytes are the same at every attempt and for every subscription. */
export function deliveryBody(event: DeliveredEvent): Buffer {
  if (event.kind === "ask") {
    return Buffer.from(`{"id":"${event.id}","type":"ask_raised",${event.payload.slice(1)}`, "utf8");
  }
  if (event.kind === "notice") {
    const type = event.triggerSlug.replace(/^svc\.schedule_/, "standing_");
    return Buffer.from(`{"id":"${event.id}","type":"${type}",${event.payload.slice(1)}`, "utf8");
  }
  const text =
    `{"id":"${event.id}","type":"${event.kind}","toolkitSlug":${JSON.stringify(event.toolkitSlug)},` +
    `"triggerSlug":${JSON.stringify(event.triggerSlug)},"entityId":${JSON.stringify(event.entityId)},` +
    `"occurredAt":"${isoTime(event.occurredAtMs)}","receivedAt":"${isoTime(event.receivedAtMs)}","payload":${event.payload}}`;
  return Buffer.from(text, "utf8");
}

/** Returns an event as JSON text in the form of MCP. `cursor`: absent if the surrounding response already contains a cursor. */
export function occurrenceText(event: DeliveredEvent, cursor?: string): string {
  const { id, triggerSlug, entityId, occurredAtMs, payload } = event;
  return (
    `{"eventId":"${id}","name":${JSON.stringify(triggerSlug)},"timestamp":"${isoTime(occurredAtMs)}","data":${payload}` +
    `${cursor === undefined ? "" : `,"cursor":${JSON.stringify(cursor)}`}` +
    `${entityId === "" ? "" : `,"_meta":{"svc/entityId":${JSON.stringify(entityId)}}`}}`
  );
}

/**
 * Returns the event type as it is written in the formats of other standards (Standard Webhooks, CloudEvents). It is the name of the
 * project's own event type, the slug of the trigger for events of apps, or `test`.
 */
function typeOf({ kind, triggerSlug }: DeliveredEvent): string {
  if (kind === "test") return "test";
  return triggerSlug.startsWith(ownPrefix) ? triggerSlug.slice(ownPrefix.length) : triggerSlug;
}

/** Prefix of the slugs of a project's own event types. */
const ownPrefix = "events.";

/** Returns an event as Standard Webhooks recommends: type, timestamp and data. */
function standardText(event: DeliveredEvent): string {
  return `{"type":${JSON.stringify(typeOf(event))},"timestamp":"${isoTime(event.occurredAtMs)}","data":${event.payload}}`;
}

/** Returns the attributes of an event as CloudEvents 1.0 names them. An event without an entity (customer or user) has no subject. */
function cloudAttributes(event: DeliveredEvent): readonly (readonly [name: string, value: string])[] {
  const { id, toolkitSlug, entityId, occurredAtMs } = event;
  return [
    ["specversion", "1.0"],
    ["id", id],
    ["source", `/toolkits/${toolkitSlug || "svc"}`],
    ["type", typeOf(event)],
    ...(entityId === "" ? [] : [["subject", entityId] as const]),
    ["time", isoTime(occurredAtMs)],
  ];
}

/** Returns an event in the structured form of CloudEvents. */
function cloudEventText(event: DeliveredEvent): string {
  const attributes = cloudAttributes(event).map(([name, value]) => `"${name}":${JSON.stringify(value)}`);
  return `{${attributes.join(",")},"datacontenttype":"application/json","data":${event.payload}}`;
}

/**
 * Returns the attributes of an event as headers, for the binary form of CloudEvents. Values are percent-encoded as the HTTP binding of
 * CloudEvents says.
 */
function cloudHeaders(event: DeliveredEvent): string[] {
  return cloudAttributes(event).flatMap(([name, value]) => [
    `ce-${name}`,
    value.toWellFormed().replaceAll(/[^\x21\x23\x24\x26-\x7e]/gu, encodeURIComponent),
  ]);
}

/**
 * Makes the body of a delivery from the subscription's template. Returns the body, or a fault if it cannot be made. The fault contains no
 * data of the event.
 */
export type BodyRenderer = (
  projectId: ProjectId,
  bodyJson: string,
  event: DeliveredEvent,
) => Promise<{ readonly body: string } | { readonly fault: string }>;

/** A delivery that this node may send, because it holds the delivery's lease (the exclusive right to it for a limited time). */
export type OutgoingDelivery = {
  id: DeliveryId;
  projectId: ProjectId;
  subscriptionId: SubscriptionId;
  /** Due time of the delivery in the queue, in epoch milliseconds. It is part of the key of the row in `delivery_tasks`. */
  queuedForMs: number;
  /** Number of attempts that svc has made before for this delivery. */
  attempts: number;
  /** True if the delivery is a probe: it tests an endpoint that is in backoff. False for an ordinary delivery. */
  probe: boolean;
  endpoint: Endpoint;
  /**
   * Id by which the receiver recognizes a repeated message. With svc's own payload format: the delivery's id. With any other payload
   * format: the event's id.
   */
  messageId: string;
  body: Buffer;
  /**
   * The event, if the subscription has its own template for the body. The body is then made when the attempt begins, and `body` contains
   * only the event's payload. Undefined for all other bodies.
   */
  custom?: DeliveredEvent | undefined;
  /** Headers that belong to the format of the body, as a flat list. Absent if the body is plain JSON. */
  bodyHeaders?: readonly string[] | undefined;
  receivedAtMs: number;
  leaseUntilMs: number;
  /** True if a throttled replay queued the delivery. It is then sent only when no delivery of a new event waits. */
  behind: boolean;
  /** The span that stored the event, as a W3C `traceparent`. */
  traceparent: string | null;
};

/**
 * Values of a delivery that this node needs to send it. The delivery was either just stored with a lease for this node (reserved for it),
 * or claimed from the queue.
 */
type DeliveryToSend = Pick<OutgoingDelivery, "id" | "projectId" | "subscriptionId"> &
  Partial<Pick<OutgoingDelivery, "queuedForMs" | "attempts" | "probe" | "behind">>;

/**
 * Returns the delivery in the form in which it is sent. `leaseUntilMs`: the time until which this node holds the delivery's lease (may send
 * it), in epoch milliseconds.
 */
export function outgoingOf(
  event: DeliveredEvent,
  delivery: DeliveryToSend,
  endpoint: Endpoint,
  leaseUntilMs: number,
): OutgoingDelivery {
  const { id, projectId, subscriptionId, queuedForMs = event.receivedAtMs } = delivery;
  const { attempts = 0, probe = false, behind = false } = delivery;
  const messageId = endpoint.agent === undefined && endpoint.format === undefined ? id : event.id;
  const task = { id, projectId, subscriptionId, queuedForMs, attempts, probe, behind };
  const { receivedAtMs, traceparent = null } = event;
  return { ...task, endpoint, messageId, ...bodyFor(endpoint, event), receivedAtMs, leaseUntilMs, traceparent };
}

/** Returns the body of a delivery in the form that the endpoint expects. If this form is not plain JSON, also returns its headers. */
export function bodyFor(
  { agent, format }: Pick<Endpoint, "agent" | "format">,
  event: DeliveredEvent,
): Pick<OutgoingDelivery, "body" | "bodyHeaders" | "custom"> {
  if (agent !== undefined) return { body: Buffer.from(occurrenceText(event, agent.cursor), "utf8") };
  switch (format?.kind) {
    case "standard":
      return { body: Buffer.from(standardText(event), "utf8") };
    case "cloudevents":
      return {
        body: Buffer.from(cloudEventText(event), "utf8"),
        bodyHeaders: ["content-type", "application/cloudevents+json"],
      };
    case "custom":
      return { body: Buffer.from(event.payload, "utf8"), custom: event };
    case "cloudevents_binary":
      return {
        body: Buffer.from(event.payload, "utf8"),
        bodyHeaders: ["content-type", "application/json", ...cloudHeaders(event)],
      };
    default:
      return { body: deliveryBody(event) };
  }
}
