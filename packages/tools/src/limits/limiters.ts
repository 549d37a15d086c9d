import type { LimiterKey } from "@svc/db/call-limits/paces";
import type { PaceDocument } from "@svc/db/documents/calls";
import type { PaceRules } from "./pace.ts";

/** Between two jobs that come back, at least; so many a second are no burden on a node. */
const stepMinMs = 50;
/** So far ahead jobs are booked while that does not bring them back too close together: a limit may be lifted meanwhile. */
const horizonMs = 60_000;

/**
 * When a job may come back at the earliest, the time that one call takes up at the limit, and since when the job has waited. Milliseconds.
 */
type BookingTimes = {
  readonly nowMs: number;
  readonly earliestMs: number;
  readonly stepMs: number;
  readonly sinceMs: number;
};

/** `claimed`: a call of the job has come back and waits in its place; others of the same job wait in their own. */
type Booking = { readonly atMs: number; readonly sinceMs: number; claimed: boolean };

/** A job that has come back counts as one that waits for this long. */
const graceMs = 5_000;

/**
 * When the jobs that wait for one place come back: one after the other, about as fast as places become free, so that ten thousand of
 * them neither ask all the time nor crowd out what could be done. A node books its own.
 */
export class Bookings {
  /** In the order in which they were made, which is that of the times. */
  readonly #bookings = new Map<string, Booking>();
  #last = 0;

  /** When a job is to come back, epoch milliseconds. Booked once until then, however often it asks. */
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

  /** Whether a job comes back when it was told to. */
  isDue(jobId: string, nowMs: number): boolean {
    const booking = this.#bookings.get(jobId);
    return booking !== undefined && booking.atMs <= nowMs;
  }

  /** Since when a job that is due has waited, epoch milliseconds: for one of its calls, which stands where the job stood. */
  claim(jobId: string): number | undefined {
    const booking = this.#bookings.get(jobId);
    if (booking === undefined || booking.claimed) return undefined;
    booking.claimed = true;
    return booking.sinceMs;
  }

  /** A job that need not come back. */
  end(jobId: string): void {
    this.#bookings.delete(jobId);
  }

  /** Jobs that are to come back. */
  count(nowMs: number): number {
    for (const [jobId, { atMs }] of this.#bookings) {
      if (atMs + graceMs > nowMs) break;
      this.#bookings.delete(jobId);
    }
    return this.#bookings.size;
  }
}

/** What this node knows of calls that are counted together, and what it has of them. */
export type Limiter = {
  readonly key: LimiterKey;
  rules: PaceRules;
  /** As the store had it when this node last read or wrote it; undefined while that is not known. Without revision there was no row. */
  known: { readonly pace: PaceDocument | undefined; readonly revision: string; readonly atMs: number } | undefined;
  /** Calls of this node that hold a place. */
  held: number;
  /** Calls that wait here, whether or not this limiter keeps them. */
  waiting: number;
  /** What the store was last told of calls that wait, and when. */
  reported: { readonly wanted: number; readonly atMs: number };
  /** Nothing begins before; looked at no sooner. */
  fullUntilMs: number;
  /** How long a call holds its place, on average. */
  heldMs: number;
  /** When jobs come back. */
  readonly bookings: Bookings;
};

/** A limiter that nothing is known of. */
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

/** Whether a limiter can be forgotten: what it knows stands in the store. */
function isIdle({ held, waiting, reported, bookings }: Limiter, nowMs: number): boolean {
  return held === 0 && waiting === 0 && reported.wanted === 0 && bookings.count(nowMs) === 0;
}

/** The time that one call takes up: how often places become free, as far as is known. Milliseconds. */
export function stepOf({ rules: { concurrency, rate, isPaused }, heldMs }: Limiter): number {
  if (isPaused) return 0;
  const ofRate = rate === undefined ? 0 : rate.perMs / rate.max;
  const ofPlaces = concurrency === 0 ? 0 : heldMs / concurrency;
  return Math.max(ofRate, ofPlaces);
}

/** A place that was held for so long weighs one part in eight. */
export function noteHeld(limiter: Limiter, ms: number): void {
  limiter.heldMs += (ms - limiter.heldMs) / 8;
}

/** The same rules may come from several readings of a definition. */
function isSame(one: PaceRules, other: PaceRules): boolean {
  return (
    one.isPaused === other.isPaused &&
    one.concurrency === other.concurrency &&
    one.rate?.max === other.rate?.max &&
    one.rate?.perMs === other.rate?.perMs
  );
}

/** Whether the store counts the places of a limiter. */
export function countsPlaces({ rules }: Limiter): boolean {
  return rules.concurrency > 0;
}

/** One of the limits that a call is held to: what it is counted with, and what they are held to together. */
export type RuledKey = LimiterKey & { readonly rules: PaceRules };

/** Limiters from which on idle ones are looked for. */
const limitersMin = 1_000;

/** The limiters that this node knows of. Those that are idle are forgotten when there are many, unless `isKept` says otherwise. */
export class Limiters {
  readonly #limiters = new Map<string, Limiter>();
  readonly #isKept: (limiter: Limiter) => boolean;
  #prunesAt = limitersMin;

  constructor(isKept: (limiter: Limiter) => boolean) {
    this.#isKept = isKept;
  }

  /** The limiter of a key, held to its rules from now on. */
  of({ rules, ...key }: RuledKey, nowMs: number): Limiter {
    const id = JSON.stringify([key.projectId, key.limitName, key.key]);
    let limiter = this.#limiters.get(id);
    if (limiter === undefined) {
      this.#prune(nowMs);
      limiter = newLimiter(key, rules);
      this.#limiters.set(id, limiter);
    } else if (!isSame(limiter.rules, rules)) {
      // A limit that was changed is asked anew.
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
