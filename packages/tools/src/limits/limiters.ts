import type { LimiterKey } from "@svc/db/call-limits/paces";
import type { PaceDocument } from "@svc/db/documents/calls";
import type { PaceRules } from "./pace.ts";

/** Minimum time between two jobs that try again, milliseconds. A node easily handles that many per second. */
const stepMinMs = 50;
/** How far ahead jobs are booked, milliseconds, unless they would come too close together. The limit may be lifted in between. */
const horizonMs = 60_000;

/** Earliest time of a job's next try, the time per call at the limit, and the time since which the job waits. Milliseconds. */
type BookingTimes = {
  readonly nowMs: number;
  readonly earliestMs: number;
  readonly stepMs: number;
  readonly sinceMs: number;
};

/** `claimed`: a call of the job took this booking's position. Other calls of the job wait in their own. */
type Booking = { readonly atMs: number; readonly sinceMs: number; claimed: boolean };

/** How long a job that is due still counts as waiting, milliseconds. */
const graceMs = 5_000;

/**
 * Next tries of jobs that wait for one limiter. They follow one another about as fast as slots become free, so that ten thousand jobs
 * neither ask constantly nor crowd out others. Each node books its own jobs.
 */
export class Bookings {
  /** In order of creation, which is also the order of the times. */
  readonly #bookings = new Map<string, Booking>();
  #last = 0;

  /** Returns the time of a job's next try, epoch milliseconds. It stays the same until then, however often the job asks. */
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

  /** True if a job comes back at its booked time or later. */
  isDue(jobId: string, nowMs: number): boolean {
    const booking = this.#bookings.get(jobId);
    return booking !== undefined && booking.atMs <= nowMs;
  }

  /** Returns the time since which a due job has waited, epoch milliseconds. One of its calls gets the job's position. */
  claim(jobId: string): number | undefined {
    const booking = this.#bookings.get(jobId);
    if (booking === undefined || booking.claimed) return undefined;
    booking.claimed = true;
    return booking.sinceMs;
  }

  /** Removes a job that need not try again. */
  end(jobId: string): void {
    this.#bookings.delete(jobId);
  }

  /** Returns the number of jobs that will try again. */
  count(nowMs: number): number {
    for (const [jobId, { atMs }] of this.#bookings) {
      if (atMs + graceMs > nowMs) break;
      this.#bookings.delete(jobId);
    }
    return this.#bookings.size;
  }
}

/** A node's state of one limiter key: calls that are counted together. */
export type Limiter = {
  readonly key: LimiterKey;
  rules: PaceRules;
  /** The database's state at this node's last read or write; undefined if unknown. An empty revision means that there was no row. */
  known: { readonly pace: PaceDocument | undefined; readonly revision: string; readonly atMs: number } | undefined;
  /** Slots held by calls of this node. */
  held: number;
  /** Calls that wait here, whether or not this limiter holds them back. */
  waiting: number;
  /** The number of waiting calls last written to the database, and when. */
  reported: { readonly wanted: number; readonly atMs: number };
  /** No call can start before this time, and the limiter is not checked earlier. Epoch milliseconds. */
  fullUntilMs: number;
  /** Average time for which a call holds its slot, milliseconds. */
  heldMs: number;
  /** Next tries of jobs. */
  readonly bookings: Bookings;
};

/** Creates a limiter without known state. */
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

/** True if a limiter can be forgotten, because the database has its state. */
function isIdle({ held, waiting, reported, bookings }: Limiter, nowMs: number): boolean {
  return held === 0 && waiting === 0 && reported.wanted === 0 && bookings.count(nowMs) === 0;
}

/** Returns the average time between free slots or starts, as far as known. Milliseconds. */
export function stepOf({ rules: { concurrency, rate, isPaused }, heldMs }: Limiter): number {
  if (isPaused) return 0;
  const ofRate = rate === undefined ? 0 : rate.perMs / rate.max;
  const ofPlaces = concurrency === 0 ? 0 : heldMs / concurrency;
  return Math.max(ofRate, ofPlaces);
}

/** Updates the average time with one that a slot was held; it weighs one eighth. */
export function noteHeld(limiter: Limiter, ms: number): void {
  limiter.heldMs += (ms - limiter.heldMs) / 8;
}

/** Compares by value, because equal rules may come from separate reads of a definition. */
function isSame(one: PaceRules, other: PaceRules): boolean {
  return (
    one.isPaused === other.isPaused &&
    one.concurrency === other.concurrency &&
    one.rate?.max === other.rate?.max &&
    one.rate?.perMs === other.rate?.perMs
  );
}

/** True if the database counts the slots of a limiter. */
export function countsPlaces({ rules }: Limiter): boolean {
  return rules.concurrency > 0;
}

/** A limiter key of a call, and the rules for all calls with that key. */
export type RuledKey = LimiterKey & { readonly rules: PaceRules };

/** Number of limiters from which idle ones are removed. */
const limitersMin = 1_000;

/** The limiters that this node knows. If there are many, idle ones are forgotten unless `isKept` returns true. */
export class Limiters {
  readonly #limiters = new Map<string, Limiter>();
  readonly #isKept: (limiter: Limiter) => boolean;
  #prunesAt = limitersMin;

  constructor(isKept: (limiter: Limiter) => boolean) {
    this.#isKept = isKept;
  }

  /** Returns the limiter of a key, with these rules from now on. */
  of({ rules, ...key }: RuledKey, nowMs: number): Limiter {
    const id = JSON.stringify([key.projectId, key.limitName, key.key]);
    let limiter = this.#limiters.get(id);
    if (limiter === undefined) {
      this.#prune(nowMs);
      limiter = newLimiter(key, rules);
      this.#limiters.set(id, limiter);
    } else if (!isSame(limiter.rules, rules)) {
      // A changed limit is checked again at once.
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
