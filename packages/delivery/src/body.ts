import { type EventId, isoTime } from "@svc/core";

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
