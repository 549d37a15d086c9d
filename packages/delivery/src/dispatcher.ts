import type { AddressGuard, Clock, NodeId, ProjectId, Sealer, SubscriptionId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { Endpoint, EndpointCache } from "./endpoint.ts";
import type { DispatchLimits } from "./limits.ts";
import type { DeliveryObserver } from "./observer.ts";
import type { OutgoingDelivery } from "./outgoing.ts";
import type { Attempt } from "./send.ts";
import type { Message } from "./sender.ts";

/** What a dispatcher is made of. */
export type DispatcherOptions = {
  db: Executor;
  clock: Clock;
  sealer: Sealer;
  guard: AddressGuard;
  nodeId: NodeId;
  observer: DeliveryObserver;
  limits: DispatchLimits;
  /** Spreads retries; in [0, 1). */
  random: () => number;
};

/** The delivery engine of one node. */
export type Dispatcher = {
  /** Endpoints ready to send to, shared with whoever submits. */
  readonly endpoints: EndpointCache;
  /** How long the leases of `submit` must last. */
  readonly leaseMs: number;
  /**
   * How many deliveries of a subscription it would send right away; 0 unless running, while full, while its project uses
   * its share of the node, or while the endpoint backs off.
   */
  room(id: SubscriptionId, projectId: ProjectId): number;
  /**
   * Takes deliveries that were stored leased to this node, and sends them. `unleased` names the subscriptions for which
   * others were stored with them that nobody holds: it comes to those as soon as it has room.
   */
  submit(deliveries: readonly OutgoingDelivery[], unleased?: ReadonlySet<SubscriptionId>): void;
  /** Begins to claim due deliveries. */
  start(): void;
  /** Looks for due deliveries now. */
  wake(): void;
  /** Ends the pending deliveries of a subscription that was deactivated or deleted. */
  expire(id: SubscriptionId): Promise<void>;
  /** Posts what is no event to an agent's endpoint, once and at once; resolves to how it went, within `timeoutMs`. */
  tell(endpoint: Endpoint, message: Message, timeoutMs: number): Promise<Attempt>;
  /** Claims nothing more, finishes what is in flight for at most `graceMs`, and gives every other lease back. */
  drain(graceMs: number): Promise<void>;
  stats(): { held: number; inFlight: number };
};
