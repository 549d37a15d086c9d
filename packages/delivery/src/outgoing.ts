import type { DeliveryId, ProjectId, SubscriptionId } from "@svc/core";
import type { Endpoint } from "./endpoint.ts";

/** A delivery whose lease this node holds. */
export type OutgoingDelivery = {
  id: DeliveryId;
  projectId: ProjectId;
  subscriptionId: SubscriptionId;
  /** Attempts made before. */
  attempts: number;
  /** True when it probes an endpoint that is backing off. */
  probe: boolean;
  endpoint: Endpoint;
  body: Buffer;
  receivedAtMs: number;
  leaseUntilMs: number;
};
