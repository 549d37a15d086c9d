import type { AddressGuard, Clock, NodeId, ProjectId, Sealer, SubscriptionId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { Endpoint, EndpointCache } from "./endpoint.ts";
import type { DispatchLimits } from "./limits.ts";
import type { DeliveryObserver } from "./observer.ts";
import type { OutgoingDelivery } from "./outgoing.ts";
import type { Attempt } from "./send.ts";
import type { Message } from "./sender.ts";

/** Dependencies of a dispatcher, and its settings. */
export type DispatcherOptions = {
  db: Executor;
  clock: Clock;
  sealer: Sealer;
  guard: AddressGuard;
  nodeId: NodeId;
  observer: DeliveryObserver;
  limits: DispatchLimits;
  /** Returns a random number in [0, 1). It spreads retries over time. */
  random: () => number;
};

/** The delivery engine of one node. */
export type Dispatcher = {
  /** Endpoints that are ready for sending. The code that submits deliveries uses the same cache. */
  readonly endpoints: EndpointCache;
  /** Duration that the leases of deliveries passed to `submit` must have, in milliseconds. */
  readonly leaseMs: number;
  /**
   * Returns how many deliveries of a subscription the engine would send at once. Returns 0 if the engine is not running or is full, if the
   * project has used its share of the node, or if the endpoint is in backoff.
   */
  room(id: SubscriptionId, projectId: ProjectId): number;
  /**
   * Sends deliveries that were stored with leases of this node. `unleased`: subscriptions for which the same transaction stored further
   * deliveries without a lease. The engine claims those when it has room.
   */
  submit(deliveries: readonly OutgoingDelivery[], unleased?: ReadonlySet<SubscriptionId>): void;
  /** Starts claiming due deliveries. */
  start(): void;
  /** Claims due deliveries now. */
  wake(): void;
  /** Ends the pending deliveries of a subscription that was deactivated or deleted. */
  expire(id: SubscriptionId): Promise<void>;
  /**
   * Posts a message that is not an event to an agent's endpoint. It makes one attempt at once, and resolves to the attempt within
   * `timeoutMs`.
   */
  tell(endpoint: Endpoint, message: Message, timeoutMs: number): Promise<Attempt>;
  /** Stops claiming deliveries, waits at most `graceMs` for the attempts in flight, and returns all other leases. */
  drain(graceMs: number): Promise<void>;
  stats(): { held: number; inFlight: number };
};
