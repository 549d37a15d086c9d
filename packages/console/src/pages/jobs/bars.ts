/** The time in which something ran: `from` and `to` in milliseconds. `to` is undefined while it still runs. */
export type BarSpan = { id: string; from: number; to: number | undefined };

/** A bar in the chart of a job's steps. `left`: its start; `width`: its length. Both are in percent of the time axis. */
export type Bar = { left: number; width: number };

/** Maximum length of an idle gap, as a fraction of the total time in which steps ran. A longer gap is drawn with this length. */
const foldTo = 0.06;
/** Minimum width of a bar in percent, so that it stays visible. */
const widthMin = 1;

/**
 * Returns the position of each bar on one track (the time axis). Long gaps in which nothing ran (such as waiting for a person) are
 * shortened, so that the bars of the steps stay wide enough to read. `now`: the end of bars that still run.
 */
export function placeBars(spans: readonly BarSpan[], now: number): ReadonlyMap<string, Bar> {
  const ended = spans.map(({ id, from, to }) => ({ id, from, to: Math.max(from, to ?? now) }));
  const busy = mergedOf(ended);
  const busyMs = busy.reduce((sum, { from, to }) => sum + to - from, 0);
  const gapMax = Math.max(1, busyMs * foldTo);
  const at = foldedTime(busy, gapMax);
  const total = Math.max(1, at(busy.at(-1)?.to ?? 0));
  return new Map(
    ended.map(({ id, from, to }) => {
      const left = Math.min(100 - widthMin, (100 * at(from)) / total);
      return [id, { left, width: Math.max(widthMin, Math.min(100 - left, (100 * at(to)) / total - left)) }];
    }),
  );
}

/** Returns the time spans in which anything ran, in order and without overlaps. */
function mergedOf(spans: readonly { from: number; to: number }[]): { from: number; to: number }[] {
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

/**
 * Returns a function that converts a time to a position on the time axis of a chart. The chart shows the steps of a job as bars. The axis
 * shortens long gaps without work. The position is in milliseconds from the start of the axis.
 */
function foldedTime(busy: readonly { from: number; to: number }[], gapMax: number): (at: number) => number {
  return (at) => {
    let place = 0;
    let before: number | undefined;
    for (const { from, to } of busy) {
      if (at < from) break;
      if (before !== undefined) place += Math.min(gapMax, from - before);
      place += Math.min(at, to) - from;
      before = to;
    }
    return place;
  };
}
