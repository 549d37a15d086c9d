import { beginSpan, type ProjectId, type SpanStart, type SubscriptionId, withinSpan } from "@svc/core";
import type { LeasedDelivery } from "@svc/db/deliveries/claimed-delivery";
import { expireDeliveries } from "@svc/db/deliveries/expire";
import { releaseDeliveries } from "@svc/db/deliveries/queue";
import type { SubscriptionHealth } from "@svc/db/subscriptions/health";
import { Claimer } from "./claimer.ts";
import { conclude } from "./conclude.ts";
import type { Dispatcher, DispatcherOptions } from "./dispatcher.ts";
import { createEndpointCache, type Endpoint, type EndpointCache } from "./endpoint.ts";
import { type EndpointQueue, EndpointQueues } from "./endpoint-queues.ts";
import { type ResolvedLimits, resolveLimits } from "./limits.ts";
import { type OutgoingDelivery, outgoingOf } from "./outgoing.ts";
import { type Attempt, errorWordOf, isAborted, isBodiless } from "./send.ts";
import { type Message, Sender } from "./sender.ts";
import { createRecorder, type Recorder } from "./settle.ts";
import { Holdings, Shares } from "./shares.ts";

const expireMax = 2_000;
/**
 * An attempt begins only if the lease (time-limited claim) lasts at least `attemptTimeoutMs` plus this margin, in milliseconds. So the
 * attempt can end and be recorded before the lease expires.
 */
const leaseMarginMs = 2_000;

/**
 * Returns the delivery engine of one node. It sends deliveries that are passed to `submit`, and due deliveries that it takes from the
 * database. It records every attempt.
 */
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
  readonly #queues: EndpointQueues;
  readonly #holdings: Holdings;
  readonly #shares: Shares;
  /**
   * Queues with waiting deliveries of throttled replays that the endpoint could take now. They wait because the project or the node is
   * sending its maximum number of deliveries.
   */
  readonly #blocked = new Set<EndpointQueue>();
  /** State of the engine. `draining`: it stops; attempts in flight may still end. `drained`: the attempts that were left were aborted. */
  #state: "created" | "running" | "draining" | "drained" = "created";

  constructor(options: DispatcherOptions) {
    const limits = resolveLimits(options.limits);
    this.#options = options;
    this.#limits = limits;
    this.#queues = new EndpointQueues(options.clock, limits.endpointConcurrency);
    this.#holdings = new Holdings(limits);
    this.#shares = new Shares(limits);
    this.endpoints = createEndpointCache(options.sealer);
    this.leaseMs = limits.leaseMs;
    this.#sender = new Sender({ ...options, limits });
    this.#recorder = createRecorder({
      ...options,
      limits: limits.health,
      pendingMax: limits.pendingMax,
      onRecovered: (ids) => this.#recovered(ids),
      onHealth: (health) => this.#failed(health),
    });
    this.#claimer = new Claimer({
      ...options,
      limits,
      capacity: (behind) => this.#capacity(behind),
      onPaced: (opensAt) => {
        for (const [id, ms] of opensAt) this.#queues.find(id)?.holdUntil(ms);
      },
      onClaimed: (deliveries) => this.#takeClaimed(deliveries),
      onEnded: (id, limit) => expireDeliveries(options.db, id, options.clock.now(), limit),
    });
  }

  stats() {
    return { held: this.#holdings.count, inFlight: this.#shares.inFlight };
  }

  #capacity(behind: boolean) {
    const fullProjects = this.#shares.fullProjects(behind);
    const rooms = this.#queues.claimRooms(fullProjects, behind);
    return { total: this.#holdings.free(behind), share: this.#queues.defaultRoom(behind), rooms, fullProjects };
  }

  room(id: SubscriptionId, projectId: ProjectId): number {
    if (this.#state !== "running") return 0;
    const room = Math.min(this.#holdings.free(), this.#shares.room(projectId));
    if (room > 0) return Math.min(room, this.#queues.room(id));
    // Creates the queue, so that its project is known. Later reports about deliveries without a lease contain only the subscription.
    this.#queues.of(id, projectId);
    return 0;
  }

  submit(deliveries: readonly OutgoingDelivery[], unleased?: ReadonlySet<SubscriptionId>): void {
    const nowMs = this.#options.clock.now();
    const touched = new Set<EndpointQueue>();
    const refused: OutgoingDelivery[] = [];
    for (const delivery of deliveries) {
      const queue = this.#queues.of(delivery.subscriptionId, delivery.projectId);
      this.#holdings.take(delivery);
      this.#shares.take(delivery);
      // The caller has checked with `room` that the queue can take this delivery. Since then, the endpoint may have failed. A delivery to a
      // failing endpoint is refused and given back, unless it is a probe (test delivery).
      const isRefused = this.#state === "drained" || (queue.isShut(nowMs) && !delivery.probe);
      (isRefused ? refused : queue.part(delivery.behind).waiting).push(delivery);
      touched.add(queue);
    }
    for (const queue of touched) this.#pump(queue);
    this.#giveBack(refused);
    if (unleased !== undefined && this.#state === "running") this.#noteUnleased(unleased, nowMs);
  }

  /**
   * Makes the engine claim deliveries that were stored without a lease (not reserved for a node). Does nothing if the endpoint is in
   * backoff (pause after failures), or if its pace lets no delivery start now. In these cases the engine claims the deliveries as soon as
   * the backoff is over or the pace allows a delivery.
   */
  #noteUnleased(ids: ReadonlySet<SubscriptionId>, nowMs: number): void {
    for (const id of ids) {
      const queue = this.#queues.find(id);
      if (queue?.isShut(nowMs) || queue?.isHeld(nowMs)) continue;
      this.#claimer.noteMore();
      // If the queue is idle, the engine claims now. A busy queue claims when it has nothing left to send, and a project that uses all its
      // slots for attempts claims when one is free.
      if (queue === undefined || (queue.isIdle() && !this.#shares.isFull(queue.projectId))) this.wake();
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
    this.#giveBack(this.#queues.takeWaiting());
    const idle = this.#holdings.empty();
    const grace = new AbortController();
    await Promise.race([idle, this.#options.clock.wait(graceMs, grace.signal)]);
    grace.abort();
    this.#state = "drained";
    this.#giveBack(this.#queues.takeWaiting());
    this.#sender.abortAll();
    await idle;
    await this.#recorder.idle();
    await this.#sender.close();
  }

  #takeClaimed(claimed: readonly LeasedDelivery[]): void {
    const outgoing: OutgoingDelivery[] = [];
    for (const delivery of claimed) {
      // The database returned a delivery that is not a probe (test delivery), so the database regards the endpoint as healthy. For example,
      // a probe of another node has succeeded. So this node sends to the endpoint normally again.
      const queue = this.#queues.of(delivery.subscriptionId, delivery.projectId);
      if (!delivery.probe && queue.unreportedFailures === 0) queue.recover();
      // If the signing secret of a subscription cannot be decrypted, only its deliveries are left out. Their leases expire, and other
      // subscriptions are not affected.
      const { projectId, subscriptionId: id, event, leaseUntilMs } = delivery;
      const endpoint = this.endpoints.of({ ...delivery.endpoint, projectId, id }, (error) => {
        this.#options.observer.failed("claim", error);
      });
      queue.isPaced = endpoint?.pace !== undefined;
      if (endpoint !== undefined) outgoing.push(outgoingOf(event, delivery, endpoint, leaseUntilMs));
    }
    this.submit(outgoing);
  }

  /**
   * Sends waiting deliveries of a queue while the queue, the project and the node have free turns (slots for attempts). Starts at most
   * `turns` attempts.
   */
  #pump(queue: EndpointQueue, turns = Number.POSITIVE_INFINITY): void {
    const late: OutgoingDelivery[] = [];
    const left = this.#pumpQueue(queue, false, turns, late);
    if (late.length > 0) {
      queue.live.wasLate = true;
      this.#claimer.noteMore();
    }
    this.#pumpQueue(queue, true, left, late);
    this.#giveBack(late);
  }

  /**
   * Sends a queue's waiting deliveries of one priority. Deliveries whose leases (the time in which this node may send them) are too short
   * for an attempt are not sent, but added to `late`. Returns the number of attempts that may still start.
   */
  #pumpQueue(queue: EndpointQueue, behind: boolean, turns: number, late: OutgoingDelivery[]): number {
    const usableUntilMs = this.#options.clock.now() + this.#limits.attemptTimeoutMs + leaseMarginMs;
    let left = turns;
    while (queue.hasTurn(this.#limits.endpointConcurrency, behind)) {
      if (left <= 0 || !this.#shares.hasTurn(queue.projectId, behind)) {
        if (behind) this.#blocked.add(queue);
        else this.#shares.starve(queue);
        break;
      }
      const delivery = queue.part(behind).waiting.shift();
      if (delivery === undefined) break;
      if (delivery.leaseUntilMs < usableUntilMs) late.push(delivery);
      else {
        left--;
        void this.#attempt(queue, delivery);
      }
    }
    return left;
  }

  async #attempt(queue: EndpointQueue, delivery: OutgoingDelivery): Promise<void> {
    const startedAtMs = this.#options.clock.now();
    const part = queue.part(delivery.behind);
    part.inFlight++;
    this.#shares.begin(queue.projectId);
    const span = beginSpan(attemptSpan, delivery);
    const attempt = await this.#sender.send(delivery, startedAtMs, span?.traceparent);
    span?.note({ "http.response.status_code": attempt.statusCode || undefined });
    span?.end(attempt.error === "" ? undefined : errorWordOf(attempt));
    part.inFlight--;
    this.#shares.end(queue.projectId);
    if (isAborted(attempt)) this.#giveBack([delivery]);
    else withinSpan(span, () => this.#conclude(queue, delivery, attempt, startedAtMs));
    // If other queues wait for a free slot for an attempt, this queue goes to the end of the line.
    if (this.#shares.hasStarved()) this.#shares.starve(queue);
    else this.#pump(queue);
    this.#feedStarved();
    this.#feedBlocked();
    const hasRoom = queue.live.waiting.length === 0 && !this.#shares.isFull(queue.projectId);
    if (this.#claimer.mayBeMore(false) && hasRoom) this.wake();
    // After a delivery of a throttled replay (`behind`), the node looks in the database for more such deliveries. It does not look after a
    // live delivery, because it would find none.
    else if (delivery.behind && this.#claimer.mayBeMore(true) && part.waiting.length === 0) this.wake();
  }

  /**
   * Continues to send the waiting deliveries of throttled replays (repeated deliveries that are spread over time). These deliveries had to
   * wait because the project or the node was sending its maximum number of deliveries.
   */
  #feedBlocked(): void {
    for (const queue of [...this.#blocked]) {
      if (!this.#shares.hasTurn(queue.projectId, true)) continue;
      this.#blocked.delete(queue);
      this.#pump(queue);
    }
  }

  /**
   * Records that an attempt to send a delivery has ended. If the endpoint failed, the endpoint's queue from now on sends only probes (test
   * deliveries).
   */
  #conclude(queue: EndpointQueue, delivery: OutgoingDelivery, attempt: Attempt, startedAtMs: number): void {
    const { clock, observer, random } = this.#options;
    const nowMs = clock.now();
    const wasFailing = queue.isFailing || delivery.probe;
    const times = { startedAtMs, nowMs };
    const { settlement, retryAfterMs, isUnwanted } = conclude(delivery, attempt, times, this.#limits, random());
    const { number, statusCode, error, durationMs } = settlement.attempt;
    queue.observe(durationMs);
    const isOwnFault = isBodiless(attempt);
    const isFailure = settlement.state !== "delivered" && !isUnwanted && !isOwnFault;
    if (isFailure) {
      queue.unreportedFailures++;
      this.#shut(queue, nowMs + this.leaseMs);
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
    const { leaseUntilMs, endpoint } = delivery;
    const giveUpAfterMs = endpoint.retry?.giveUpAfterMs;
    this.#shares.finish(delivery.projectId);
    const ended = { settlement, retryAfterMs, wasFailing, leaseUntilMs, isUnwanted, isOwnFault, giveUpAfterMs };
    void this.#recorder.record(ended).then(() => {
      if (isFailure) this.#failureReported(queue);
      this.#letGo(delivery);
      // The delivery's lease has ended, so the concurrency of its pace lets another one start.
      if (endpoint.pace?.concurrency !== undefined) this.wake();
    });
  }

  /**
   * Called when a failed attempt has been stored. While failed attempts of an endpoint are not stored yet, svc claims no deliveries for
   * this endpoint. After the last of them is stored, this function claims at once, because deliveries may have become due.
   */
  #failureReported(queue: EndpointQueue): void {
    queue.unreportedFailures--;
    if (queue.unreportedFailures === 0) this.wake();
  }

  #recovered(ids: readonly SubscriptionId[]): void {
    for (const id of ids) this.#queues.find(id)?.recover();
    if (ids.length > 0) this.wake();
  }

  #failed({ subscriptionId, active, backoffUntilMs }: SubscriptionHealth): void {
    const queue = this.#queues.find(subscriptionId);
    if (queue !== undefined) this.#shut(queue, backoffUntilMs + this.leaseMs);
    this.#claimer.wakeAt(backoffUntilMs);
    if (active) return;
    void this.expire(subscriptionId).catch((error: unknown) => this.#options.observer.failed("expire", error));
  }

  #shut(queue: EndpointQueue, doubtUntilMs: number): void {
    this.#shares.unstarve(queue);
    this.#giveBack(queue.fail(doubtUntilMs));
  }

  /**
   * Starts attempts of waiting queues while slots for attempts are free. Projects are served in rotation, and so are the queues of a
   * project.
   */
  #feedStarved(): void {
    for (let queue = this.#shares.nextStarved(); queue !== undefined; queue = this.#shares.nextStarved())
      this.#pump(queue, 1);
  }

  #giveBack(deliveries: readonly OutgoingDelivery[]): void {
    if (deliveries.length === 0) return;
    for (const { projectId } of deliveries) this.#shares.finish(projectId);
    void releaseDeliveries(this.#options.db, this.#options.nodeId, deliveries)
      // If the database does not accept the returned leases, they expire by themselves.
      .catch((error: unknown) => this.#options.observer.failed("release", error))
      .then(() => {
        for (const delivery of deliveries) this.#letGo(delivery);
        // This project has nothing left to send, so other projects can use its share.
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

/** Describes the span of an attempt. A repeated delivery is only linked with the trace of its event, because a replay causes many. */
function attemptSpan({ id, projectId, attempts, behind, traceparent }: OutgoingDelivery): SpanStart {
  const facts = { "svc.delivery.id": id, "svc.project.id": projectId, "svc.attempt": attempts + 1 };
  const cause = behind ? { parent: null, links: [traceparent] } : { parent: traceparent };
  return { name: "deliver", kind: "client", ...cause, facts: { ...facts, "http.request.method": "POST" } };
}
