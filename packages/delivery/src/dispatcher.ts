import type { AddressGuard, Clock, NodeId, ProjectId, Sealer, SubscriptionId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { OperationalFilters } from "@svc/db/events/operational";
import type { Endpoint, EndpointCache } from "./endpoint.ts";
import type { DispatchLimits } from "./limits.ts";
import type { DeliveryObserver } from "./observer.ts";
import type { BodyRenderer, OutgoingDelivery } from "./outgoing.ts";
import type { Attempt } from "./send.ts";
import type { Message } from "./sender.ts";

/** Settings and dependencies of a dispatcher, which takes the due deliveries of one node from the database and sends them. */
export type DispatcherOptions = {
  db: Executor;
  clock: Clock;
  sealer: Sealer;
  guard: AddressGuard;
  /** Makes the bodies of deliveries to subscriptions that have their own template for the body. */
  renderBody?: BodyRenderer | undefined;
  /** Applies the filters of subscriptions to the operational events about endpoints and deliveries. */
  filters: OperationalFilters;
  nodeId: NodeId;
  observer: DeliveryObserver;
  limits: DispatchLimits;
  /**
   * Returns a random number from 0 up to, but not including, 1. The waits before retries are varied with it, so that many failed deliveries
   * are not tried again at the same moment.
   */
  random: () => number;
};

/** The delivery engine of one node. */
export type Dispatcher = {
  /** Cache of endpoints that are ready for sending. Code that calls `submit` takes the endpoints of its deliveries from this cache. */
  readonly endpoints: EndpointCache;
  /**
   * Duration in milliseconds for which a delivery must be leased to this node (reserved for it) when the delivery is passed to `submit`.
   */
  readonly leaseMs: number;
  /**
   * Returns how many deliveries of a subscription the engine would send at once. Returns 0 if the engine is not running or is full, if the
   * project has used its share of the node, or if the endpoint is in backoff.
   */
  room(id: SubscriptionId, projectId: ProjectId): number;
  /**
   * Sends deliveries that are reserved for this node. `unleased`: subscriptions with more due deliveries, which this node reserves when it
   * has room.
   */
  submit(deliveries: readonly OutgoingDelivery[], unleased?: ReadonlySet<SubscriptionId>): void;
  /** Starts claiming due deliveries. */
  start(): void;
  /** Makes the engine claim due deliveries now, without waiting for its next regular claim. */
  wake(): void;
  /** Ends the pending deliveries of a subscription that was deactivated or deleted. */
  expire(id: SubscriptionId): Promise<void>;
  /**
   * Posts a message that is not an event to an agent's endpoint, once and without delay. Resolves to the attempt's result within
   * `timeoutMs`.
   */
  tell(endpoint: Endpoint, message: Message, timeoutMs: number): Promise<Attempt>;
  /**
   * Stops taking deliveries and waits at most `graceMs` for the running attempts. Then aborts the remaining attempts, and releases all
   * deliveries that this node has reserved.
   */
  drain(graceMs: number): Promise<void>;
  stats(): { held: number; inFlight: number };
};
