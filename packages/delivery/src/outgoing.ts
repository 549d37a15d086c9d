import type { DeliveryId, ProjectId, SubscriptionId } from "@svc/core";
import type { ClaimedDelivery } from "@svc/db";
import { bodyFor } from "./body.ts";
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

/** A delivery that this node has claimed, with what is sent of it to its endpoint. */
export function outgoingOf(claimed: ClaimedDelivery, endpoint: Endpoint): OutgoingDelivery {
  return {
    id: claimed.id,
    projectId: claimed.projectId,
    subscriptionId: claimed.subscriptionId,
    queuedForMs: claimed.queuedForMs,
    attempts: claimed.attempts,
    probe: claimed.probe,
    behind: claimed.behind,
    endpoint,
    messageId: endpoint.agent === undefined ? claimed.id : claimed.event.id,
    body: bodyFor(endpoint, claimed.event),
    receivedAtMs: claimed.event.receivedAtMs,
    leaseUntilMs: claimed.leaseUntilMs,
  };
}
