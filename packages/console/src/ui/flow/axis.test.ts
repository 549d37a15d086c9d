import fc from "fast-check";
import { expect, test } from "vitest";
import { barPlace, createAxis, leftOf, liveEnd, ticksOf, timeAt } from "./axis.ts";
import { findFolds, mergeSpans } from "./fold.ts";

const start = 1_700_000_000_000;
const spans = fc
  .array(fc.tuple(fc.nat(50_000_000), fc.nat(5_000_000)), { minLength: 1, maxLength: 30 })
  .map((pairs) => pairs.map(([from, length]) => ({ from: start + from, to: start + from + length })));
const width = fc.integer({ min: 120, max: 2_000 });
const axes = fc.tuple(spans, width).map(([working, px]) => {
  const busy = mergeSpans(working);
  const within = { from: busy[0]?.from ?? start, to: busy.at(-1)?.to ?? start };
  return createAxis({ zero: within.from, within, folds: findFolds(working, within, []), width: px });
});

test("a wait of four hours takes 64 pixels, and the work before and after it shares the rest by its length", () => {
  const working = [
    { from: start, to: start + 400 },
    { from: start + 14_400_400, to: start + 14_400_600 },
  ];
  const within = { from: start, to: start + 14_400_600 };
  const axis = createAxis({ zero: start, within, folds: findFolds(working, within, []), width: 664 });
  expect(axis.pieces.map(({ left, width: wide }) => [left, wide])).toEqual([
    [0, 400],
    [400, 64],
    [464, 200],
  ]);
  expect(barPlace(axis, { from: start + 14_400_400, to: start + 14_400_600 })).toEqual({ left: 464, width: 200 });
});

test("the ticks before a fold count from the start, and those after it begin with the time of day", () => {
  const working = [
    { from: start, to: start + 400 },
    { from: start + 14_400_400, to: start + 14_400_800 },
  ];
  const within = { from: start, to: start + 14_400_800 };
  const axis = createAxis({ zero: start, within, folds: findFolds(working, within, []), width: 864 });
  expect(ticksOf(axis).map(({ label, ms }) => `${label} ${ms}`)).toEqual([
    ...["offset 0", "offset 100", "offset 200", "offset 300"],
    ...["clock 0", "since 100", "since 200", "since 300"],
  ]);
});

test("a later time is never further left, and each place leads back to its time", () => {
  fc.assert(
    fc.property(
      axes,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (axis, a, b) => {
        const [early, late] = [Math.min(a, b), Math.max(a, b)].map(
          (part) => axis.from + part * (axis.to - axis.from),
        ) as [number, number];
        expect(leftOf(axis, late)).toBeGreaterThanOrEqual(leftOf(axis, early));
        expect(leftOf(axis, early)).toBeGreaterThanOrEqual(0);
        expect(leftOf(axis, late)).toBeLessThanOrEqual(axis.width + 0.001);
        // A pixel may stand for many milliseconds, so the way back is exact to a thousandth of a pixel.
        expect(Math.abs(leftOf(axis, timeAt(axis, leftOf(axis, early))) - leftOf(axis, early))).toBeLessThan(0.001);
      },
    ),
  );
});

test("the parts of the axis follow each other without gaps and fill its width", () => {
  fc.assert(
    fc.property(axes, (axis) => {
      let [left, at] = [0, axis.from];
      for (const piece of axis.pieces) {
        expect(piece.left).toBeCloseTo(left, 3);
        expect(piece.from).toBe(at);
        [left, at] = [piece.left + piece.width, piece.to];
      }
      expect(left).toBeCloseTo(axis.width, 3);
      expect(at).toBe(axis.to);
    }),
  );
});

test("every bar is on the axis and at least 3 pixels wide", () => {
  fc.assert(
    fc.property(axes, fc.nat(60_000_000), fc.nat(60_000_000), (axis, from, length) => {
      const span = { from: start + from, to: start + from + length };
      const place = barPlace(axis, span);
      if (place === undefined) {
        expect(span.from > axis.to || span.to < axis.from).toBe(true);
        return;
      }
      expect(place.left).toBeGreaterThanOrEqual(0);
      expect(place.width).toBeGreaterThanOrEqual(3);
      expect(place.left + place.width).toBeLessThanOrEqual(axis.width + 0.001);
    }),
  );
});

test("the axis has four to eight ticks, in order", () => {
  fc.assert(
    fc.property(axes, (axis) => {
      fc.pre(axis.to - axis.from >= 8);
      const ticks = ticksOf(axis);
      expect(ticks.length).toBeGreaterThanOrEqual(4);
      expect(ticks.length).toBeLessThanOrEqual(8);
      expect(ticks.map(({ left }) => left)).toEqual(ticks.map(({ left }) => left).toSorted((a, b) => a - b));
    }),
  );
});

test("a job in which nothing worked has an axis, too", () => {
  const within = { from: start, to: start };
  const axis = createAxis({ zero: start, within, folds: [], width: 300 });
  expect(leftOf(axis, start + 1)).toBe(300);
  expect(barPlace(axis, within)).toEqual({ left: 0, width: 3 });
  const wait = { from: start, to: start + 3_600_000 };
  const folded = createAxis({ zero: start, within: wait, folds: findFolds([], wait, []), width: 300 });
  expect(folded.pieces.map(({ width: wide }) => wide)).toEqual([300]);
});

test("the end of a running job's axis is ahead of now and changes seldom", () => {
  fc.assert(
    fc.property(fc.nat(100_000_000), (openMs) => {
      const end = liveEnd(start + openMs, openMs);
      expect(end).toBeGreaterThan(start + openMs);
      expect(end - start).toBeLessThanOrEqual(Math.max(1_000, 2 * openMs));
    }),
  );
  const ends = new Set(Array.from({ length: 600 }, (_, tenth) => liveEnd(start + tenth * 100, 10_000 + tenth * 100)));
  expect(ends.size).toBeLessThan(8);
});
