import type { LimiterKey } from "@svc/db/call-limits/paces";
import type { PaceDocument } from "@svc/db/documents/calls";
import type { PaceRules } from "./pace.ts";

/**
 * Minimum time in milliseconds between the tries of two jobs that wait for the same call limit. In a try, a job asks if its call may start
 * now. A node easily handles tries at this interval.
 */
const stepMinMs = 50;
/** Usual maximum time in milliseconds until a waiting job tries again. If very many jobs wait, the time is longer. */
const horizonMs = 60_000;

/**
 * Times for the planned next try of a job whose call found a full call limit, in milliseconds. `earliestMs`: the job does not try before
 * this time. `stepMs`: average time between two calls that the limit permits. `sinceMs`: when the job began to wait.
 */
type BookingTimes = {
  readonly nowMs: number;
  readonly earliestMs: number;
  readonly stepMs: number;
  readonly sinceMs: number;
};

/**
 * The planned next try of a job that waits for a call limit. `atMs`: time of the try. `sinceMs`: start of the wait. `claimed`: true if a
 * call of the job has already begun this try.
 */
type Booking = { readonly atMs: number; readonly sinceMs: number; claimed: boolean };

/** Milliseconds by which a job may miss its planned try. After that, the job no longer counts as waiting. */
const graceMs = 5_000;

/**
 * Plans when the jobs that wait for one call limit try their calls again. Each job gets its own time, so that not all try at once. Each
 * node plans only its own jobs.
 */
export class Bookings {
  /**
   * The planned next tries (bookings) of waiting jobs, by job id. They are in the order in which they were planned, which is also the order
   * of their times.
   */
  readonly #bookings = new Map<string, Booking>();
  #last = 0;

  /** Returns the time of a job's next try, epoch milliseconds. If the job asks again before that time, it gets the same time. */
  book(jobId: string, { nowMs, earliestMs, stepMs, sinceMs }: BookingTimes): number {
    const known = this.#bookings.get(jobId);
    if (known !== undefined && known.atMs > nowMs) return known.atMs;
    this.#bookings.delete(jobId);
    const waiting = this.count(nowMs);
    const step = Math.max(stepMinMs, Math.min(stepMs, horizonMs / (waiting + 1)));
    this.#last = Math.ceil(Math.max(earliestMs, waiting === 0 ? 0 : this.#last + step));
    const waitsSinceMs = Math.min(sinceMs, known?.sinceMs ?? sinceMs);
    this.#bookings.set(jobId, { atMs: this.#last, sinceMs: waitsSinceMs, claimed: false });
    return this.#last;
  }

  /** True if the job has a planned time for the next try of its call, and this time has come. */
  isDue(jobId: string, nowMs: number): boolean {
    const booking = this.#bookings.get(jobId);
    return booking !== undefined && booking.atMs <= nowMs;
  }

  /**
   * Returns the time since which a job has waited for this limiter, in epoch milliseconds. Returns undefined if the job does not wait, or
   * if an earlier call of this function has returned the time.
   */
  claim(jobId: string): number | undefined {
    const booking = this.#bookings.get(jobId);
    if (booking === undefined || booking.claimed) return undefined;
    booking.claimed = true;
    return booking.sinceMs;
  }

  /** Removes the planned time at which a job tries its call again, because the job need not try again. */
  end(jobId: string): void {
    this.#bookings.delete(jobId);
  }

  /** Returns the number of jobs that wait for the call limit. Jobs that are 5 seconds late for their planned try are removed first. */
  count(nowMs: number): number {
    for (const [jobId, { atMs }] of this.#bookings) {
      if (atMs + graceMs > nowMs) break;
      this.#bookings.delete(jobId);
    }
    return this.#bookings.size;
  }
}

/**
 * State of one limiter key on this node. A limiter key is what a call limit counts separately, for example one account. Calls with the same
 * limiter key are counted together.
 */
export type Limiter = {
  readonly key: LimiterKey;
  rules: PaceRules;
  /**
   * The limiter's state in the database, as this node last read or wrote it. Undefined if this node does not know the state. An empty
   * revision means that the database has no row.
   */
  known: { readonly pace: PaceDocument | undefined; readonly revision: string; readonly atMs: number } | undefined;
  /** Number of slots that calls of this node hold. */
  held: number;
  /**
   * Number of calls on this node that wait for this limiter. Some of these calls may wait only because another of their limiters is full.
   */
  waiting: number;
  /** The last report of this node to the database. `wanted`: number of waiting calls. `atMs`: time of the report. */
  reported: { readonly wanted: number; readonly atMs: number };
  /** Time before which no call can start, epoch milliseconds. The limiter is not checked before this time. */
  fullUntilMs: number;
  /** Average time for which a call holds its slot, milliseconds. */
  heldMs: number;
  /** Planned next tries of jobs that wait for this limiter. */
  readonly bookings: Bookings;
};

/** Creates the state of one call limit on this node, before anything is known about its use on all nodes. */
function newLimiter(key: LimiterKey, rules: PaceRules): Limiter {
  return {
    key,
    rules,
    known: undefined,
    held: 0,
    waiting: 0,
    reported: { wanted: 0, atMs: 0 },
    fullUntilMs: 0,
    heldMs: 100,
    bookings: new Bookings(),
  };
}

/** True if the node can remove the limiter from memory, because its whole state is in the database. False if calls hold slots or wait. */
function isIdle({ held, waiting, reported, bookings }: Limiter, nowMs: number): boolean {
  return held === 0 && waiting === 0 && reported.wanted === 0 && bookings.count(nowMs) === 0;
}

/**
 * Returns the average time in milliseconds after which one more call can start, because a slot becomes free or the rate permits it. Uses
 * only what this node knows.
 */
export function stepOf({ rules: { concurrency, rate, isPaused }, heldMs }: Limiter): number {
  if (isPaused) return 0;
  const ofRate = rate === undefined ? 0 : rate.perMs / rate.max;
  const ofPlaces = concurrency === 0 ? 0 : heldMs / concurrency;
  return Math.max(ofRate, ofPlaces);
}

/** Updates the average time for which a call uses a slot of a call limit. The new duration has a weight of one eighth. */
export function noteHeld(limiter: Limiter, ms: number): void {
  limiter.heldMs += (ms - limiter.heldMs) / 8;
}

/**
 * True if two sets of rules of a call limit have the same values. The values are compared and not the objects, because two readings of the
 * same definition give different objects.
 */
function isSame(one: PaceRules, other: PaceRules): boolean {
  return (
    one.isPaused === other.isPaused &&
    one.concurrency === other.concurrency &&
    one.rate?.max === other.rate?.max &&
    one.rate?.perMs === other.rate?.perMs
  );
}

/** True if the slots of the limiter are counted in the database. False if it limits only a rate. */
export function countsPlaces({ rules }: Limiter): boolean {
  return rules.concurrency > 0;
}

/** Identifies one counter of a call limit, and contains the limit's rules for the calls that are counted there. */
export type RuledKey = LimiterKey & { readonly rules: PaceRules };

/** Number of limiters in the memory of a node. If a node has more limiters than this, it removes those that are idle. */
const limitersMin = 1_000;

/**
 * The limiters (counters of call limits) that this node has in memory. If there are more than `limitersMin`, idle ones are removed, except
 * those for which `isKept` returns true.
 */
export class Limiters {
  readonly #limiters = new Map<string, Limiter>();
  readonly #isKept: (limiter: Limiter) => boolean;
  #prunesAt = limitersMin;

  constructor(isKept: (limiter: Limiter) => boolean) {
    this.#isKept = isKept;
  }

  /** Returns the limiter of a key. The limiter uses the given rules from now on. */
  of({ rules, ...key }: RuledKey, nowMs: number): Limiter {
    const id = JSON.stringify([key.projectId, key.limitName, key.key]);
    let limiter = this.#limiters.get(id);
    if (limiter === undefined) {
      this.#prune(nowMs);
      limiter = newLimiter(key, rules);
      this.#limiters.set(id, limiter);
    } else if (!isSame(limiter.rules, rules)) {
      // The rules may have changed, so the limiter is checked again at once in this case.
      limiter.rules = rules;
      limiter.fullUntilMs = 0;
    }
    return limiter;
  }

  #prune(nowMs: number): void {
    if (this.#limiters.size < this.#prunesAt) return;
    for (const [id, limiter] of this.#limiters) {
      if (isIdle(limiter, nowMs) && !this.#isKept(limiter)) this.#limiters.delete(id);
    }
    this.#prunesAt = Math.max(limitersMin, 2 * this.#limiters.size);
  }
}
