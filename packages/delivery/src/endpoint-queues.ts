import type { Clock, ProjectId, SubscriptionId } from "@svc/core";
import type { OutgoingDelivery } from "./outgoing.ts";

/** Maximum length of an endpoint's queue on this node: the milliseconds that the endpoint needs to answer all of it. */
const queuedMsMax = 2_000;
const queuedFactorMax = 32;
/** Weight of the newest attempt in the running mean of an endpoint's answer time. */
const newestWeight = 0.1;
/**
 * Maximum share of the concurrent attempts to one endpoint that throttled replays may use. The remaining share is free for live deliveries
 * (all deliveries except throttled replays).
 */
const behindPart = 0.75;

/**
 * The half of an endpoint's queue with one priority: throttled replays, or live deliveries (all other deliveries). It contains the waiting
 * deliveries and counts the attempts in flight.
 */
class QueuePart {
  readonly waiting: OutgoingDelivery[] = [];
  inFlight = 0;
  /**
   * True if deliveries waited in this queue for too long: the rest of their lease was too short for an attempt. A lease is the time in
   * which only this node may send a delivery. While the value is true, the queue takes only deliveries that can be sent at once. The value
   * becomes false when the endpoint answers within two seconds.
   */
  wasLate = false;

  /**
   * Returns how many more deliveries this queue can take. `turns`: maximum number of attempts at the same time. `aheadFactor`: how many
   * deliveries may wait for each of these attempts.
   */
  room(turns: number, aheadFactor: number): number {
    const ahead = this.wasLate ? 0 : Math.floor(turns * aheadFactor);
    return Math.max(0, turns + ahead - this.inFlight - this.waiting.length);
  }
}

/**
 * The deliveries that one node has taken for one subscription: those that are being sent, and those that wait until they may be sent. The
 * queue also knows if the endpoint fails. The queue of a failing endpoint takes only one delivery from the database, as a test of the
 * endpoint (a probe).
 */
export class EndpointQueue {
  readonly subscriptionId: SubscriptionId;
  readonly projectId: ProjectId;
  readonly live = new QueuePart();
  /**
   * Deliveries of throttled replays. One is sent only if no live delivery waits, and they may use only a part of the turns (slots for
   * attempts).
   */
  readonly behind = new QueuePart();
  isFailing = false;
  /** Number of failures of the endpoint that are not stored yet. If it is not 0, the database does not know that the endpoint fails. */
  unreportedFailures = 0;
  /**
   * The endpoint fails, so this node sends nothing to it before this time, in epoch milliseconds. A success of the endpoint ends the pause
   * earlier.
   */
  doubtUntilMs = 0;
  lastUsedMs = 0;
  /**
   * True if the subscription has a pace (a limit of deliveries per time). The queue of such a subscription takes no deliveries in advance,
   * because a claimed delivery has to start at once.
   */
  isPaced = false;
  #heldUntilMs = 0;
  #meanMs: number | undefined;

  constructor(subscriptionId: SubscriptionId, projectId: ProjectId) {
    this.subscriptionId = subscriptionId;
    this.projectId = projectId;
  }

  /** Returns the part of the queue for throttled replays if `behind` is true, or else the part for live deliveries. */
  part(behind: boolean): QueuePart {
    return behind ? this.behind : this.live;
  }

  /**
   * Returns how many more deliveries the endpoint's queue can take now. `behind`: true for deliveries of throttled replays, false for all
   * other deliveries.
   */
  room(concurrency: number, nowMs: number, behind = false): number {
    if (this.isShut(nowMs)) return 0;
    return this.part(behind).room(turnsOf(concurrency, behind), this.isPaced ? 0 : this.#aheadFactor());
  }

  /**
   * True if a waiting delivery may be sent now. `behind`: true for throttled replays, false for live deliveries. False if none waits, or
   * the limit of attempts in flight is reached.
   */
  hasTurn(concurrency: number, behind: boolean): boolean {
    const part = this.part(behind);
    if (part.waiting.length === 0 || this.live.inFlight + this.behind.inFlight >= concurrency) return false;
    return !behind || (this.live.waiting.length === 0 && part.inFlight < turnsOf(concurrency, behind));
  }

  /** Removes all waiting deliveries from this endpoint's queue, and returns them. Attempts in flight stay. */
  takeWaiting(): OutgoingDelivery[] {
    return [...this.live.waiting.splice(0), ...this.behind.waiting.splice(0)];
  }

  #aheadFactor(): number {
    return this.#meanMs === undefined ? 1 : Math.min(queuedMsMax / Math.max(this.#meanMs, 1), queuedFactorMax);
  }

  /** True if the endpoint is failing and only a probe (test delivery) may be sent. */
  isShut(nowMs: number): boolean {
    return this.isFailing && nowMs < this.doubtUntilMs;
  }

  /** Records that the subscription's pace (its limit of deliveries per time) lets no delivery start before `ms`, epoch milliseconds. */
  holdUntil(ms: number): void {
    this.#heldUntilMs = ms;
  }

  /** True if the subscription's pace (its limit of deliveries per time) lets no delivery start now. */
  isHeld(nowMs: number): boolean {
    return nowMs < this.#heldUntilMs;
  }

  /** Records how long an endpoint took to answer a delivery, in milliseconds. */
  observe(durationMs: number): void {
    if (durationMs <= queuedMsMax) this.live.wasLate = false;
    this.#meanMs = this.#meanMs === undefined ? durationMs : this.#meanMs + newestWeight * (durationMs - this.#meanMs);
  }

  /** Closes the queue until `doubtUntilMs`, because its endpoint failed. Removes and returns the waiting deliveries. */
  fail(doubtUntilMs: number): OutgoingDelivery[] {
    this.isFailing = true;
    this.doubtUntilMs = doubtUntilMs;
    return this.takeWaiting();
  }

  recover(): void {
    this.isFailing = false;
  }

  isIdle(): boolean {
    return [this.live, this.behind].every(({ inFlight, waiting }) => inFlight === 0 && waiting.length === 0);
  }
}

/**
 * Returns the maximum number of attempts in flight to one endpoint. `behind`: true for deliveries of throttled replays, false for all other
 * deliveries.
 */
function turnsOf(concurrency: number, behind: boolean): number {
  return behind ? Math.max(1, Math.floor(concurrency * behindPart)) : concurrency;
}

/** Time without use after which a queue is removed, in milliseconds. The measured speed of its endpoint is lost with the queue. */
const idleMs = 60_000;

/** The queues of one node, by subscription. */
export class EndpointQueues {
  readonly #queues = new Map<SubscriptionId, EndpointQueue>();
  readonly #clock: Clock;
  readonly #concurrency: number;

  constructor(clock: Clock, concurrency: number) {
    this.#clock = clock;
    this.#concurrency = concurrency;
  }

  find(id: SubscriptionId): EndpointQueue | undefined {
    return this.#queues.get(id);
  }

  /** Returns the queue of a subscription and marks it as used. Creates the queue if there is none. */
  of(id: SubscriptionId, projectId: ProjectId): EndpointQueue {
    let queue = this.#queues.get(id);
    if (queue === undefined) {
      queue = new EndpointQueue(id, projectId);
      this.#queues.set(id, queue);
    }
    queue.lastUsedMs = this.#clock.now();
    return queue;
  }

  /** Returns how many deliveries of new events (not of replays) this node can take now for a subscription. */
  room(id: SubscriptionId): number {
    const queue = this.#queues.get(id);
    return queue === undefined ? this.defaultRoom(false) : queue.room(this.#concurrency, this.#clock.now());
  }

  /**
   * Returns how many deliveries this node takes at once for a subscription that has no queue on this node yet. `behind`: true for throttled
   * replays (repeated deliveries that are spread over time), false for deliveries of new events.
   */
  defaultRoom(behind: boolean): number {
    return 2 * turnsOf(this.#concurrency, behind);
  }

  /**
   * Returns how many deliveries this node may claim for each subscription whose number is not `defaultRoom`. `fullProjects`: projects for
   * which the node may claim nothing; their subscriptions have no entries. `behind`: true for throttled replays.
   */
  claimRooms(fullProjects: ReadonlySet<ProjectId>, behind = false): Map<SubscriptionId, number> {
    const nowMs = this.#clock.now();
    const rooms = new Map<SubscriptionId, number>();
    for (const [id, queue] of this.#queues) {
      const isQuiet = queue.isIdle() && queue.unreportedFailures === 0;
      if (isQuiet && queue.lastUsedMs < nowMs - idleMs && !queue.isShut(nowMs)) this.#queues.delete(id);
      // For an idle queue with a failing endpoint, the database decides, for all nodes together, if a probe (test delivery) is sent. A busy
      // queue gets nothing.
      if (fullProjects.has(queue.projectId) || (queue.isFailing && isQuiet)) continue;
      const room = queue.isFailing ? 0 : queue.room(this.#concurrency, nowMs, behind);
      if (room !== this.defaultRoom(behind)) rooms.set(id, room);
    }
    return rooms;
  }

  /** Removes all waiting deliveries from the queues of all endpoints, and returns these deliveries. */
  takeWaiting() {
    return [...this.#queues.values()].flatMap((queue) => queue.takeWaiting());
  }
}
