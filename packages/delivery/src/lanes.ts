import type { Clock, ProjectId, SubscriptionId } from "@svc/core";
import type { OutgoingDelivery } from "./outgoing.ts";

/** How far ahead of its endpoint a lane may hold leases: this much work, by the endpoint's own speed. */
const queuedMsMax = 2_000;
const queuedFactorMax = 32;
/** Weight of the newest attempt in the running mean of an endpoint's answer time. */
const newestWeight = 0.1;
/** Of the attempts in flight to an endpoint, what replays queued may make up so much: a live delivery finds one free. */
const behindPart = 0.75;

/** What waits in a lane, and is in flight, of one priority: what is live, or what paced replays queued. */
class LaneQueue {
  readonly waiting: OutgoingDelivery[] = [];
  inFlight = 0;
  /** Leases grew old waiting here: until an attempt is quick again it takes no more than it has turns free. */
  wasLate = false;

  /** Leases it can take on: free turns, and as many more as the endpoint works off within two seconds. */
  room(turns: number, aheadFactor: number): number {
    const ahead = this.wasLate ? 0 : Math.floor(turns * aheadFactor);
    return Math.max(0, turns + ahead - this.inFlight - this.waiting.length);
  }
}

/**
 * What one node holds for one subscription: attempts in flight, leases waiting for a turn, and what it knows of the
 * endpoint. A lane is open, or failing: then it takes no leases, and only a probe claimed from the store goes out.
 */
export class Lane {
  readonly subscriptionId: SubscriptionId;
  readonly projectId: ProjectId;
  readonly live = new LaneQueue();
  /** What paced replays queued: sent if nothing live waits, on a part of the turns. */
  readonly behind = new LaneQueue();
  isFailing = false;
  /** Failures that the store does not know of yet: until it does, what it says of the endpoint is old. */
  unreportedFailures = 0;
  /** A failing lane believes itself well again when nothing more was heard of it until then. */
  doubtUntilMs = 0;
  lastUsedMs = 0;
  #meanMs: number | undefined;

  constructor(subscriptionId: SubscriptionId, projectId: ProjectId) {
    this.subscriptionId = subscriptionId;
    this.projectId = projectId;
  }

  /** The queue of one priority. */
  queue(behind: boolean): LaneQueue {
    return behind ? this.behind : this.live;
  }

  /** Leases that a queue of it can take on now. */
  room(concurrency: number, nowMs: number, behind = false): number {
    if (this.isShut(nowMs)) return 0;
    return this.queue(behind).room(turnsOf(concurrency, behind), this.#aheadFactor());
  }

  /** True if a queue has a delivery that the lane may send now. */
  hasTurn(concurrency: number, behind: boolean): boolean {
    const queue = this.queue(behind);
    if (queue.waiting.length === 0 || this.live.inFlight + this.behind.inFlight >= concurrency) return false;
    return !behind || (this.live.waiting.length === 0 && queue.inFlight < turnsOf(concurrency, behind));
  }

  /** Takes out all that waits. */
  takeWaiting(): OutgoingDelivery[] {
    return [...this.live.waiting.splice(0), ...this.behind.waiting.splice(0)];
  }

  #aheadFactor(): number {
    return this.#meanMs === undefined ? 1 : Math.min(queuedMsMax / Math.max(this.#meanMs, 1), queuedFactorMax);
  }

  /** Whether it takes nothing but a probe. */
  isShut(nowMs: number): boolean {
    return this.isFailing && nowMs < this.doubtUntilMs;
  }

  /** Notes how long an answer took. */
  observe(durationMs: number): void {
    if (durationMs <= queuedMsMax) this.live.wasLate = false;
    this.#meanMs = this.#meanMs === undefined ? durationMs : this.#meanMs + newestWeight * (durationMs - this.#meanMs);
  }

  /** Closes the lane and hands out what waits in it. */
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

/** Attempts to an endpoint that one queue of its lane may have in flight. */
function turnsOf(concurrency: number, behind: boolean): number {
  return behind ? Math.max(1, Math.floor(concurrency * behindPart)) : concurrency;
}

/** A lane that nothing used for so long is forgotten, and with it what was known of the endpoint's speed. */
const idleMs = 60_000;

/** The lanes of one node, by subscription. */
export class Lanes {
  readonly #lanes = new Map<SubscriptionId, Lane>();
  readonly #clock: Clock;
  readonly #concurrency: number;

  constructor(clock: Clock, concurrency: number) {
    this.#clock = clock;
    this.#concurrency = concurrency;
  }

  find(id: SubscriptionId): Lane | undefined {
    return this.#lanes.get(id);
  }

  /** The lane of a subscription, made when there is none, and in use from now. */
  of(id: SubscriptionId, projectId: ProjectId): Lane {
    let lane = this.#lanes.get(id);
    if (lane === undefined) {
      lane = new Lane(id, projectId);
      this.#lanes.set(id, lane);
    }
    lane.lastUsedMs = this.#clock.now();
    return lane;
  }

  /** Leases that would be taken for a subscription. */
  room(id: SubscriptionId): number {
    const lane = this.#lanes.get(id);
    return lane === undefined ? this.defaultRoom(false) : lane.room(this.#concurrency, this.#clock.now());
  }

  /** Leases that would be taken for a subscription nothing is known of. `behind`: of what paced replays queued. */
  defaultRoom(behind: boolean): number {
    return 2 * turnsOf(this.#concurrency, behind);
  }

  /**
   * Leases that may be claimed for the subscriptions of which this node knows more than the store: neither those with the
   * default room, nor idle ones of failing endpoints (the store's own word gives those a probe at most), nor those of
   * `fullProjects`. Forgets idle lanes first.
   */
  claimRooms(fullProjects: ReadonlySet<ProjectId>, behind = false): Map<SubscriptionId, number> {
    const nowMs = this.#clock.now();
    const rooms = new Map<SubscriptionId, number>();
    for (const [id, lane] of this.#lanes) {
      const isQuiet = lane.isIdle() && lane.unreportedFailures === 0;
      if (isQuiet && lane.lastUsedMs < nowMs - idleMs && !lane.isShut(nowMs)) this.#lanes.delete(id);
      // Whether a failing endpoint may be probed is the store's to say, for all nodes; here it is only not busy.
      if (fullProjects.has(lane.projectId) || (lane.isFailing && isQuiet)) continue;
      const room = lane.isFailing ? 0 : lane.room(this.#concurrency, nowMs, behind);
      if (room !== this.defaultRoom(behind)) rooms.set(id, room);
    }
    return rooms;
  }

  /** Empties every lane and returns what waited. */
  takeWaiting() {
    return [...this.#lanes.values()].flatMap((lane) => lane.takeWaiting());
  }
}
