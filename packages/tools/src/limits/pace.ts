import type { PaceDocument, PaceShare, PaceWindow } from "@svc/db/documents/calls";

/** At most `max` calls begin within any `perMs` milliseconds. */
export type RateRule = { readonly max: number; readonly perMs: number };

/** A rate is counted in stretches of a twentieth of its time: it is never exceeded, and what is free again is free up to one of them late. */
const stretches = 20;

/** How many calls may begin now. */
export function freeIn(window: PaceWindow | undefined, rate: RateRule, nowMs: number): number {
  return Math.max(0, rate.max - sum(moved(window, rate, nowMs).counts));
}

/** From when on one may begin, if none does until then; `nowMs` when one may now. */
export function freeAgainAt(window: PaceWindow | undefined, rate: RateRule, nowMs: number): number {
  const { latest, widthMs, counts } = moved(window, rate, nowMs);
  for (let later = 0; later <= stretches; later++) {
    const left = sum(counts.slice(0, stretches + 1 - later));
    if (left < rate.max) return later === 0 ? nowMs : (latest + later) * widthMs;
  }
  return (latest + stretches + 1) * widthMs;
}

/** The window once `count` calls have begun now. */
export function begunIn(window: PaceWindow | undefined, rate: RateRule, nowMs: number, count: number): PaceWindow {
  const present = moved(window, rate, nowMs);
  const [first = 0, ...others] = present.counts;
  return { ...present, counts: [first + count, ...others] };
}

/** From when on a window means nothing: every call in it began long enough ago. */
export function endOf({ latest, widthMs }: PaceWindow): number {
  return (latest + stretches + 1) * widthMs;
}

/**
 * The window as it stands now, its newest stretch being the present one: any `perMs` lie within that and the 20 before it. One that was
 * counted for another time means nothing; a clock that runs behind does not open what is counted already.
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

/** What calls that are counted together are held to. */
export type PaceRules = {
  /** Calls under way at once, over all nodes; 0 for any number. */
  readonly concurrency: number;
  readonly rate: RateRule | undefined;
  /** No call begins. */
  readonly isPaused: boolean;
};

/** How many calls a node may begin now: for as many there is a place, and the rate lets as many start. Infinity where nothing bounds them. */
export type Room = { readonly places: number; readonly starts: number };

/** How long a node that ends without a word keeps the places of its calls, milliseconds. */
export const leaseMs = 6_000;
/** How long it is believed that calls wait at a node after it said so, milliseconds. */
export const waitingSaidMs = 1_000;

/**
 * How many calls a node with `held` of them under way may begin. What is free is first for nodes whose calls have waited for
 * longer, so that none is kept out by one that is busy; getting some puts a node behind the others.
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

/** What a node does: `began` calls now, holds so many places with them, and has `wanted` calls that wait. */
type NodeShare = {
  readonly node: string;
  readonly nowMs: number;
  readonly began: number;
  readonly held: number;
  readonly wanted: number;
};

/** The pace once a node has done its share. What nodes that are gone left in it goes. */
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

/** From when on a pace means nothing, unless a node says more. */
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

/** Whether calls have waited there for longer than at the other node; of one moment, by the names of the nodes. */
function isBefore(
  [node, { waitsSince }]: OfNode,
  [other, own]: readonly [string, PaceShare | undefined],
  nowMs: number,
) {
  const since = own !== undefined && isWaiting(own, nowMs) ? own.waitsSince : nowMs;
  return waitsSince < since || (waitsSince === since && node < other);
}
