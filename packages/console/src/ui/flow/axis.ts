import { clipSpan, cutSpans, type FlowSpan, type FlowWait, lengthOf } from "./fold.ts";

/** Width of a folded idle time on the axis, in pixels. */
const foldPx = 64;
/** Maximum part of the axis that folds take together. With more folds, each is narrower. */
const foldsMaxShare = 0.5;
/** Minimum width of a bar, in pixels, so that it stays visible. */
const barMinPx = 3;
/** Numbers of labelled times on the axis. */
const ticksMin = 4;
const ticksMax = 8;

/** A part of the axis on which time passes evenly. `left` and `width` are in pixels. `fold`: set if the part is a folded idle time. */
type AxisPiece = FlowSpan & { readonly left: number; readonly width: number; readonly fold: FlowWait | undefined };

/**
 * The time axis of a job's timeline. Long idle times are drawn short (folded), so equal distances do not always mean equal times. `zero`:
 * time from which offsets count, in epoch milliseconds. `width`: in pixels.
 */
export type FlowAxis = FlowSpan & {
  readonly zero: number;
  readonly width: number;
  readonly pieces: readonly AxisPiece[];
};

/** Position and width of a bar on the time axis of a job, in pixels. `left`: distance from the left end of the axis. */
export type FlowBarPlace = { readonly left: number; readonly width: number };

/**
 * A labelled time on the axis. `at`: epoch milliseconds. `label`: `offset` shows `ms` since the start of the axis, `since` shows `ms` since
 * the last shortened idle time, and `clock` shows the time of day.
 */
export type FlowTick = {
  readonly at: number;
  readonly left: number;
  readonly label: "offset" | "since" | "clock";
  readonly ms: number;
};

/**
 * Returns a time axis of `width` pixels for the time span `within`. Each of the `folds` (idle times drawn short) takes 64 pixels; other
 * times share the rest in proportion to their length. Folds must be in order and must not overlap.
 */
export function createAxis({
  zero,
  within,
  folds,
  width,
}: {
  readonly zero: number;
  readonly within: FlowSpan;
  readonly folds: readonly FlowWait[];
  readonly width: number;
}): FlowAxis {
  const shown = { from: within.from, to: Math.max(within.to, within.from + 1) };
  const folded = folds.flatMap((fold) => {
    const clipped = clipSpan(fold, shown);
    return clipped === undefined || clipped.from === clipped.to ? [] : [{ ...clipped, words: fold.words }];
  });
  const open = cutSpans([shown], folded).filter(({ from, to }) => to > from);
  const openMs = lengthOf(open);
  const eachFold = openMs === 0 ? width / folded.length : Math.min(foldPx, (width * foldsMaxShare) / folded.length);
  const pxPerMs = openMs === 0 ? 0 : (width - eachFold * folded.length) / openMs;
  const pieces: AxisPiece[] = [];
  let left = 0;
  const parts = [
    ...open.map((span) => ({ ...span, fold: undefined })),
    ...folded.map((fold) => ({ from: fold.from, to: fold.to, fold })),
  ];
  for (const part of parts.sort((a, b) => a.from - b.from)) {
    const wide = part.fold === undefined ? (part.to - part.from) * pxPerMs : eachFold;
    pieces.push({ ...part, left, width: wide });
    left += wide;
  }
  return { ...shown, zero, width, pieces };
}

/** Returns the distance of a time from the left end of the axis, in pixels. A time outside of the axis gets the nearest end. */
export function leftOf({ pieces, width, from }: FlowAxis, at: number): number {
  if (at <= from) return 0;
  const piece = pieces.find((one) => at <= one.to);
  return piece === undefined ? width : piece.left + (piece.width * (at - piece.from)) / (piece.to - piece.from);
}

/** Returns the time at a distance from the left end of the axis, in epoch milliseconds. `left`: the distance in pixels. */
export function timeAt({ pieces, from, to }: FlowAxis, left: number): number {
  if (left <= 0) return from;
  const piece = pieces.find((one) => left <= one.left + one.width && one.width > 0);
  return piece === undefined ? to : piece.from + ((piece.to - piece.from) * (left - piece.left)) / piece.width;
}

/** Returns the position of a bar inside the axis, at least 3 pixels wide. Undefined if the axis does not show the bar's time. */
export function barPlace(axis: FlowAxis, span: FlowSpan): FlowBarPlace | undefined {
  if (clipSpan(span, axis) === undefined) return undefined;
  const start = leftOf(axis, span.from);
  const width = Math.max(Math.min(barMinPx, axis.width), leftOf(axis, span.to) - start);
  return { left: Math.max(0, Math.min(start, axis.width - width)), width };
}

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];

/** Distances between ticks that are easy to read, in milliseconds, ascending. Each is at most 2.5 times the one before. */
const distances = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000].map((count) => count * day),
];

/**
 * Returns four to eight labelled times of the axis, in order. Each part between two folds (idle times drawn short) begins with a label. If
 * there are more than eight parts, only some have one.
 */
export function ticksOf(axis: FlowAxis): readonly FlowTick[] {
  const open = axis.pieces
    .filter(({ fold }) => fold === undefined)
    .map((piece, index) => ({ ...piece, isFirst: index === 0 }));
  const placed = (distance: number) => open.flatMap((piece) => ticksOfPiece(axis, piece, distance));
  const starts = placed(Number.POSITIVE_INFINITY);
  const share = starts.length / ticksMax;
  if (share > 1) return Array.from({ length: ticksMax }, (_, index) => starts[Math.floor(index * share)]).filter(isSet);
  const ticks = distances.map(placed).find(({ length }) => length <= ticksMax) ?? starts;
  if (ticks.length >= ticksMin) return ticks;
  return [...ticks, ...endsOf(axis, ticksMin - ticks.length)].sort((a, b) => a.left - b.left);
}

function isSet<T>(value: T | undefined): value is T {
  return value !== undefined;
}

function ticksOfPiece(
  axis: FlowAxis,
  { from, to, isFirst }: AxisPiece & { readonly isFirst: boolean },
  distance: number,
): FlowTick[] {
  const count = distance === Number.POSITIVE_INFINITY ? 1 : Math.ceil((to - from) / distance);
  // A distance that is far too small is given up early.
  return Array.from({ length: Math.min(count, ticksMax + 1) }, (_, index) => {
    const at = index === 0 ? from : from + index * distance;
    const isOffset = isFirst && (index === 0 || from === axis.zero);
    const label = isOffset ? "offset" : index === 0 ? "clock" : "since";
    return { at, left: leftOf(axis, at), label, ms: at - (isOffset ? axis.zero : from) };
  });
}

/** Returns ticks at the ends of the last parts of the axis that are not folded, at most `count`. */
function endsOf(axis: FlowAxis, count: number): FlowTick[] {
  const open = axis.pieces.filter(({ fold }) => fold === undefined);
  return open.slice(-count).map(({ from, to }) => ({ at: to, left: leftOf(axis, to), label: "since", ms: to - from }));
}

/**
 * Returns the end of the time axis of a running job, in epoch milliseconds. It is later than `now` and changes only now and then, so that
 * finished bars do not move. `openMs`: time up to now that is not drawn short.
 */
export function liveEnd(now: number, openMs: number): number {
  const needed = Math.max(second, openMs * 1.05);
  const unit = 10 ** Math.floor(Math.log10(needed));
  const factor = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((one) => one * unit >= needed) ?? 10;
  return now + factor * unit - openMs;
}
