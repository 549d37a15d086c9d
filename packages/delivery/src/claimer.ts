import type { Clock, NodeId, ProjectId, Sealer, SubscriptionId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { claimDeliveries, type DeliveryClaim, type LeasedDelivery } from "@svc/db/deliveries/claim";
import type { ResolvedLimits } from "./limits.ts";
import type { DeliveryObserver } from "./observer.ts";

/** What the claimer needs of its surroundings. */
export type ClaimerOptions = {
  db: Executor;
  clock: Clock;
  nodeId: NodeId;
  /** Has the keys of what was claimed at hand. */
  sealer: Pick<Sealer, "ready">;
  observer: DeliveryObserver;
  limits: ResolvedLimits;
  /**
   * How many deliveries may be claimed now, in all, for a subscription not named in `rooms`, and for those named; none for
   * `fullProjects`. `behind`: of those that paced replays queued.
   */
  capacity(behind: boolean): {
    total: number;
    share: number;
    rooms: ReadonlyMap<SubscriptionId, number>;
    fullProjects: ReadonlySet<ProjectId>;
  };
  /** Takes what was claimed. */
  onClaimed(deliveries: readonly LeasedDelivery[]): void;
  /** Ends at most `limit` tasks of a subscription that is inactive or gone; resolves to how many. */
  onEnded(id: SubscriptionId, limit: number): Promise<number>;
};

/** What a look found. `hasBehind`: paced replays have something queued. */
type Look = { foundSome: boolean; hadRoom: boolean; next: SubscriptionId | undefined; hasBehind: boolean };

/** Position in a round among the lanes of one priority. */
type Place = { cursor: SubscriptionId | undefined; mayBeMore: boolean };

/** What paced replays queue is due little by little: while some is found, the next is looked for so soon. */
const behindPauseMs = 50;
const claimMax = 256;
const claimLanesMax = 256;
/** Tasks ended a look at most: what is due elsewhere must not wait for a whole backlog to end. */
const endedMax = 2_000;

/**
 * Looks for due deliveries: every `pollMs`, at the next time something is known to become due, and whenever it is woken.
 * A round is as many looks as it takes to come to every lane.
 */
export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #live: Place = { cursor: undefined, mayBeMore: false };
  readonly #behind: Place = { cursor: undefined, mayBeMore: false };
  #nextDueMs = Number.POSITIVE_INFINITY;
  #pause = new AbortController();
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();
  /** More was stored while the present round went on. */
  #hasNews = false;
  /** The present round ended as many tasks as a look may: more are to be ended. */
  #hasMoreToEnd = false;
  /** The last round found some of what paced replays queued. */
  #foundBehind = false;

  constructor(options: ClaimerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** True if more may be due than there was room for: the last round found something, or was hindered. */
  mayBeMore(behind: boolean): boolean {
    return this.#place(behind).mayBeMore;
  }

  #place(behind: boolean): Place {
    return behind ? this.#behind : this.#live;
  }

  /** Looks now. */
  wake(): void {
    this.#pause.abort("woken");
  }

  /** Told that deliveries were stored for which there was no room. */
  noteMore(): void {
    this.#live.mayBeMore = true;
    this.#hasNews = true;
  }

  /** Looks no later than then. */
  wakeAt(ms: number): void {
    if (ms >= this.#nextDueMs) return;
    this.#nextDueMs = ms;
    // The pause under way may be longer than that; a pause yet to begin will not be.
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

  /** Looks at every lane once, beginning where the last round ended for want of room. */
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

  /** Once every lane had its turn, one look at what paced replays queued. */
  async #lookBehind(): Promise<void> {
    const look = await this.#look(true);
    this.#behind.cursor = look?.next;
    this.#foundBehind = look?.foundSome ?? false;
    this.#behind.mayBeMore = this.#foundBehind || look?.hadRoom !== true;
  }

  /** One look; undefined when there is no room at all, or the store is away. */
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
      rooms,
      fullProjects,
      after: this.#place(behind).cursor,
      lanes: claimLanesMax,
      behind,
    };
    try {
      const found: DeliveryClaim = await claimDeliveries(db, request);
      await this.#options.sealer.ready(found.deliveries.map(({ projectId }) => projectId));
      onClaimed(found.deliveries);
      await this.#end(found.ended);
      const hadRoom = fullProjects.size === 0 && [...rooms.values()].every((room) => room > 0);
      return { foundSome: found.deliveries.length > 0, hadRoom, next: found.next, hasBehind: found.hasBehind };
    } catch (error) {
      observer.failed("claim", error);
      return undefined;
    }
  }

  /** Ends a batch of the tasks in these lanes. */
  async #end(ids: readonly SubscriptionId[]): Promise<void> {
    let left = endedMax;
    for (const id of ids) {
      if (left > 0) left -= await this.#options.onEnded(id, left);
    }
    if (left <= 0) this.#hasMoreToEnd = true;
  }
}
