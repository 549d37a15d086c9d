import type { AddressGuard, Clock, NodeId, ProjectId, Sealer, SubscriptionId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { Endpoint, EndpointCache } from "./endpoint.ts";
import type { DispatchLimits } from "./limits.ts";
import type { DeliveryObserver } from "./observer.ts";
import type { OutgoingDelivery } from "./outgoing.ts";
import type { Attempt } from "./send.ts";
import type { Message } from "./sender.ts";

/** Dependencies and settings of a dispatcher. */
export type DispatcherOptions = {
  db: Executor;
  clock: Clock;
  sealer: Sealer;
  guard: AddressGuard;
  nodeId: NodeId;
  observer: DeliveryObserver;
  limits: DispatchLimits;
  /** Spreads retries. Returns a number in [0, 1). */
  random: () => number;
};

/** The delivery engine of one node. */
export type Dispatcher = {
  /** Endpoints ready to send to, shared with the code that submits deliveries. */
  readonly endpoints: EndpointCache;
  /** Milliseconds that the leases of `submit` must last. */
  readonly leaseMs: number;
  /**
   * Returns the number of a subscription's deliveries that it would send at once. 0 if the engine is not running or is full, if the project
   * has used its share of the node, or if the endpoint is in backoff.
   */
  room(id: SubscriptionId, projectId: ProjectId): number;
  /**
   * Sends deliveries that were stored with leases of this node. `unleased` names the subscriptions that have more deliveries, without a
   * lease, stored in the same transaction; the engine claims them when it has room.
   */
  submit(deliveries: readonly OutgoingDelivery[], unleased?: ReadonlySet<SubscriptionId>): void;
  /** Starts to claim due deliveries. */
  start(): void;
  /** Claims due deliveries now. */
  wake(): void;
  /** Ends the pending deliveries of a subscription that was deactivated or deleted. */
  expire(id: SubscriptionId): Promise<void>;
  /** Posts a message that is not an event to an agent's endpoint, once and at once. Resolves to the attempt within `timeoutMs`. */
  tell(endpoint: Endpoint, message: Message, timeoutMs: number): Promise<Attempt>;
  /** Claims nothing more, waits at most `graceMs` for the attempts in flight, and returns every other lease. */
  drain(graceMs: number): Promise<void>;
  stats(): { held: number; inFlight: number };
};
