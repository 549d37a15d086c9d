import fc from "fast-check";
import { expect, test } from "vitest";
import { cutSpans, findFolds, flowKeyAct, lengthOf, mergeSpans, visibleRows } from "./fold.ts";

const span = (from: number, to: number) => ({ from, to });
const spans = fc
  .array(fc.tuple(fc.nat(1_000_000), fc.integer({ min: 1, max: 100_000 })), { maxLength: 20 })
  .map((pairs) => pairs.map(([from, length]) => span(from, from + length)));

test("an idle time is folded if it is longer than two seconds and than a tenth of all working time", () => {
  const within = span(0, 100_000);
  expect(findFolds([span(0, 10_000), span(12_000, 100_000)], within, [])).toEqual([]);
  expect(findFolds([span(0, 10_000), span(19_000, 100_000)], within, [])).toEqual([]);
  expect(findFolds([span(0, 10_000), span(20_000, 100_000)], within, [])).toEqual([
    { ...span(10_000, 20_000), words: "" },
  ]);
  expect(findFolds([span(0, 100)], span(0, 2_100), [])).toEqual([]);
  expect(findFolds([span(0, 100)], span(0, 2_101), [])).toHaveLength(1);
});

test("a fold is named by the wait that fills the most of it", () => {
  const waits = [
    { ...span(0, 1_500), words: "for a time" },
    { ...span(1_000, 90_000), words: "for Team lead" },
  ];
  expect(findFolds([span(0, 1_000), span(90_000, 91_000)], span(0, 91_000), waits)).toEqual([
    { ...span(1_000, 90_000), words: "for Team lead" },
  ]);
});

test("no fold has any working time, and every idle time outside of folds is short", () => {
  fc.assert(
    fc.property(spans, (working) => {
      const within = span(0, 1_200_000);
      const folds = findFolds(working, within, []);
      const busy = mergeSpans(working);
      expect(lengthOf(cutSpans(folds, busy))).toBe(lengthOf(folds));
      const limit = Math.max(2_000, lengthOf(busy) / 10);
      for (const { from, to } of cutSpans(cutSpans([within], busy), folds))
        expect(to - from).toBeLessThanOrEqual(limit);
    }),
  );
});

test("merged spans are in order, apart, and cover the same time", () => {
  fc.assert(
    fc.property(spans, fc.nat(1_100_000), (all, at) => {
      const merged = mergeSpans(all);
      for (const [index, { from }] of merged.entries()) {
        if (index > 0) expect(from).toBeGreaterThan(merged[index - 1]?.to ?? 0);
      }
      const covers = (some: typeof all) => some.some(({ from, to }) => from <= at && at <= to);
      expect(covers(merged)).toBe(covers(all));
    }),
  );
});

const rows = [
  { id: "gather", parent: undefined, level: 1 },
  { id: "deals", parent: "gather", level: 2 },
  { id: "each", parent: "deals", level: 3 },
  { id: "send", parent: undefined, level: 1 },
];

test("a closed row hides everything inside it", () => {
  const shown = (closed: string) => visibleRows(rows, (id) => id === closed).map(({ id }) => id);
  expect(shown("gather")).toEqual(["gather", "send"]);
  expect(shown("deals")).toEqual(["gather", "deals", "send"]);
  expect(shown("")).toEqual(["gather", "deals", "each", "send"]);
});

test("arrows move, open and close; j and k move; 0 resets; letters can be off", () => {
  const press = (key: string, at: number, isClosed?: boolean, letters = true) =>
    flowKeyAct(key, { rows, at, isClosed, letters });
  expect(press("ArrowDown", 0)).toEqual({ act: "move", to: 1 });
  expect(press("ArrowUp", 0)).toEqual({ act: "move", to: 0 });
  expect(press("End", 0)).toEqual({ act: "move", to: 3 });
  expect(press("ArrowRight", 0, true)).toEqual({ act: "toggle" });
  expect(press("ArrowRight", 0, false)).toEqual({ act: "move", to: 1 });
  expect(press("ArrowRight", 3)).toBeUndefined();
  expect(press("ArrowLeft", 0, false)).toEqual({ act: "toggle" });
  expect(press("ArrowLeft", 2)).toEqual({ act: "move", to: 1 });
  expect(press("ArrowLeft", 3)).toBeUndefined();
  expect(press("j", 3)).toEqual({ act: "move", to: 3 });
  expect(press("k", 3)).toEqual({ act: "move", to: 2 });
  expect(press("Enter", 3)).toEqual({ act: "open" });
  expect(press("0", 3)).toEqual({ act: "reset" });
  for (const key of ["j", "k", "0"]) expect(press(key, 3, undefined, false)).toBeUndefined();
  expect(press("o", 3)).toEqual({ act: "panel" });
  expect(press("x", 3)).toBeUndefined();
});
