import { create } from "@bufbuild/protobuf";
import { QuerySeriesResponseSchema, Series } from "@svc/gen/stats";
import { expect, test } from "vitest";
import { tilesOf } from "./tiles.ts";

/** Returns a line with counts in one hour of yesterday and in one of the last 24 hours. */
const line = (series: Series, outcome: string, yesterday: number, today: number) => {
  const counts = Array<number>(48).fill(0);
  counts[3] = yesterday;
  counts[40] = today;
  return { series, outcome, counts };
};
const shown = (lines: ReturnType<typeof line>[]) =>
  tilesOf(create(QuerySeriesResponseSchema, { steps: 48, lines })).map(({ title, value, change }) => [
    title,
    value,
    change,
  ]);

test("a tile counts the last day and compares it with the day before", () => {
  expect(
    shown([
      line(Series.EVENTS, "calendar", 100, 90),
      line(Series.EVENTS, "shop", 0, 30),
      line(Series.DELIVERIES, "delivered", 100, 999),
      line(Series.DELIVERIES, "dead_letter", 0, 1),
      line(Series.DELIVERIES, "retried", 50, 50),
      line(Series.CALLS, "ok", 3, 1_200),
      line(Series.JOBS, "succeeded", 4, 4),
      line(Series.JOBS, "failed", 0, 9),
    ]),
  ).toEqual([
    ["Events", "120", "+20 %"],
    ["Delivered", "99.9 %", "−0.1 points"],
    ["Tool calls", "1,200", "+39,900 %"],
    ["Jobs succeeded", "4", "as yesterday"],
  ]);
});

test("without a day before there is no change, and without a delivery no rate", () => {
  expect(shown([line(Series.EVENTS, "calendar", 0, 5)])).toEqual([
    ["Events", "5", ""],
    ["Delivered", "None yet", ""],
    ["Tool calls", "0", ""],
    ["Jobs succeeded", "0", ""],
  ]);
});

test("a rate just below 100 is not rounded to 100", () => {
  const lines = [line(Series.DELIVERIES, "delivered", 0, 100_000), line(Series.DELIVERIES, "dead_letter", 0, 1)];
  expect(shown(lines)[1]).toEqual(["Delivered", "99.9 %", ""]);
});
