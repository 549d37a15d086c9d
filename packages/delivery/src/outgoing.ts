import { type DeliveryId, type EventId, isoTime, type ProjectId, type SubscriptionId } from "@svc/core";
import type { Endpoint } from "./endpoint.ts";

/** What the body of a delivery is made of. */
export type DeliveredEvent = {
  id: EventId;
  kind: "event" | "test" | "ask" | "notice";
  toolkitSlug: string;
  triggerSlug: string;
  entityId: string;
  /** JSON text, placed as it is; of an ask, an object whose fields follow `id` and `type`; of a notice, one whose fields follow `id`. */
  payload: string;
  occurredAtMs: number;
  receivedAtMs: number;
};

/** The body posted for an event: the same bytes at every attempt and for every subscription. */
export function deliveryBody(event: DeliveredEvent): Buffer {
  if (event.kind === "ask") {
    return Buffer.from(`{"id":"${event.id}","type":"ask_raised",${event.payload.slice(1)}`, "utf8");
  }
  if (event.kind === "notice") return Buffer.from(`{"id":"${event.id}",${event.payload.slice(1)}`, "utf8");
  const text =
    `{"id":"${event.id}","type":"${event.kind}","toolkitSlug":${JSON.stringify(event.toolkitSlug)},` +
    `"triggerSlug":${JSON.stringify(event.triggerSlug)},"entityId":${JSON.stringify(event.entityId)},` +
    `"occurredAt":"${isoTime(event.occurredAtMs)}","receivedAt":"${isoTime(event.receivedAtMs)}","payload":${event.payload}}`;
  return Buffer.from(text, "utf8");
}

/** An event as MCP writes it. `cursor` is left out where the answer around it has one. */
export function occurrenceText(event: DeliveredEvent, cursor?: string): string {
  const { id, triggerSlug, entityId, occurredAtMs, payload } = event;
  return (
    `{"eventId":"${id}","name":${JSON.stringify(triggerSlug)},"timestamp":"${isoTime(occurredAtMs)}","data":${payload}` +
    `${cursor === undefined ? "" : `,"cursor":${JSON.stringify(cursor)}`}` +
    `${entityId === "" ? "" : `,"_meta":{"svc/entityId":${JSON.stringify(entityId)}}`}}`
  );
}

/** A delivery whose lease this node holds. */
export type OutgoingDelivery = {
  id: DeliveryId;
  projectId: ProjectId;
  subscriptionId: SubscriptionId;
  /** When it was due; with id and subscription it names the task. */
  queuedForMs: number;
  /** Attempts made before. */
  attempts: number;
  /** True when it probes an endpoint that is backing off. */
  probe: boolean;
  endpoint: Endpoint;
  /** What its receiver tells twins by: the event's id where MCP has it so, else the delivery's. */
  messageId: string;
  body: Buffer;
  receivedAtMs: number;
  leaseUntilMs: number;
  /** Whether a paced replay queued it: it is sent where nothing live waits. */
  behind: boolean;
};

/** A delivery of an event: at its first send, which nothing has queued before, or as it was claimed. */
type DeliveryToSend = Pick<OutgoingDelivery, "id" | "projectId" | "subscriptionId"> &
  Partial<Pick<OutgoingDelivery, "queuedForMs" | "attempts" | "probe" | "behind">>;

/** Returns what this node sends of a delivery that it leased until then. */
export function outgoingOf(
  event: DeliveredEvent,
  delivery: DeliveryToSend,
  endpoint: Endpoint,
  leaseUntilMs: number,
): OutgoingDelivery {
  const { id, projectId, subscriptionId, queuedForMs = event.receivedAtMs } = delivery;
  const { attempts = 0, probe = false, behind = false } = delivery;
  const messageId = endpoint.agent === undefined ? id : event.id;
  const body = bodyFor(endpoint, event);
  const task = { id, projectId, subscriptionId, queuedForMs, attempts, probe, behind };
  return { ...task, endpoint, messageId, body, receivedAtMs: event.receivedAtMs, leaseUntilMs };
}

/** The body for one endpoint: the service's own form, or an EventOccurrence of MCP's for an agent's receiver. */
function bodyFor({ agent }: Pick<Endpoint, "agent">, event: DeliveredEvent): Buffer {
  if (agent === undefined) return deliveryBody(event);
  return Buffer.from(occurrenceText(event, agent.cursor), "utf8");
}
