import type { PaceDocument, PaceShare, PaceWindow } from "@svc/db/documents/calls";

/** At most `max` calls start within any `perMs` milliseconds. */
export type RateRule = { readonly max: number; readonly perMs: number };

/** A rate is counted in twentieths of its time. It is never exceeded, and a start becomes free up to one twentieth late. */
const stretches = 20;

/** Returns how many calls may start now. */
export function freeIn(window: PaceWindow | undefined, rate: RateRule, nowMs: number): number {
  return Math.max(0, rate.max - sum(moved(window, rate, nowMs).counts));
}

/** Returns the next time at which a call may start if none does before; `nowMs` if one may start now. */
export function freeAgainAt(window: PaceWindow | undefined, rate: RateRule, nowMs: number): number {
  const { latest, widthMs, counts } = moved(window, rate, nowMs);
  for (let later = 0; later <= stretches; later++) {
    const left = sum(counts.slice(0, stretches + 1 - later));
    if (left < rate.max) return later === 0 ? nowMs : (latest + later) * widthMs;
  }
  return (latest + stretches + 1) * widthMs;
}

/** Returns the window after `count` calls started now. */
export function begunIn(window: PaceWindow | undefined, rate: RateRule, nowMs: number, count: number): PaceWindow {
  const present = moved(window, rate, nowMs);
  const [first = 0, ...others] = present.counts;
  return { ...present, counts: [first + count, ...others] };
}

/** Returns the time at which a window expires, because every call in it started long enough ago. */
export function endOf({ latest, widthMs }: PaceWindow): number {
  return (latest + stretches + 1) * widthMs;
}

/**
 * Returns the window at the current time, its newest part being the present one. Any `perMs` fit in that and the 20 parts before it. A
 * window for another time is discarded. A clock that is behind does not free what is already counted.
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

/** Rules for calls that are counted together. */
export type PaceRules = {
  /** Maximum calls running at once on all nodes; 0 for no limit. */
  readonly concurrency: number;
  readonly rate: RateRule | undefined;
  /** True if no call may start. */
  readonly isPaused: boolean;
};

/** How many calls a node may start now: free slots, and starts within the rate. Infinity if not limited. */
export type Room = { readonly places: number; readonly starts: number };

/** How long a node that crashed keeps the slots of its calls, milliseconds. */
export const leaseMs = 6_000;
/** How long a node's report of waiting calls is valid, milliseconds. */
export const waitingSaidMs = 1_000;

/**
 * Returns how many calls a node with `held` running ones may start. Nodes whose calls have waited longer come first, so that a busy node
 * excludes no other. A node that starts calls then queues after the others.
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

/** A node's activity: `began` calls now, the slots that it holds, and its `wanted` waiting calls. */
type NodeShare = {
  readonly node: string;
  readonly nowMs: number;
  readonly began: number;
  readonly held: number;
  readonly wanted: number;
};

/** Returns the pace after a node's changes, without the shares of nodes that are gone. */
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

/** Returns the time at which a pace expires if no node writes to it. */
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

/** True if calls have waited there longer than on the other node. For equal times, the nodes' names decide. */
function isBefore(
  [node, { waitsSince }]: OfNode,
  [other, own]: readonly [string, PaceShare | undefined],
  nowMs: number,
) {
  const since = own !== undefined && isWaiting(own, nowMs) ? own.waitsSince : nowMs;
  return waitsSince < since || (waitsSince === since && node < other);
}
