import type { Clock, ProjectId, SubscriptionId } from "@svc/core";
import type { OutgoingDelivery } from "./outgoing.ts";

/** Most work that a queue may lease in advance, in milliseconds at the endpoint's own speed. */
const queuedMsMax = 2_000;
const queuedFactorMax = 32;
/** Weight of the newest attempt in the running mean of an endpoint's answer time. */
const newestWeight = 0.1;
/** Largest share of the attempts in flight to an endpoint that replays may use, so that a live delivery finds a free one. */
const behindPart = 0.75;

/** Waiting deliveries and attempts in flight of one priority: live ones, or those of throttled replays. */
class QueuePart {
  readonly waiting: OutgoingDelivery[] = [];
  inFlight = 0;
  /** Leases grew old while they waited here. Until an attempt is quick again, the queue takes no more leases than it has free turns. */
  wasLate = false;

  /** Returns the number of leases it can take: free turns, plus what the endpoint completes within two seconds. */
  room(turns: number, aheadFactor: number): number {
    const ahead = this.wasLate ? 0 : Math.floor(turns * aheadFactor);
    return Math.max(0, turns + ahead - this.inFlight - this.waiting.length);
  }
}

/**
 * The deliveries that one node holds for one subscription: attempts in flight, leases that wait for a turn, and the known state of the
 * endpoint. A failing queue takes no leases; only a probe claimed from the store is sent.
 */
export class EndpointQueue {
  readonly subscriptionId: SubscriptionId;
  readonly projectId: ProjectId;
  readonly live = new QueuePart();
  /** Deliveries of throttled replays. They are sent if no live delivery waits, on a part of the turns. */
  readonly behind = new QueuePart();
  isFailing = false;
  /** Failures that are not stored yet. Until they are, the store's view of the endpoint is old. */
  unreportedFailures = 0;
  /** Time until which a failing queue waits for news. After it, the queue assumes that the endpoint is healthy. */
  doubtUntilMs = 0;
  lastUsedMs = 0;
  #meanMs: number | undefined;

  constructor(subscriptionId: SubscriptionId, projectId: ProjectId) {
    this.subscriptionId = subscriptionId;
    this.projectId = projectId;
  }

  /** Returns the queue of one priority. */
  part(behind: boolean): QueuePart {
    return behind ? this.behind : this.live;
  }

  /** Returns the number of leases that one priority can take now. */
  room(concurrency: number, nowMs: number, behind = false): number {
    if (this.isShut(nowMs)) return 0;
    return this.part(behind).room(turnsOf(concurrency, behind), this.#aheadFactor());
  }

  /** True if one priority has a delivery that may be sent now. */
  hasTurn(concurrency: number, behind: boolean): boolean {
    const part = this.part(behind);
    if (part.waiting.length === 0 || this.live.inFlight + this.behind.inFlight >= concurrency) return false;
    return !behind || (this.live.waiting.length === 0 && part.inFlight < turnsOf(concurrency, behind));
  }

  /** Removes and returns all waiting deliveries. */
  takeWaiting(): OutgoingDelivery[] {
    return [...this.live.waiting.splice(0), ...this.behind.waiting.splice(0)];
  }

  #aheadFactor(): number {
    return this.#meanMs === undefined ? 1 : Math.min(queuedMsMax / Math.max(this.#meanMs, 1), queuedFactorMax);
  }

  /** True if only a probe may be sent. */
  isShut(nowMs: number): boolean {
    return this.isFailing && nowMs < this.doubtUntilMs;
  }

  /** Records how long an answer took, in milliseconds. */
  observe(durationMs: number): void {
    if (durationMs <= queuedMsMax) this.live.wasLate = false;
    this.#meanMs = this.#meanMs === undefined ? durationMs : this.#meanMs + newestWeight * (durationMs - this.#meanMs);
  }

  /** Closes the queue and returns its waiting deliveries. */
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

/** Returns the number of attempts to an endpoint that one priority may have in flight. */
function turnsOf(concurrency: number, behind: boolean): number {
  return behind ? Math.max(1, Math.floor(concurrency * behindPart)) : concurrency;
}

/** Milliseconds without use after which a queue is removed, together with the measured speed of its endpoint. */
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

  /** Returns the queue of a subscription, created if there is none, and marks it as used. */
  of(id: SubscriptionId, projectId: ProjectId): EndpointQueue {
    let queue = this.#queues.get(id);
    if (queue === undefined) {
      queue = new EndpointQueue(id, projectId);
      this.#queues.set(id, queue);
    }
    queue.lastUsedMs = this.#clock.now();
    return queue;
  }

  /** Returns the number of leases that can be taken for a subscription. */
  room(id: SubscriptionId): number {
    const queue = this.#queues.get(id);
    return queue === undefined ? this.defaultRoom(false) : queue.room(this.#concurrency, this.#clock.now());
  }

  /** Returns the number of leases that can be taken for an unknown subscription. `behind` selects throttled replays. */
  defaultRoom(behind: boolean): number {
    return 2 * turnsOf(this.#concurrency, behind);
  }

  /**
   * Returns the leases that may be claimed, for those subscriptions about which this node knows more than the store. Left out:
   * subscriptions with the default room, idle ones of failing endpoints (the store grants those a probe at most), and those of
   * `fullProjects`. Removes idle queues first.
   */
  claimRooms(fullProjects: ReadonlySet<ProjectId>, behind = false): Map<SubscriptionId, number> {
    const nowMs = this.#clock.now();
    const rooms = new Map<SubscriptionId, number>();
    for (const [id, queue] of this.#queues) {
      const isQuiet = queue.isIdle() && queue.unreportedFailures === 0;
      if (isQuiet && queue.lastUsedMs < nowMs - idleMs && !queue.isShut(nowMs)) this.#queues.delete(id);
      // The store decides for all nodes if a failing endpoint is probed. Here it only must not be busy.
      if (fullProjects.has(queue.projectId) || (queue.isFailing && isQuiet)) continue;
      const room = queue.isFailing ? 0 : queue.room(this.#concurrency, nowMs, behind);
      if (room !== this.defaultRoom(behind)) rooms.set(id, room);
    }
    return rooms;
  }

  /** Empties every queue and returns the deliveries that waited. */
  takeWaiting() {
    return [...this.#queues.values()].flatMap((queue) => queue.takeWaiting());
  }
}
