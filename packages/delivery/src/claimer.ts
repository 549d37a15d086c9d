import {
  beginSpan,
  type Clock,
  claimSpan,
  type NodeId,
  type ProjectId,
  type Sealer,
  type SubscriptionId,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { claimDeliveries, type DeliveryClaim } from "@svc/db/deliveries/claim";
import type { LeasedDelivery } from "@svc/db/deliveries/claimed-delivery";
import type { ResolvedLimits } from "./limits.ts";
import type { DeliveryObserver } from "./observer.ts";

/** Dependencies of the claimer, which takes due deliveries from the database for this node. */
export type ClaimerOptions = {
  db: Executor;
  clock: Clock;
  nodeId: NodeId;
  /** Loads the data keys of projects, which decrypt the signing secrets of claimed deliveries. */
  sealer: Pick<Sealer, "ready">;
  observer: DeliveryObserver;
  limits: ResolvedLimits;
  /**
   * Returns how many deliveries this node may claim now: `total` in all, `rooms` for each listed subscription, `share` for each other one.
   * It may claim none of `fullProjects`. `behind`: true to ask about deliveries of throttled replays, false for all others.
   */
  capacity(behind: boolean): {
    total: number;
    share: number;
    rooms: ReadonlyMap<SubscriptionId, number>;
    fullProjects: ReadonlySet<ProjectId>;
  };
  /**
   * Called for subscriptions whose pace (a limit of deliveries per time) lets no delivery start now. The times, in epoch milliseconds, say
   * from when the next delivery may start.
   */
  onPaced(opensAt: DeliveryClaim["paced"]): void;
  /** Called with the claimed deliveries, which this node then sends. */
  onClaimed(deliveries: readonly LeasedDelivery[]): void;
  /**
   * Called with an inactive or deleted subscription. Ends at most `limit` pending deliveries of this subscription, and resolves to the
   * number of ended deliveries.
   */
  onEnded(id: SubscriptionId, limit: number): Promise<number>;
};

/**
 * Result of one search for due deliveries.
 * - `foundSome`: true if the search found deliveries.
 * - `hadRoom`: false if this node could take no delivery for some project or subscription.
 * - `next`: the subscription at which the next search continues.
 * - `hasBehind`: true if throttled replays have queued deliveries.
 */
type Look = { foundSome: boolean; hadRoom: boolean; next: SubscriptionId | undefined; hasBehind: boolean };

/**
 * Position in a round. A round claims deliveries from all queues of one priority (live deliveries, or throttled replays). `cursor`: last
 * subscription reached; undefined at the start. `mayBeMore`: true if further deliveries may be due.
 */
type Place = { cursor: SubscriptionId | undefined; mayBeMore: boolean };

/**
 * Pause before the next claim while throttled replays have due deliveries, in milliseconds. The pause is short, because these deliveries
 * become due a few at a time.
 */
const behindPauseMs = 50;
/**
 * Minimum pause in milliseconds before the next search for deliveries that a subscription's pace has delayed. A pace is a limit of
 * deliveries per time.
 */
const pacedRoundMs = 25;
const claimMax = 256;
const claimQueuesMax = 256;
/**
 * Maximum number of pending deliveries to inactive subscriptions that the node ends after one claim. A large number of them is ended in
 * parts, so that due deliveries to other subscriptions do not wait.
 */
const endedMax = 2_000;

/**
 * Claims due deliveries: takes them from the database, so that only this node sends them. Does so every `pollMs`, at the next known due
 * time, and when `wake` is called. Claims are made in rounds: one round makes as many claims as are needed to reach every queue.
 */
export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #live: Place = { cursor: undefined, mayBeMore: false };
  readonly #behind: Place = { cursor: undefined, mayBeMore: false };
  #nextDueMs = Number.POSITIVE_INFINITY;
  #pause = new AbortController();
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();
  /** True if new deliveries were stored in the database after this node had begun its present search for due deliveries. */
  #hasNews = false;
  /**
   * True if a claim of the present round has removed the maximum number of tasks of inactive subscriptions (`endedMax`). More such tasks
   * may remain, so the next round begins at once.
   */
  #hasMoreToEnd = false;
  /** True if the last search for due deliveries found deliveries of throttled replays. */
  #foundBehind = false;

  constructor(options: ClaimerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** True if more deliveries may be due. `behind`: true to ask about throttled replays, false for all other deliveries. */
  mayBeMore(behind: boolean): boolean {
    return this.#place(behind).mayBeMore;
  }

  #place(behind: boolean): Place {
    return behind ? this.#behind : this.#live;
  }

  /** Ends the current pause between two searches for due deliveries, so that the next search begins at once. */
  wake(): void {
    this.#pause.abort("woken");
  }

  /** Records that the database contains due deliveries that this node has no capacity to send now. A later claim takes them. */
  noteMore(): void {
    this.#live.mayBeMore = true;
    this.#hasNews = true;
  }

  /** Makes the claimer look for due deliveries at the time `ms` (epoch milliseconds) or earlier. */
  wakeAt(ms: number): void {
    if (ms >= this.#nextDueMs) return;
    this.#nextDueMs = ms;
    // The claimer may be in a pause that ends after `ms`, so this ends the pause now. Its later pauses end at `ms` or earlier.
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
      // This round claims what is due by now. It finds later times by itself only for paces.
      if (this.#nextDueMs <= clock.now()) this.#nextDueMs = Number.POSITIVE_INFINITY;
      await this.#goRound();
      const nowMs = clock.now();
      const longestMs = this.#foundBehind ? Math.min(behindPauseMs, limits.pollMs) : limits.pollMs;
      const pauseMs = Math.max(1, Math.min(longestMs, this.#nextDueMs - nowMs));
      if (this.#nextDueMs <= nowMs) this.#nextDueMs = Number.POSITIVE_INFINITY;
      if (!this.#hasMoreToEnd) await clock.wait(pauseMs, signal);
    }
  }

  /**
   * Goes through the queues of all subscriptions once, and claims due deliveries. Begins at the queue where the last round stopped because
   * the node was full.
   */
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

  /**
   * Searches once for due deliveries of throttled replays (repeated deliveries that are spread over time), and takes them for this node. It
   * follows the search for deliveries of new events, because replays have low priority.
   */
  async #lookBehind(): Promise<void> {
    const look = await this.#look(true);
    this.#behind.cursor = look?.next;
    this.#foundBehind = look?.foundSome ?? false;
    this.#behind.mayBeMore = this.#foundBehind || look?.hadRoom !== true;
  }

  /**
   * Claims due deliveries once: takes them from the database and keeps them from other nodes for a limited time. `behind`: true for
   * deliveries of throttled replays. Returns undefined if the node can take no more deliveries, or if the database is unavailable.
   */
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
      const claimed = found.deliveries.length;
      if (claimed > 0) beginSpan(claimSpan, { of: "deliveries", claimed, tookMs: clock.now() - nowMs })?.end();
      await this.#options.sealer.ready(found.deliveries.map(({ projectId }) => projectId));
      // The next round begins when the first of these paces lets a delivery start.
      const opensAtMs = Math.min(...found.paced.values());
      this.#nextDueMs = Math.min(this.#nextDueMs, Math.max(opensAtMs, nowMs + pacedRoundMs));
      this.#options.onPaced(found.paced);
      onClaimed(found.deliveries);
      await this.#end(found.ended);
      const hadRoom = fullProjects.size === 0 && [...rooms.values()].every((room) => room > 0);
      return { foundSome: found.deliveries.length > 0, hadRoom, next: found.next, hasBehind: found.hasLowPriority };
    } catch (error) {
      observer.failed("claim", error);
      return undefined;
    }
  }

  /** Ends pending deliveries to these inactive or deleted subscriptions, at most `endedMax` in all, so that they are not sent. */
  async #end(ids: readonly SubscriptionId[]): Promise<void> {
    let left = endedMax;
    for (const id of ids) {
      if (left > 0) left -= await this.#options.onEnded(id, left);
    }
    if (left <= 0) this.#hasMoreToEnd = true;
  }
}
