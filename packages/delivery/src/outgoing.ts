import type { DeliveryId, ProjectId, SubscriptionId } from "@svc/core";
import { type DeliveredEvent, deliveryBody, occurrenceText } from "./body.ts";
import type { Endpoint } from "./endpoint.ts";

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
