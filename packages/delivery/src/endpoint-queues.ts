import type { Clock, ProjectId, SubscriptionId } from "@svc/core";
import type { OutgoingDelivery } from "./outgoing.ts";

/** Maximum amount of work for which a queue may hold leases in advance, in milliseconds at the endpoint's own speed. */
const queuedMsMax = 2_000;
const queuedFactorMax = 32;
/** Weight of the newest attempt in the running mean of an endpoint's answer time. */
const newestWeight = 0.1;
/** Maximum share of the attempts in flight to an endpoint that replays may use. The remaining share is free for live deliveries. */
const behindPart = 0.75;

/** The waiting deliveries and the attempts in flight of one priority: live deliveries, or deliveries of throttled replays. */
class QueuePart {
  readonly waiting: OutgoingDelivery[] = [];
  inFlight = 0;
  /**
   * True if leases grew too old while they waited here. Until an attempt is fast again, the queue takes only as many leases as it has free
   * turns.
   */
  wasLate = false;

  /**
   * Returns the number of leases that this part can take: its free turns, plus the number of deliveries that the endpoint completes within
   * two seconds.
   */
  room(turns: number, aheadFactor: number): number {
    const ahead = this.wasLate ? 0 : Math.floor(turns * aheadFactor);
    return Math.max(0, turns + ahead - this.inFlight - this.waiting.length);
  }
}

/**
 * The deliveries that one node holds for one subscription: attempts in flight, leases that wait for a turn (slot for an attempt), and the
 * known state of the endpoint. If the endpoint is failing, the queue takes no leases and sends only a probe, which is claimed from the
 * database.
 */
export class EndpointQueue {
  readonly subscriptionId: SubscriptionId;
  readonly projectId: ProjectId;
  readonly live = new QueuePart();
  /** Deliveries of throttled replays. They are sent if no live delivery waits, and they may use only some of the turns. */
  readonly behind = new QueuePart();
  isFailing = false;
  /** Number of failures that are not stored yet. Until they are stored, the database does not know the endpoint's newest state. */
  unreportedFailures = 0;
  /** Time until which a failing queue waits for news about its endpoint. After that time the queue assumes that the endpoint is healthy. */
  doubtUntilMs = 0;
  lastUsedMs = 0;
  #meanMs: number | undefined;

  constructor(subscriptionId: SubscriptionId, projectId: ProjectId) {
    this.subscriptionId = subscriptionId;
    this.projectId = projectId;
  }

  /** Returns the part of the queue with one priority. `behind`: true for throttled replays. */
  part(behind: boolean): QueuePart {
    return behind ? this.behind : this.live;
  }

  /** Returns how many leases one priority can take now. */
  room(concurrency: number, nowMs: number, behind = false): number {
    if (this.isShut(nowMs)) return 0;
    return this.part(behind).room(turnsOf(concurrency, behind), this.#aheadFactor());
  }

  /** True if one priority has a waiting delivery that may be sent now. */
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

  /** Closes the queue because its endpoint failed. Returns the waiting deliveries. */
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

/** Returns how many attempts to an endpoint one priority may have in flight. */
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

  /** Returns how many leases can be taken for a subscription. */
  room(id: SubscriptionId): number {
    const queue = this.#queues.get(id);
    return queue === undefined ? this.defaultRoom(false) : queue.room(this.#concurrency, this.#clock.now());
  }

  /** Returns how many leases can be taken for a subscription without a queue. `behind`: true for throttled replays. */
  defaultRoom(behind: boolean): number {
    return 2 * turnsOf(this.#concurrency, behind);
  }

  /**
   * Returns how many leases may be claimed for each subscription about which this node knows more than the database. It leaves out
   * subscriptions with the default room, those of `fullProjects`, and idle subscriptions with failing endpoints (the database grants each
   * of these at most one probe). Removes idle queues first.
   */
  claimRooms(fullProjects: ReadonlySet<ProjectId>, behind = false): Map<SubscriptionId, number> {
    const nowMs = this.#clock.now();
    const rooms = new Map<SubscriptionId, number>();
    for (const [id, queue] of this.#queues) {
      const isQuiet = queue.isIdle() && queue.unreportedFailures === 0;
      if (isQuiet && queue.lastUsedMs < nowMs - idleMs && !queue.isShut(nowMs)) this.#queues.delete(id);
      // The database decides for all nodes if a failing endpoint is probed. Here the only condition is that the queue is not busy.
      if (fullProjects.has(queue.projectId) || (queue.isFailing && isQuiet)) continue;
      const room = queue.isFailing ? 0 : queue.room(this.#concurrency, nowMs, behind);
      if (room !== this.defaultRoom(behind)) rooms.set(id, room);
    }
    return rooms;
  }

  /** Empties every queue. Returns the deliveries that were waiting. */
  takeWaiting() {
    return [...this.#queues.values()].flatMap((queue) => queue.takeWaiting());
  }
}
