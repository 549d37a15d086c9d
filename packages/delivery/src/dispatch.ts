import {
  type AddressGuard,
  type Clock,
  createGuardedAgent,
  type DeliveryId,
  type NodeId,
  type Sealer,
  type SubscriptionId,
} from "@svc/core";
import { type ClaimedDelivery, claim, type Executor, expire, type HealthLimits, release } from "@svc/db";
import { deliveryBody } from "./body.ts";
import { createEndpointCache, type EndpointCache } from "./endpoint.ts";
import { Lane } from "./lane.ts";
import type { DeliveryObserver } from "./observer.ts";
import type { OutgoingDelivery } from "./outgoing.ts";
import { parseRetryAfter, retryWaitMs } from "./retry-schedule.ts";
import { type Attempt, send } from "./send.ts";
import { createRecorder, type Recorder } from "./settle.ts";
import { signedHeaders } from "./sign.ts";

/** Bounds of the delivery engine; times in milliseconds. */
export type DispatchLimits = {
  /** Attempts in flight per subscription on one node. */
  endpointConcurrency: number;
  /** Waits between the attempts of a delivery. */
  retryScheduleMs: readonly number[];
  /** An attempt takes this long at most. Default 15 s. */
  attemptTimeoutMs?: number;
  /** A lease lasts this long; a node that dies holds its deliveries up for so long. Default 30 s. */
  leaseMs?: number;
  /** Pause between two looks for due deliveries while nothing wakes the engine. Default 1 s. */
  pollMs?: number;
  /** When a subscription backs off and when it is given up. Defaults: 1 s doubling to 5 min; 5 days; 410 for an hour, 3 times. */
  health?: HealthLimits;
  /** Attempts in flight on one node. Default 1,024. */
  inFlightMax?: number;
  /** Deliveries held (in flight, waiting, being recorded) on one node. Default 10,000. */
  heldMax?: number;
  /** Bytes of their bodies. Default 64 MiB. */
  heldBytesMax?: number;
};

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
  /** How many deliveries of a subscription it would send right away; 0 while stopped, draining, full, or while the endpoint backs off. */
  room(id: SubscriptionId): number;
  /** Takes deliveries that were stored leased to this node, and sends them. */
  submit(deliveries: readonly OutgoingDelivery[]): void;
  /** Begins to claim due deliveries. */
  start(): void;
  /** Looks for due deliveries now. */
  wake(): void;
  /** Ends the pending deliveries of a subscription that was deactivated or deleted. */
  expire(id: SubscriptionId): Promise<void>;
  /** Claims nothing more, finishes what is in flight for at most `graceMs`, and gives every other lease back. */
  drain(graceMs: number): Promise<void>;
  stats(): { held: number; inFlight: number };
};

const defaultHealth: HealthLimits = {
  backoffMinMs: 1_000,
  backoffMaxMs: 300_000,
  failingMaxMs: 5 * 86_400_000,
  goneMaxMs: 3_600_000,
  goneMin: 3,
};
const claimMax = 256;
const claimLanesMax = 256;
const expireMax = 2_000;
const laneIdleMs = 60_000;
/** A lease is not used in its last moments: an attempt at its full length must end, and be recorded, before it runs out. */
const leaseMarginMs = 2_000;

/** Makes the delivery engine of one node: leases come from `submit` (first sends) and from its own claims; every attempt is recorded. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const engine = new Engine(options);
  return {
    endpoints: engine.endpoints,
    leaseMs: engine.leaseMs,
    room: (id) => engine.room(id),
    submit: (deliveries) => engine.submit(deliveries),
    start: () => engine.start(),
    wake: () => engine.wake(),
    expire: (id) => engine.expire(id),
    drain: (graceMs) => engine.drain(graceMs),
    stats: () => engine.stats(),
  };
}

type State = "created" | "running" | "draining";

class Engine {
  readonly endpoints: EndpointCache;
  readonly leaseMs: number;
  readonly #options: DispatcherOptions;
  readonly #attemptTimeoutMs: number;
  readonly #pollMs: number;
  readonly #inFlightMax: number;
  readonly #heldMax: number;
  readonly #heldBytesMax: number;
  readonly #agent;
  readonly #recorder: Recorder;
  readonly #lanes = new Map<SubscriptionId, Lane>();
  /** Lanes that have deliveries waiting only because the node was at its limit. */
  readonly #starved = new Set<Lane>();
  readonly #aborters = new Map<DeliveryId, () => void>();
  #state: State = "created";
  #held = 0;
  #heldBytes = 0;
  #inFlight = 0;
  #cursor: SubscriptionId | undefined;
  #nextDueMs = Number.POSITIVE_INFINITY;
  /** More was due than the last claim took. */
  #hasBacklog = false;
  #wakeLoop: AbortController = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #onIdle: (() => void) | undefined;

  constructor(options: DispatcherOptions) {
    const { limits } = options;
    this.#options = options;
    this.endpoints = createEndpointCache(options.sealer);
    this.leaseMs = limits.leaseMs ?? 30_000;
    this.#attemptTimeoutMs = limits.attemptTimeoutMs ?? 15_000;
    this.#pollMs = limits.pollMs ?? 1_000;
    this.#inFlightMax = limits.inFlightMax ?? 1_024;
    this.#heldMax = limits.heldMax ?? 10_000;
    this.#heldBytesMax = limits.heldBytesMax ?? 64 * 1_048_576;
    this.#agent = createGuardedAgent({
      guard: options.guard,
      connections: this.#inFlightMax,
      connectTimeoutMs: this.#attemptTimeoutMs,
      headersTimeoutMs: this.#attemptTimeoutMs + 1_000,
      bodyTimeoutMs: this.#attemptTimeoutMs + 1_000,
    });
    this.#recorder = createRecorder({
      ...options,
      limits: limits.health ?? defaultHealth,
      onRecovered: (ids) => this.#recovered(ids),
      onHealth: ({ subscriptionId, active, backoffUntilMs }) => this.#failed(subscriptionId, active, backoffUntilMs),
    });
  }

  stats() {
    return { held: this.#held, inFlight: this.#inFlight };
  }

  room(id: SubscriptionId): number {
    if (this.#state !== "running") return 0;
    const total = this.#heldBytes >= this.#heldBytesMax ? 0 : this.#heldMax - this.#held;
    const lane = this.#lanes.get(id);
    const own =
      lane === undefined
        ? 2 * this.#options.limits.endpointConcurrency
        : lane.room(this.#options.limits.endpointConcurrency, this.#options.clock.now());
    return Math.max(0, Math.min(total, own));
  }

  submit(deliveries: readonly OutgoingDelivery[]): void {
    const touched = new Set<Lane>();
    for (const delivery of deliveries) {
      const lane = this.#laneOf(delivery.subscriptionId);
      this.#held++;
      this.#heldBytes += delivery.body.byteLength;
      lane.waiting.push(delivery);
      touched.add(lane);
    }
    for (const lane of touched) this.#pump(lane);
  }

  start(): void {
    if (this.#state !== "created") return;
    this.#state = "running";
    this.#loop = this.#run();
  }

  wake(): void {
    this.#wakeLoop.abort();
  }

  async expire(id: SubscriptionId): Promise<void> {
    for (;;) {
      const count = await expire(this.#options.db, id, this.#options.clock.now(), expireMax);
      if (count < expireMax) return;
    }
  }

  async drain(graceMs: number): Promise<void> {
    this.#state = "draining";
    this.wake();
    await this.#loop;
    for (const lane of this.#lanes.values()) this.#giveBack(lane.waiting.splice(0));
    const grace = new AbortController();
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      this.#noteIdle();
    });
    await Promise.race([idle, this.#options.clock.wait(graceMs, grace.signal)]);
    grace.abort();
    for (const abort of [...this.#aborters.values()]) abort();
    await idle;
    await this.#recorder.idle();
    await this.#agent.destroy();
  }

  async #run(): Promise<void> {
    while (this.#state === "running") {
      this.#wakeLoop = new AbortController();
      const wake = this.#wakeLoop.signal;
      const isMore = await this.#claimOnce();
      if (isMore) continue;
      const nowMs = this.#options.clock.now();
      const pauseMs = Math.max(1, Math.min(this.#pollMs, this.#nextDueMs - nowMs));
      if (this.#nextDueMs <= nowMs) this.#nextDueMs = Number.POSITIVE_INFINITY;
      await this.#options.clock.wait(pauseMs, wake);
    }
  }

  /** Claims what there is room for; true when there is more to be had at once. */
  async #claimOnce(): Promise<boolean> {
    const { db, clock, nodeId, limits, observer } = this.#options;
    const limit = Math.min(claimMax, this.#heldMax - this.#held);
    if (limit <= 0 || this.#heldBytes >= this.#heldBytesMax) return false;
    this.#sweepLanes();
    const nowMs = clock.now();
    const leaseUntilMs = nowMs + this.leaseMs;
    try {
      const found = await claim(db, {
        owner: nodeId,
        nowMs,
        leaseUntilMs,
        limit,
        share: 2 * limits.endpointConcurrency,
        rooms: this.#rooms(nowMs),
        after: this.#cursor,
        lanes: claimLanesMax,
      });
      this.#cursor = found.next;
      this.#hasBacklog = found.deliveries.length > 0;
      this.#takeClaimed(found.deliveries, leaseUntilMs);
      for (const id of found.ended) await this.expire(id);
      return found.next !== undefined;
    } catch (error) {
      observer.failed("claim", error);
      return false;
    }
  }

  #takeClaimed(claimed: readonly ClaimedDelivery[], leaseUntilMs: number): void {
    const outgoing: OutgoingDelivery[] = [];
    for (const delivery of claimed) {
      const lane = this.#laneOf(delivery.subscriptionId);
      // The store says that the endpoint is well: another node's probe may have found it so.
      if (!delivery.probe) lane.recover();
      outgoing.push({
        id: delivery.id,
        projectId: delivery.projectId,
        subscriptionId: delivery.subscriptionId,
        attempts: delivery.attempts,
        probe: delivery.probe,
        endpoint: this.endpoints.of({ ...delivery, id: delivery.subscriptionId }),
        body: deliveryBody(delivery.event),
        receivedAtMs: delivery.event.receivedAtMs,
        leaseUntilMs,
      });
    }
    this.submit(outgoing);
  }

  #rooms(nowMs: number): Map<SubscriptionId, number> {
    const rooms = new Map<SubscriptionId, number>();
    const { endpointConcurrency } = this.#options.limits;
    for (const [id, lane] of this.#lanes) {
      // Whether a failing endpoint may be probed is the store's to say, for all nodes; here it is only not busy.
      rooms.set(id, lane.isFailing ? (lane.isIdle() ? 1 : 0) : lane.room(endpointConcurrency, nowMs));
    }
    return rooms;
  }

  #laneOf(id: SubscriptionId): Lane {
    let lane = this.#lanes.get(id);
    if (lane === undefined) {
      lane = new Lane(id);
      this.#lanes.set(id, lane);
    }
    lane.lastUsedMs = this.#options.clock.now();
    return lane;
  }

  #sweepLanes(): void {
    const before = this.#options.clock.now() - laneIdleMs;
    for (const [id, lane] of this.#lanes)
      if (lane.lastUsedMs < before && lane.isIdle() && !lane.isFailing) this.#lanes.delete(id);
  }

  /** Sends what waits in a lane, as far as lane and node have turns free. */
  #pump(lane: Lane): void {
    const { endpointConcurrency } = this.#options.limits;
    const usableUntilMs = this.#options.clock.now() + this.#attemptTimeoutMs + leaseMarginMs;
    const late: OutgoingDelivery[] = [];
    while (lane.inFlight < endpointConcurrency && lane.waiting.length > 0) {
      if (this.#inFlight >= this.#inFlightMax) {
        this.#starved.add(lane);
        break;
      }
      const delivery = lane.waiting.shift();
      if (delivery === undefined) break;
      if (delivery.leaseUntilMs < usableUntilMs) late.push(delivery);
      else void this.#attempt(lane, delivery);
    }
    this.#giveBack(late);
  }

  async #attempt(lane: Lane, delivery: OutgoingDelivery): Promise<void> {
    const { clock } = this.#options;
    const startedAtMs = clock.now();
    lane.inFlight++;
    this.#inFlight++;
    const attempt = await send(
      this.#agent,
      {
        origin: delivery.endpoint.origin,
        path: delivery.endpoint.path,
        headers: signedHeaders(delivery.endpoint.keys, delivery.id, delivery.body, startedAtMs),
        body: delivery.body,
        timeoutMs: this.#attemptTimeoutMs,
      },
      (abort) => this.#aborters.set(delivery.id, abort),
    );
    this.#aborters.delete(delivery.id);
    lane.inFlight--;
    this.#inFlight--;
    if (attempt.error.startsWith("aborted")) this.#giveBack([delivery]);
    else this.#conclude(lane, delivery, attempt, startedAtMs);
    this.#pump(lane);
    this.#feedStarved();
    if (this.#hasBacklog && this.#held * 2 < this.#heldMax && lane.waiting.length === 0) this.wake();
  }

  /** Decides what an attempt means for its delivery, and has it recorded. */
  #conclude(lane: Lane, delivery: OutgoingDelivery, attempt: Attempt, startedAtMs: number): void {
    const { clock, limits, observer, random } = this.#options;
    const nowMs = clock.now();
    const durationMs = nowMs - startedAtMs;
    const number = delivery.attempts + 1;
    const isDelivered = attempt.error === "";
    const retryAfterMs = isDelivered ? 0 : parseRetryAfter(attempt.responseHeaders["retry-after"], nowMs);
    const waitMs = isDelivered ? undefined : retryWaitMs(limits.retryScheduleMs, number, retryAfterMs, random());
    const state = isDelivered ? "delivered" : waitMs === undefined ? "dead_letter" : "pending";
    const wasFailing = lane.isFailing || delivery.probe;
    lane.observe(durationMs);
    if (!isDelivered) this.#giveBack(lane.fail(nowMs + this.leaseMs));
    const dueAtMs = nowMs + (waitMs ?? 0);
    if (state === "pending") this.#nextDueMs = Math.min(this.#nextDueMs, dueAtMs);
    observer.attempted({
      deliveryId: delivery.id,
      projectId: delivery.projectId,
      subscriptionId: delivery.subscriptionId,
      number,
      state,
      statusCode: attempt.statusCode,
      error: attempt.error,
      durationMs,
      sinceReceivedMs: nowMs - delivery.receivedAtMs,
    });
    const settlement = {
      id: delivery.id,
      projectId: delivery.projectId,
      state,
      number,
      dueAtMs,
      error: attempt.error,
      startedAtMs,
      durationMs,
      requestUrl: delivery.endpoint.url,
      address: attempt.address,
      statusCode: attempt.statusCode,
      responseHeaders: attempt.responseHeaders,
      responseBody: attempt.responseBody,
    } as const;
    void this.#recorder
      .record({
        subscriptionId: delivery.subscriptionId,
        settlement,
        retryAfterMs,
        wasFailing,
        leaseUntilMs: delivery.leaseUntilMs,
      })
      .then(() => this.#letGo(delivery));
  }

  #recovered(ids: readonly SubscriptionId[]): void {
    for (const id of ids) this.#lanes.get(id)?.recover();
    if (ids.length > 0) this.wake();
  }

  #failed(id: SubscriptionId, active: boolean, backoffUntilMs: number): void {
    const lane = this.#laneOf(id);
    this.#giveBack(lane.fail(backoffUntilMs + this.leaseMs));
    this.#nextDueMs = Math.min(this.#nextDueMs, backoffUntilMs);
    if (!active) void this.expire(id).catch((error: unknown) => this.#options.observer.failed("expire", error));
  }

  #feedStarved(): void {
    for (const lane of this.#starved) {
      if (this.#inFlight >= this.#inFlightMax) return;
      this.#starved.delete(lane);
      this.#pump(lane);
    }
  }

  #giveBack(deliveries: readonly OutgoingDelivery[]): void {
    if (deliveries.length === 0) return;
    const ids = deliveries.map((delivery) => delivery.id);
    void release(this.#options.db, this.#options.nodeId, ids)
      // Leases that cannot be given back run out.
      .catch((error: unknown) => this.#options.observer.failed("release", error))
      .then(() => {
        for (const delivery of deliveries) this.#letGo(delivery);
      });
  }

  #letGo(delivery: OutgoingDelivery): void {
    this.#held--;
    this.#heldBytes -= delivery.body.byteLength;
    this.#noteIdle();
  }

  #noteIdle(): void {
    if (this.#held === 0) this.#onIdle?.();
  }
}
