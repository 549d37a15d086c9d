import type { Clock, NodeId, ProjectId, Sealer, SubscriptionId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { claimDeliveries, type DeliveryClaim, type LeasedDelivery } from "@svc/db/deliveries/claim";
import type { ResolvedLimits } from "./limits.ts";
import type { DeliveryObserver } from "./observer.ts";

/** Dependencies of the claimer. */
export type ClaimerOptions = {
  db: Executor;
  clock: Clock;
  nodeId: NodeId;
  /** Provides the keys that the claimed deliveries need. */
  sealer: Pick<Sealer, "ready">;
  observer: DeliveryObserver;
  limits: ResolvedLimits;
  /**
   * Numbers of deliveries that may be claimed now: in all, for each subscription in `rooms`, and for every other one. None for
   * `fullProjects`. `behind` selects deliveries of throttled replays.
   */
  capacity(behind: boolean): {
    total: number;
    share: number;
    rooms: ReadonlyMap<SubscriptionId, number>;
    fullProjects: ReadonlySet<ProjectId>;
  };
  /** Takes the claimed deliveries. */
  onClaimed(deliveries: readonly LeasedDelivery[]): void;
  /** Ends at most `limit` tasks of a subscription that is inactive or deleted. Resolves to their number. */
  onEnded(id: SubscriptionId, limit: number): Promise<number>;
};

/** Result of one claim. `hasBehind`: throttled replays have queued deliveries. */
type Look = { foundSome: boolean; hadRoom: boolean; next: SubscriptionId | undefined; hasBehind: boolean };

/** Position in a round through the queues of one priority. */
type Place = { cursor: SubscriptionId | undefined; mayBeMore: boolean };

/** Pause before the next claim while throttled replays have due deliveries, in milliseconds. They become due little by little. */
const behindPauseMs = 50;
const claimMax = 256;
const claimQueuesMax = 256;
/** Largest number of tasks that one claim ends. Due deliveries elsewhere do not wait until a whole backlog has ended. */
const endedMax = 2_000;

/**
 * Claims due deliveries every `pollMs`, at the next known due time, and when woken. One round makes as many claims as it needs to reach
 * every queue.
 */
export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #live: Place = { cursor: undefined, mayBeMore: false };
  readonly #behind: Place = { cursor: undefined, mayBeMore: false };
  #nextDueMs = Number.POSITIVE_INFINITY;
  #pause = new AbortController();
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();
  /** More was stored during the present round. */
  #hasNews = false;
  /** The present round ended as many tasks as one claim may, and more are left. */
  #hasMoreToEnd = false;
  /** The last round found deliveries of throttled replays. */
  #foundBehind = false;

  constructor(options: ClaimerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** True if more deliveries may be due than there was room for: the last round found some, or could not look everywhere. */
  mayBeMore(behind: boolean): boolean {
    return this.#place(behind).mayBeMore;
  }

  #place(behind: boolean): Place {
    return behind ? this.#behind : this.#live;
  }

  /** Claims now. */
  wake(): void {
    this.#pause.abort("woken");
  }

  /** Records that deliveries were stored for which there was no room. */
  noteMore(): void {
    this.#live.mayBeMore = true;
    this.#hasNews = true;
  }

  /** Claims no later than at that time. */
  wakeAt(ms: number): void {
    if (ms >= this.#nextDueMs) return;
    this.#nextDueMs = ms;
    // The current pause may last longer than that. A pause that has not begun will not.
    if (ms - this.#options.clock.now() < this.#options.limits.pollMs) this.wake();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, limits } = this.#options;
    while (!this.#isStopped) {
      this.#pause = new AbortController();
      const { signal } = this.#pause;
      await this.#goRound();
      const nowMs = clock.now();
      const longestMs = this.#foundBehind ? Math.min(behindPauseMs, limits.pollMs) : limits.pollMs;
      const pauseMs = Math.max(1, Math.min(longestMs, this.#nextDueMs - nowMs));
      if (this.#nextDueMs <= nowMs) this.#nextDueMs = Number.POSITIVE_INFINITY;
      if (!this.#hasMoreToEnd) await clock.wait(pauseMs, signal);
    }
  }

  /** Visits every queue once, starting at the place where the last round ran out of room. */
  async #goRound(): Promise<void> {
    const from = this.#live.cursor;
    let isPastEnd = from === undefined;
    let foundSome = false;
    let hadRoom = true;
    let hasBehind = false;
    this.#hasNews = false;
    this.#hasMoreToEnd = false;
    while (!this.#isStopped) {
      const look = await this.#look(false);
      if (look === undefined) {
        this.#live.mayBeMore = true;
        return;
      }
      foundSome ||= look.foundSome;
      hadRoom &&= look.hadRoom;
      hasBehind = look.hasBehind;
      const { next } = look;
      this.#live.cursor = next;
      if (next === undefined ? isPastEnd : isPastEnd && from !== undefined && next >= from) break;
      isPastEnd ||= next === undefined;
    }
    this.#live.mayBeMore = foundSome || this.#hasNews || (this.#live.mayBeMore && !hadRoom);
    this.#behind.mayBeMore = false;
    this.#foundBehind = false;
    if (hasBehind && !this.#isStopped) await this.#lookBehind();
  }

  /** Makes one claim for throttled replays after every queue had its turn. */
  async #lookBehind(): Promise<void> {
    const look = await this.#look(true);
    this.#behind.cursor = look?.next;
    this.#foundBehind = look?.foundSome ?? false;
    this.#behind.mayBeMore = this.#foundBehind || look?.hadRoom !== true;
  }

  /** Makes one claim. Returns undefined if there is no room at all, or the database is unavailable. */
  async #look(behind: boolean): Promise<Look | undefined> {
    const { db, clock, nodeId, limits, observer, onClaimed } = this.#options;
    const { total, share, rooms, fullProjects } = this.#options.capacity(behind);
    const limit = Math.min(claimMax, total);
    if (limit <= 0) return undefined;
    const nowMs = clock.now();
    const leaseUntilMs = nowMs + limits.leaseMs;
    const request = {
      owner: nodeId,
      nowMs,
      leaseUntilMs,
      limit,
      share,
      slots: rooms,
      fullProjects,
      after: this.#place(behind).cursor,
      queuesMax: claimQueuesMax,
      lowPriority: behind,
    };
    try {
      const found: DeliveryClaim = await claimDeliveries(db, request);
      await this.#options.sealer.ready(found.deliveries.map(({ projectId }) => projectId));
      onClaimed(found.deliveries);
      await this.#end(found.ended);
      const hadRoom = fullProjects.size === 0 && [...rooms.values()].every((room) => room > 0);
      return { foundSome: found.deliveries.length > 0, hadRoom, next: found.next, hasBehind: found.hasLowPriority };
    } catch (error) {
      observer.failed("claim", error);
      return undefined;
    }
  }

  /** Ends a batch of the tasks in these queues. */
  async #end(ids: readonly SubscriptionId[]): Promise<void> {
    let left = endedMax;
    for (const id of ids) {
      if (left > 0) left -= await this.#options.onEnded(id, left);
    }
    if (left <= 0) this.#hasMoreToEnd = true;
  }
}
