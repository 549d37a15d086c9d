import type { PaceKey } from "@svc/db/call-limits/paces";
import type { PaceDocument } from "@svc/db/documents/calls";
import { Bookings } from "./bookings.ts";
import type { PaceRules } from "./pace.ts";

/** What this node knows of calls that are counted together, and what it has of them. */
export type Lane = {
  readonly key: PaceKey;
  rules: PaceRules;
  /** As the store had it when this node last read or wrote it; undefined while that is not known. Without revision there was no row. */
  known: { readonly pace: PaceDocument | undefined; readonly revision: string; readonly atMs: number } | undefined;
  /** Calls of this node that hold a place. */
  held: number;
  /** Calls that wait here, whether or not this lane keeps them. */
  waiting: number;
  /** What the store was last told of calls that wait, and when. */
  told: { readonly wanted: number; readonly atMs: number };
  /** Nothing begins before; looked at no sooner. */
  fullUntilMs: number;
  /** How long a call holds its place, on average. */
  heldMs: number;
  /** When jobs come back. */
  readonly bookings: Bookings;
};

/** A lane that nothing is known of. */
export function newLane(key: PaceKey, rules: PaceRules): Lane {
  return {
    key,
    rules,
    known: undefined,
    held: 0,
    waiting: 0,
    told: { wanted: 0, atMs: 0 },
    fullUntilMs: 0,
    heldMs: 100,
    bookings: new Bookings(),
  };
}

/** Whether a lane can be forgotten: what it knows stands in the store. */
export function isIdle({ held, waiting, told, bookings }: Lane, nowMs: number): boolean {
  return held === 0 && waiting === 0 && told.wanted === 0 && bookings.count(nowMs) === 0;
}

/** The time that one call takes up: how often places become free, as far as is known. Milliseconds. */
export function stepOf({ rules: { concurrency, rate, isPaused }, heldMs }: Lane): number {
  if (isPaused) return 0;
  const ofRate = rate === undefined ? 0 : rate.perMs / rate.max;
  const ofPlaces = concurrency === 0 ? 0 : heldMs / concurrency;
  return Math.max(ofRate, ofPlaces);
}

/** A place that was held for so long weighs one part in eight. */
export function noteHeld(lane: Lane, ms: number): void {
  lane.heldMs += (ms - lane.heldMs) / 8;
}

/** The same rules may come from several readings of a definition. */
export function isSame(one: PaceRules, other: PaceRules): boolean {
  return (
    one.isPaused === other.isPaused &&
    one.concurrency === other.concurrency &&
    one.rate?.max === other.rate?.max &&
    one.rate?.perMs === other.rate?.perMs
  );
}

/** Whether the store counts the places of a lane. */
export function countsPlaces({ rules }: Lane): boolean {
  return rules.concurrency > 0;
}
