import type { LimiterKey } from "@svc/db/call-limits/paces";
import type { PaceDocument } from "@svc/db/documents/calls";
import type { PaceRules } from "./pace.ts";

/** Minimum time between the next tries of two jobs, milliseconds. A node can handle this rate easily. */
const stepMinMs = 50;
/**
 * Maximum time ahead for which jobs are booked, milliseconds. Jobs are booked later only if they would come too close together. The limit
 * may be removed before a booked time.
 */
const horizonMs = 60_000;

/**
 * Times of a booking, milliseconds. `earliestMs`: earliest time of the job's next try. `stepMs`: time per call at the limit. `sinceMs`:
 * time since which the job waits.
 */
type BookingTimes = {
  readonly nowMs: number;
  readonly earliestMs: number;
  readonly stepMs: number;
  readonly sinceMs: number;
};

/**
 * Booking of a job's next try. `claimed`: a call of the job uses this booking's position. Other calls of the same job wait at their own
 * position.
 */
type Booking = { readonly atMs: number; readonly sinceMs: number; claimed: boolean };

/** Time for which a job counts as waiting after its booked time, milliseconds. */
const graceMs = 5_000;

/**
 * Next tries of jobs that wait for one limiter. The tries follow one another about as fast as slots become free. Ten thousand waiting jobs
 * therefore neither ask constantly nor keep other callers out. Each node books its own jobs.
 */
export class Bookings {
  /** Bookings in the order of their creation, which is also the order of their times. */
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

  /** True if a job asks at its booked time or later. */
  isDue(jobId: string, nowMs: number): boolean {
    const booking = this.#bookings.get(jobId);
    return booking !== undefined && booking.atMs <= nowMs;
  }

  /** Returns the time since which a due job has waited, epoch milliseconds. The call that claims it gets the job's position. */
  claim(jobId: string): number | undefined {
    const booking = this.#bookings.get(jobId);
    if (booking === undefined || booking.claimed) return undefined;
    booking.claimed = true;
    return booking.sinceMs;
  }

  /** Removes the booking of a job that need not try again. */
  end(jobId: string): void {
    this.#bookings.delete(jobId);
  }

  /** Returns the number of jobs that have a booked next try. */
  count(nowMs: number): number {
    for (const [jobId, { atMs }] of this.#bookings) {
      if (atMs + graceMs > nowMs) break;
      this.#bookings.delete(jobId);
    }
    return this.#bookings.size;
  }
}

/** State of one limiter key on this node. Calls with the same limiter key are counted together. */
export type Limiter = {
  readonly key: LimiterKey;
  rules: PaceRules;
  /**
   * The state in the database when this node last read or wrote it; undefined if unknown. An empty revision means that the database had no
   * row.
   */
  known: { readonly pace: PaceDocument | undefined; readonly revision: string; readonly atMs: number } | undefined;
  /** Number of slots that calls of this node hold. */
  held: number;
  /** Number of calls that wait here. Some of them may wait because of another limiter. */
  waiting: number;
  /** The last report to the database. `wanted`: number of waiting calls. `atMs`: time of the report. */
  reported: { readonly wanted: number; readonly atMs: number };
  /** Time before which no call can start, epoch milliseconds. The limiter is not checked before this time. */
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

/** True if the node can forget a limiter, because the database has its state. */
function isIdle({ held, waiting, reported, bookings }: Limiter, nowMs: number): boolean {
  return held === 0 && waiting === 0 && reported.wanted === 0 && bookings.count(nowMs) === 0;
}

/** Returns the average time between two free slots or two permitted starts, milliseconds, as far as it is known. */
export function stepOf({ rules: { concurrency, rate, isPaused }, heldMs }: Limiter): number {
  if (isPaused) return 0;
  const ofRate = rate === undefined ? 0 : rate.perMs / rate.max;
  const ofPlaces = concurrency === 0 ? 0 : heldMs / concurrency;
  return Math.max(ofRate, ofPlaces);
}

/** Updates the average time for which a slot is held. The new value has a weight of one eighth. */
export function noteHeld(limiter: Limiter, ms: number): void {
  limiter.heldMs += (ms - limiter.heldMs) / 8;
}

/** True if two rules have equal values. Equal rules may come from separate reads of a definition, so they may be different objects. */
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

/** Number of limiters from which a node removes idle ones. */
const limitersMin = 1_000;

/** The limiters that this node knows. If there are many, idle limiters are forgotten, except those for which `isKept` returns true. */
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
      // If the rules changed, the limiter is checked again at once.
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
