import { type GridAct, gridAct } from "../rows/grid-keys.ts";

/** A time span in epoch milliseconds. `from` is at most `to`. */
export type FlowSpan = { readonly from: number; readonly to: number };

/** A time span in which a job waits. `words`: what it waits for, such as `for Team lead`; empty if that is unknown. */
export type FlowWait = FlowSpan & { readonly words: string };

/** Shortest idle time that is folded, in milliseconds. Idle time: no step works. */
const foldMinMs = 2_000;

/** Shortest idle time that is folded, as a fraction of the time in which steps work. */
const foldMinShare = 0.1;

/** Returns the time spans in order, where overlapping and touching spans are joined to one. */
export function mergeSpans(spans: readonly FlowSpan[]): FlowSpan[] {
  const merged: FlowSpan[] = [];
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last.to)
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, to) };
    else merged.push({ from, to });
  }
  return merged;
}

/**
 * Returns the parts of the time spans that no span of `without` covers, in order. The spans of `without` must be in order and must not
 * overlap.
 */
export function cutSpans(spans: readonly FlowSpan[], without: readonly FlowSpan[]): FlowSpan[] {
  return spans.flatMap(({ from, to }) => {
    const parts: FlowSpan[] = [];
    let start = from;
    for (const gap of without) {
      if (gap.to <= start) continue;
      if (gap.from >= to) break;
      if (gap.from > start) parts.push({ from: start, to: gap.from });
      start = gap.to;
    }
    if (start < to || from === to) parts.push({ from: Math.min(start, to), to });
    return parts;
  });
}

/** Returns the sum of the lengths of time spans that do not overlap, in milliseconds. */
export function lengthOf(spans: readonly FlowSpan[]): number {
  return spans.reduce((sum, { from, to }) => sum + to - from, 0);
}

/** Returns the part of a span that is inside another span, or undefined if they have no time in common. */
export function clipSpan({ from, to }: FlowSpan, within: FlowSpan): FlowSpan | undefined {
  const clipped = { from: Math.max(from, within.from), to: Math.min(to, within.to) };
  return clipped.from > clipped.to ? undefined : clipped;
}

/**
 * Returns the idle times of a job that its time axis draws short (folds), in order. An idle time is folded if it is longer than two seconds
 * and longer than a tenth of all working time. `working`: times in which a step works. `within`: time that the axis shows.
 */
export function findFolds(
  working: readonly FlowSpan[],
  within: FlowSpan,
  waits: readonly FlowWait[],
): readonly FlowWait[] {
  const busy = mergeSpans(working);
  const longest = Math.max(foldMinMs, lengthOf(busy) * foldMinShare);
  return cutSpans([within], busy)
    .filter(({ from, to }) => to - from > longest)
    .map((idle) => ({ ...idle, words: wordsWithin(idle, waits) }));
}

/** Returns the words of the wait that has the most time in common with a span; an empty text if no wait has any. */
function wordsWithin(span: FlowSpan, waits: readonly FlowWait[]): string {
  let [words, longest] = ["", 0];
  for (const wait of waits) {
    const shared = clipSpan(wait, span);
    const length = shared === undefined ? 0 : shared.to - shared.from;
    if (length > longest || (length === longest && length > 0 && words === "")) [words, longest] = [wait.words, length];
  }
  return words;
}

/** A row of a tree: its id, the id of the row that contains it, its depth from 1, and whether it has rows inside. */
type FlowTreeRow = { readonly id: string; readonly parent: string | undefined; readonly level: number };

/**
 * Returns the rows of a tree that are visible: rows inside a closed row are left out. `rows`: all rows in order, each after the row that
 * contains it. `isClosed`: true for the id of a closed row.
 */
export function visibleRows<Row extends FlowTreeRow>(
  rows: readonly Row[],
  isClosed: (id: string) => boolean,
): readonly Row[] {
  const hidden = new Set<string>();
  return rows.filter(({ id, parent }) => {
    const isHidden = parent !== undefined && (hidden.has(parent) || isClosed(parent));
    if (isHidden) hidden.add(id);
    return !isHidden;
  });
}

/**
 * Returns the effect of a pressed key in the tree grid of steps; undefined if the key has none. `at`: index of the row with the focus.
 * `isClosed`: for a row with rows inside, true if it is closed; undefined for any other row. Letters and digits work only if `letters` is
 * true.
 */
export function flowKeyAct(
  key: string,
  {
    rows,
    at,
    isClosed,
    letters,
  }: {
    readonly rows: readonly FlowTreeRow[];
    readonly at: number;
    readonly isClosed: boolean | undefined;
    readonly letters: boolean;
  },
): GridAct | { readonly act: "toggle" | "reset" } | undefined {
  switch (key) {
    case "ArrowRight":
      if (isClosed === undefined) return undefined;
      return isClosed ? { act: "toggle" } : { act: "move", to: Math.min(rows.length - 1, at + 1) };
    case "ArrowLeft":
      return isClosed === false ? { act: "toggle" } : moveToParent(rows, at);
    case "0":
      return letters ? { act: "reset" } : undefined;
    default: {
      const act = gridAct(key, at, rows.length, letters);
      // The rows of a timeline cannot be selected.
      return act?.act === "select" ? undefined : act;
    }
  }
}

function moveToParent(rows: readonly FlowTreeRow[], at: number): GridAct | undefined {
  const parent = rows[at]?.parent;
  const to = rows.findIndex(({ id }) => id === parent);
  return to === -1 ? undefined : { act: "move", to };
}
