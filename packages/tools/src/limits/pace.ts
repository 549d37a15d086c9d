import type { PaceDocument, PaceShare, PaceWindow } from "@svc/db/documents/calls";

/** A rate limit: at most `max` calls start within any `perMs` milliseconds. */
export type RateRule = { readonly max: number; readonly perMs: number };

/**
 * Number of parts into which the period of a rate limit is divided. Starts of calls are counted for each part. So the rate is never
 * exceeded. But a call may have to wait up to a twentieth of the period longer than necessary.
 */
const stretches = 20;

/** Returns how many calls a rate limit allows to start now. */
export function freeIn(window: PaceWindow | undefined, rate: RateRule, nowMs: number): number {
  return Math.max(0, rate.max - sum(moved(window, rate, nowMs).counts));
}

/**
 * Returns the next time at which a rate limit allows a start, if no other call starts before it. Returns `nowMs` if a start is allowed now.
 */
export function freeAgainAt(window: PaceWindow | undefined, rate: RateRule, nowMs: number): number {
  const { latest, widthMs, counts } = moved(window, rate, nowMs);
  for (let later = 0; later <= stretches; later++) {
    const left = sum(counts.slice(0, stretches + 1 - later));
    if (left < rate.max) return later === 0 ? nowMs : (latest + later) * widthMs;
  }
  return (latest + stretches + 1) * widthMs;
}

/**
 * Returns the counts of recent calls (the window of a rate) after `count` more calls have started now. Counts that are too old are removed.
 */
export function begunIn(window: PaceWindow | undefined, rate: RateRule, nowMs: number, count: number): PaceWindow {
  const present = moved(window, rate, nowMs);
  const [first = 0, ...others] = present.counts;
  return { ...present, counts: [first + count, ...others] };
}

/**
 * Returns the time at which the counted calls of a rate limit expire. After that time, none of these calls counts for the limit any more.
 */
export function endOf({ latest, widthMs }: PaceWindow): number {
  return (latest + stretches + 1) * widthMs;
}

/**
 * Returns the counts of started calls, moved to the current time. Each count is for a twentieth of `perMs`, and the newest comes first. The
 * counts start again at zero if `perMs` has changed.
 */
function moved(window: PaceWindow | undefined, { perMs }: RateRule, nowMs: number): PaceWindow {
  const widthMs = Math.ceil(perMs / stretches);
  const present = Math.floor(nowMs / widthMs);
  if (window === undefined || window.widthMs !== widthMs) return { widthMs, latest: present, counts: [0] };
  const later = Math.max(0, present - window.latest);
  if (later === 0) return window;
  if (later > stretches) return { widthMs, latest: present, counts: [0] };
  const counts = [...Array.from({ length: later }, () => 0), ...window.counts].slice(0, stretches + 1);
  return { widthMs, latest: present, counts };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** Rules of a call limit, for all calls that one counter of the limit counts together (for example those of one account). */
export type PaceRules = {
  /** Maximum number of calls that run at the same time, on all nodes together. 0 means no limit. */
  readonly concurrency: number;
  readonly rate: RateRule | undefined;
  /** True if the limit is paused, so that no call may start. False in normal operation. */
  readonly isPaused: boolean;
};

/**
 * Number of calls that a node may start now under one call limit. `places`: number of free slots. `starts`: number of starts that the rate
 * permits. Infinity if the limit has no such rule.
 */
export type Room = { readonly places: number; readonly starts: number };

/** If a node crashes, the slots of its calls stay taken for this time, in milliseconds. */
export const leaseMs = 6_000;
/** Time for which a node's report of waiting calls is valid, in milliseconds. */
export const waitingSaidMs = 1_000;

/**
 * Returns how many calls this node may start now under a call limit that all nodes share. `held`: number of calls that this node is
 * running. The node whose calls have waited longest comes first. A node that has just started calls comes last, so that a busy node cannot
 * keep the rest waiting.
 */
export function roomOf(
  pace: PaceDocument | undefined,
  { concurrency, rate, isPaused }: PaceRules,
  { node, held, nowMs }: { readonly node: string; readonly held: number; readonly nowMs: number },
): Room {
  if (isPaused) return { places: 0, starts: 0 };
  const { [node]: own, ...others } = pace?.shares ?? {};
  const ahead = Object.entries(others)
    .filter(([other, share]) => isWaiting(share, nowMs) && isBefore([other, share], [node, own], nowMs))
    .reduce((total, [, { wanted }]) => total + wanted, 0);
  const heldThere = Object.values(others).reduce((total, share) => total + heldIn(share, nowMs), 0);
  const places = concurrency === 0 ? Number.POSITIVE_INFINITY : concurrency - held - heldThere;
  const starts = rate === undefined ? Number.POSITIVE_INFINITY : freeIn(pace?.window, rate, nowMs);
  return { places: Math.max(0, places - ahead), starts: Math.max(0, starts - ahead) };
}

/**
 * Calls of one node under one call limit. `began`: number of calls that start now. `held`: number of calls in progress. `wanted`: number of
 * waiting calls.
 */
type NodeShare = {
  readonly node: string;
  readonly nowMs: number;
  readonly began: number;
  readonly held: number;
  readonly wanted: number;
};

/**
 * Returns the new stored state of one counter of a call limit: the old state, in which the entry of this node is replaced. An entry says
 * how many slots a node uses and wants. Entries of nodes that have crashed are removed.
 */
export function paceWith(
  pace: PaceDocument | undefined,
  { concurrency, rate }: PaceRules,
  { node, nowMs, began, held, wanted }: NodeShare,
): PaceDocument {
  const { [node]: own, ...others } = pace?.shares ?? {};
  const kept = Object.entries(others).filter(([, share]) => heldIn(share, nowMs) > 0 || isWaiting(share, nowMs));
  const waitsSince = own !== undefined && began === 0 && isWaiting(own, nowMs) ? own.waitsSince : nowMs;
  const counted = concurrency === 0 ? 0 : held;
  const share: PaceShare = { held: counted, heldUntil: nowMs + leaseMs, wanted, waitsSince, saidAt: nowMs };
  const window = rate === undefined ? undefined : begunIn(pace?.window, rate, nowMs, began);
  return {
    shares: Object.fromEntries(counted + wanted === 0 ? kept : [...kept, [node, share]]),
    ...(window && { window }),
  };
}

/** Returns the time at which the stored state of a call limit is outdated, if no node writes it again before. */
export function expiryOf({ shares, window }: PaceDocument): number {
  const ends = Object.values(shares).map(({ heldUntil, saidAt }) => Math.max(heldUntil, saidAt + waitingSaidMs));
  return Math.max(0, ...ends, window === undefined ? 0 : endOf(window));
}

function heldIn({ held, heldUntil }: PaceShare, nowMs: number): number {
  return heldUntil > nowMs ? held : 0;
}

function isWaiting({ wanted, saidAt }: PaceShare, nowMs: number): boolean {
  return wanted > 0 && saidAt + waitingSaidMs > nowMs;
}

type OfNode = readonly [node: string, share: PaceShare];

/**
 * True if the calls of the node `one` have waited longer than those of the node `other`. If both times are equal, the names of the nodes
 * decide.
 */
function isBefore(
  [node, { waitsSince }]: OfNode,
  [other, own]: readonly [string, PaceShare | undefined],
  nowMs: number,
) {
  const since = own !== undefined && isWaiting(own, nowMs) ? own.waitsSince : nowMs;
  return waitsSince < since || (waitsSince === since && node < other);
}
