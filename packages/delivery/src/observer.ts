import type { DeliveryId, ProjectId, SubscriptionId } from "@svc/core";

/** One delivery attempt, as it is reported to logs and metrics. */
export type AttemptObservation = {
  deliveryId: DeliveryId;
  projectId: ProjectId;
  subscriptionId: SubscriptionId;
  /** Number of the attempt, from 1. */
  number: number;
  /** State of the delivery after the attempt. */
  state: "pending" | "delivered" | "dead_letter";
  /** HTTP status with which the endpoint answered the attempt. 0 if it did not answer. */
  statusCode: number;
  /** Error of the attempt: a text that begins with an error code. Empty if the event was delivered. */
  error: string;
  durationMs: number;
  /** Milliseconds from the event's receipt to the end of this attempt. */
  sinceReceivedMs: number;
};

/**
 * How svc authenticated itself to an endpoint with OAuth2. `token`: the token endpoint answered with an access token. `failed`: it did not.
 * `refused`: the endpoint refused a token with 401.
 */
export type EndpointAuthOutcome = "token" | "failed" | "refused";

/** Receives the observations of the delivery engine. packages/server turns them into log lines and metrics. */
export type DeliveryObserver = {
  /** Called when an attempt to send a delivery has ended, before the attempt is stored. */
  attempted(attempt: AttemptObservation): void;
  /** Called when a request for an access token has ended, and when an endpoint refused such a token. */
  authenticated(outcome: EndpointAuthOutcome): void;
  /**
   * Called when attempts ended too late to be stored, because this node's leases of the deliveries had expired. `count`: number of
   * attempts. A different node delivers the events again.
   */
  leasesLost(count: number): void;
  /**
   * Called when the engine failed to do one of these operations on a batch of deliveries, for example to claim them. The engine tries
   * again.
   */
  failed(what: "claim" | "settle" | "release" | "health" | "expire", error: unknown): void;
};
