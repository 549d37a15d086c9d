import type { ProjectId, SubscriptionId } from "@svc/core";
import type { LeasedDelivery } from "@svc/db/deliveries/claim";
import { expireDeliveries } from "@svc/db/deliveries/expire";
import { releaseDeliveries } from "@svc/db/deliveries/queue";
import type { SubscriptionHealth } from "@svc/db/subscriptions/health";
import { Claimer } from "./claimer.ts";
import { conclude } from "./conclude.ts";
import type { Dispatcher, DispatcherOptions } from "./dispatcher.ts";
import { createEndpointCache, type Endpoint, type EndpointCache } from "./endpoint.ts";
import { type Lane, Lanes } from "./lanes.ts";
import { type ResolvedLimits, resolveLimits } from "./limits.ts";
import { type OutgoingDelivery, outgoingOf } from "./outgoing.ts";
import { type Attempt, isAborted } from "./send.ts";
import { type Message, Sender } from "./sender.ts";
import { createRecorder, type Recorder } from "./settle.ts";
import { Holdings, Shares } from "./shares.ts";

const expireMax = 2_000;
/** A lease is not used in its last moments: an attempt at its full length must end, and be recorded, before it runs out. */
const leaseMarginMs = 2_000;

/** Makes the delivery engine of one node: leases come from `submit` (first sends) and from its own claims; every attempt is recorded. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new Engine(options);
}

class Engine implements Dispatcher {
  readonly endpoints: EndpointCache;
  readonly leaseMs: number;
  readonly #options: DispatcherOptions;
  readonly #limits: ResolvedLimits;
  readonly #sender: Sender;
  readonly #recorder: Recorder;
  readonly #claimer: Claimer;
  readonly #lanes: Lanes;
  readonly #holdings: Holdings;
  readonly #shares: Shares;
  /** Lanes whose replayed deliveries wait only because project or node have no turn free for such. */
  readonly #blocked = new Set<Lane>();
  /** `draining` finishes what is in flight, `drained` has broken off the rest. */
  #state: "created" | "running" | "draining" | "drained" = "created";

  constructor(options: DispatcherOptions) {
    const limits = resolveLimits(options.limits);
    this.#options = options;
    this.#limits = limits;
    this.#lanes = new Lanes(options.clock, limits.endpointConcurrency);
    this.#holdings = new Holdings(limits);
    this.#shares = new Shares(limits);
    this.endpoints = createEndpointCache(options.sealer);
    this.leaseMs = limits.leaseMs;
    this.#sender = new Sender({ guard: options.guard, clock: options.clock, limits });
    this.#recorder = createRecorder({
      ...options,
      limits: limits.health,
      onRecovered: (ids) => this.#recovered(ids),
      onHealth: (health) => this.#failed(health),
    });
    this.#claimer = new Claimer({
      ...options,
      limits,
      capacity: (behind) => this.#capacity(behind),
      onClaimed: (deliveries) => this.#takeClaimed(deliveries),
      onEnded: (id, limit) => expireDeliveries(options.db, id, options.clock.now(), limit),
    });
  }

  stats() {
    return { held: this.#holdings.count, inFlight: this.#shares.inFlight };
  }

  #capacity(behind: boolean) {
    const fullProjects = this.#shares.fullProjects(behind);
    const rooms = this.#lanes.claimRooms(fullProjects, behind);
    return { total: this.#holdings.free(behind), share: this.#lanes.defaultRoom(behind), rooms, fullProjects };
  }

  room(id: SubscriptionId, projectId: ProjectId): number {
    if (this.#state !== "running") return 0;
    const room = Math.min(this.#holdings.free(), this.#shares.room(projectId));
    if (room > 0) return Math.min(room, this.#lanes.room(id));
    // What is stored unleased now is reported by its subscription alone: the lane knows the project.
    this.#lanes.of(id, projectId);
    return 0;
  }

  submit(deliveries: readonly OutgoingDelivery[], unleased?: ReadonlySet<SubscriptionId>): void {
    const nowMs = this.#options.clock.now();
    const touched = new Set<Lane>();
    const refused: OutgoingDelivery[] = [];
    for (const delivery of deliveries) {
      const lane = this.#lanes.of(delivery.subscriptionId, delivery.projectId);
      this.#holdings.take(delivery);
      this.#shares.take(delivery);
      // The endpoint may have failed since room was asked for.
      const isRefused = this.#state === "drained" || (lane.isShut(nowMs) && !delivery.probe);
      (isRefused ? refused : lane.queue(delivery.behind).waiting).push(delivery);
      touched.add(lane);
    }
    for (const lane of touched) this.#pump(lane);
    this.#giveBack(refused);
    if (unleased !== undefined && this.#state === "running") this.#noteUnleased(unleased, nowMs);
  }

  /** What waits for an endpoint that backs off is found when its backoff ends; looking earlier would cost and find nothing. */
  #noteUnleased(ids: ReadonlySet<SubscriptionId>, nowMs: number): void {
    for (const id of ids) {
      const lane = this.#lanes.find(id);
      if (lane?.isShut(nowMs)) continue;
      this.#claimer.noteMore();
      // A busy lane looks when it has nothing left to send, a project at its share when it has a turn free.
      if (lane === undefined || (lane.isIdle() && !this.#shares.isFull(lane.projectId))) this.wake();
    }
  }

  start(): void {
    if (this.#state !== "created") return;
    this.#state = "running";
    this.#claimer.start();
  }

  wake(): void {
    this.#claimer.wake();
  }

  tell(endpoint: Endpoint, message: Message, timeoutMs: number): Promise<Attempt> {
    return this.#sender.tell(endpoint, message, timeoutMs);
  }

  async expire(id: SubscriptionId): Promise<void> {
    for (;;) {
      const count = await expireDeliveries(this.#options.db, id, this.#options.clock.now(), expireMax);
      if (count < expireMax) return;
    }
  }

  async drain(graceMs: number): Promise<void> {
    this.#state = "draining";
    await this.#claimer.stop();
    this.#giveBack(this.#lanes.takeWaiting());
    const idle = this.#holdings.empty();
    const grace = new AbortController();
    await Promise.race([idle, this.#options.clock.wait(graceMs, grace.signal)]);
    grace.abort();
    this.#state = "drained";
    this.#giveBack(this.#lanes.takeWaiting());
    this.#sender.abortAll();
    await idle;
    await this.#recorder.idle();
    await this.#sender.close();
  }

  #takeClaimed(claimed: readonly LeasedDelivery[]): void {
    const outgoing: OutgoingDelivery[] = [];
    for (const delivery of claimed) {
      // The store says that the endpoint is well: another node's probe may have found it so.
      const lane = this.#lanes.of(delivery.subscriptionId, delivery.projectId);
      if (!delivery.probe && lane.unreportedFailures === 0) lane.recover();
      // A secret that does not open concerns its own subscription alone; the lease runs out.
      const { projectId, subscriptionId: id, event, leaseUntilMs } = delivery;
      const endpoint = this.endpoints.of({ ...delivery.endpoint, projectId, id }, (error) => {
        this.#options.observer.failed("claim", error);
      });
      if (endpoint !== undefined) outgoing.push(outgoingOf(event, delivery, endpoint, leaseUntilMs));
    }
    this.submit(outgoing);
  }

  /** Sends what waits in a lane, as far as lane, project and node have turns free; at most `turns`. */
  #pump(lane: Lane, turns = Number.POSITIVE_INFINITY): void {
    const late: OutgoingDelivery[] = [];
    const left = this.#pumpQueue(lane, false, turns, late);
    if (late.length > 0) {
      lane.live.wasLate = true;
      this.#claimer.noteMore();
    }
    this.#pumpQueue(lane, true, left, late);
    this.#giveBack(late);
  }

  /** Sends what waits in one queue of a lane; puts what waited for too long into `late`, and returns the turns that are left. */
  #pumpQueue(lane: Lane, behind: boolean, turns: number, late: OutgoingDelivery[]): number {
    const usableUntilMs = this.#options.clock.now() + this.#limits.attemptTimeoutMs + leaseMarginMs;
    let left = turns;
    while (lane.hasTurn(this.#limits.endpointConcurrency, behind)) {
      if (left <= 0 || !this.#shares.hasTurn(lane.projectId, behind)) {
        if (behind) this.#blocked.add(lane);
        else this.#shares.starve(lane);
        break;
      }
      const delivery = lane.queue(behind).waiting.shift();
      if (delivery === undefined) break;
      if (delivery.leaseUntilMs < usableUntilMs) late.push(delivery);
      else {
        left--;
        void this.#attempt(lane, delivery);
      }
    }
    return left;
  }

  async #attempt(lane: Lane, delivery: OutgoingDelivery): Promise<void> {
    const startedAtMs = this.#options.clock.now();
    const queue = lane.queue(delivery.behind);
    queue.inFlight++;
    this.#shares.begin(lane.projectId);
    const attempt = await this.#sender.send(delivery, startedAtMs);
    queue.inFlight--;
    this.#shares.end(lane.projectId);
    if (isAborted(attempt)) this.#giveBack([delivery]);
    else this.#conclude(lane, delivery, attempt, startedAtMs);
    // Where others wait for a turn, the one that is free now is not simply this lane's.
    if (this.#shares.hasStarved()) this.#shares.starve(lane);
    else this.#pump(lane);
    this.#feedStarved();
    this.#feedBlocked();
    const hasRoom = lane.live.waiting.length === 0 && !this.#shares.isFull(lane.projectId);
    if (this.#claimer.mayBeMore(false) && hasRoom) this.wake();
    // One that is live finds nothing to claim behind it.
    else if (delivery.behind && this.#claimer.mayBeMore(true) && queue.waiting.length === 0) this.wake();
  }

  /** Sends what paced replays queued where there are turns free again. */
  #feedBlocked(): void {
    for (const lane of [...this.#blocked]) {
      if (!this.#shares.hasTurn(lane.projectId, true)) continue;
      this.#blocked.delete(lane);
      this.#pump(lane);
    }
  }

  /** Has the attempt recorded, and closes the lane of an endpoint that failed. */
  #conclude(lane: Lane, delivery: OutgoingDelivery, attempt: Attempt, startedAtMs: number): void {
    const { clock, observer, random } = this.#options;
    const nowMs = clock.now();
    const wasFailing = lane.isFailing || delivery.probe;
    const times = { startedAtMs, nowMs };
    const { settlement, retryAfterMs, isUnwanted } = conclude(delivery, attempt, times, this.#limits, random());
    const { number, statusCode, error, durationMs } = settlement.attempt;
    lane.observe(durationMs);
    const isFailure = settlement.state !== "delivered" && !isUnwanted;
    if (isFailure) {
      lane.unreportedFailures++;
      this.#shut(lane, nowMs + this.leaseMs);
    }
    if (settlement.state === "pending") this.#claimer.wakeAt(settlement.dueAtMs);
    observer.attempted({
      deliveryId: delivery.id,
      projectId: delivery.projectId,
      subscriptionId: delivery.subscriptionId,
      number,
      state: settlement.state,
      statusCode,
      error,
      durationMs,
      sinceReceivedMs: nowMs - delivery.receivedAtMs,
    });
    const { leaseUntilMs } = delivery;
    this.#shares.finish(delivery.projectId);
    void this.#recorder.record({ settlement, retryAfterMs, wasFailing, leaseUntilMs, isUnwanted }).then(() => {
      if (isFailure) this.#failureReported(lane);
      this.#letGo(delivery);
    });
  }

  /** Until now nothing was claimed for the endpoint, whatever has become due meanwhile. */
  #failureReported(lane: Lane): void {
    lane.unreportedFailures--;
    if (lane.unreportedFailures === 0) this.wake();
  }

  #recovered(ids: readonly SubscriptionId[]): void {
    for (const id of ids) this.#lanes.find(id)?.recover();
    if (ids.length > 0) this.wake();
  }

  #failed({ subscriptionId, active, backoffUntilMs }: SubscriptionHealth): void {
    const lane = this.#lanes.find(subscriptionId);
    if (lane !== undefined) this.#shut(lane, backoffUntilMs + this.leaseMs);
    this.#claimer.wakeAt(backoffUntilMs);
    if (active) return;
    void this.expire(subscriptionId).catch((error: unknown) => this.#options.observer.failed("expire", error));
  }

  #shut(lane: Lane, doubtUntilMs: number): void {
    this.#shares.unstarve(lane);
    this.#giveBack(lane.fail(doubtUntilMs));
  }

  /** Gives every free turn to the projects, and in them to the lanes, that wait for one. */
  #feedStarved(): void {
    for (let lane = this.#shares.nextStarved(); lane !== undefined; lane = this.#shares.nextStarved())
      this.#pump(lane, 1);
  }

  #giveBack(deliveries: readonly OutgoingDelivery[]): void {
    if (deliveries.length === 0) return;
    for (const { projectId } of deliveries) this.#shares.finish(projectId);
    void releaseDeliveries(this.#options.db, this.#options.nodeId, deliveries)
      // Leases that cannot be given back run out.
      .catch((error: unknown) => this.#options.observer.failed("release", error))
      .then(() => {
        for (const delivery of deliveries) this.#letGo(delivery);
        // A project that has nothing left to send leaves its share to the others.
        this.#feedStarved();
      });
  }

  #letGo(delivery: OutgoingDelivery): void {
    const wasNodeFull = this.#holdings.free() === 0;
    const wasProjectFull = this.#shares.isFull(delivery.projectId);
    this.#holdings.letGo(delivery);
    this.#shares.letGo(delivery);
    const hasNewRoom = wasNodeFull || (wasProjectFull && !this.#shares.isFull(delivery.projectId));
    if (hasNewRoom && this.#claimer.mayBeMore(false)) this.wake();
  }
}
