import type { PaceWindow } from "@svc/db/documents/calls";

/** At most `max` calls begin within any `perMs` milliseconds. */
export type Rate = { readonly max: number; readonly perMs: number };

/** A rate is counted in stretches of a twentieth of its time: it is never exceeded, and what is free again is free up to one of them late. */
const stretches = 20;

/** How many calls may begin now. */
export function freeIn(window: PaceWindow | undefined, rate: Rate, nowMs: number): number {
  return Math.max(0, rate.max - sum(moved(window, rate, nowMs).counts));
}

/** From when on one may begin, if none does until then; `nowMs` when one may now. */
export function freeAgainAt(window: PaceWindow | undefined, rate: Rate, nowMs: number): number {
  const { latest, widthMs, counts } = moved(window, rate, nowMs);
  for (let later = 0; later <= stretches; later++) {
    const left = sum(counts.slice(0, stretches + 1 - later));
    if (left < rate.max) return later === 0 ? nowMs : (latest + later) * widthMs;
  }
  return (latest + stretches + 1) * widthMs;
}

/** The window once `count` calls have begun now. */
export function begunIn(window: PaceWindow | undefined, rate: Rate, nowMs: number, count: number): PaceWindow {
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
function moved(window: PaceWindow | undefined, { perMs }: Rate, nowMs: number): PaceWindow {
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
