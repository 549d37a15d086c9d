import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { QuerySeriesResponseSchema, Series } from "@svc/gen/stats";
import { expect, test } from "vitest";
import { histogramData, histogramSpan, ignoredWords, type ListHistogram, spanOfBars } from "./histogram-data.ts";

const now = Date.UTC(2026, 2, 4, 15, 6, 7);
const minute = 60_000;
const hour = 60 * minute;

test("a range has about 120 bars, of minutes or, further back, of hours", () => {
  const lengthOf = (range: "1h" | "24h" | "7d" | "30d") => (histogramSpan({ range }, now)?.stepMs ?? 0) / minute;
  expect([lengthOf("1h"), lengthOf("24h"), lengthOf("7d"), lengthOf("30d")]).toEqual([1, 15, 120, 360]);
  const past = { since: "2026-03-01T10:00:00.000Z", until: "2026-03-01T10:30:00.000Z" };
  expect(histogramSpan(past, now)?.stepMs).toBe(hour);
  expect(histogramSpan({ since: "2020-01-01T00:00:00.000Z" }, now)?.stepMs).toBe(30 * 24 * hour);
});

test("without a range the bars cover the last day, and a span that ends before it starts has none", () => {
  const whole = histogramSpan({}, now);
  expect([whole?.untilMs, (whole?.untilMs ?? 0) - (whole?.sinceMs ?? 0)]).toEqual([
    Date.UTC(2026, 2, 4, 15, 7),
    24 * hour,
  ]);
  const until = "2026-03-02T00:00:00.000Z";
  expect(histogramSpan({ until }, now)?.sinceMs).toBe(Date.parse("2026-03-01T00:00:00.000Z"));
  expect(histogramSpan({ since: "2026-03-03T00:00:00.000Z", until }, now)).toBeUndefined();
});

type Search = { state?: string; user?: string };
const of: ListHistogram<Search> = {
  series: "deliveries",
  counts: "Delivery attempts",
  outcome: (outcome) => `was ${outcome}`,
  of: ({ state }) => (state === undefined ? {} : { has: (outcome) => outcome === state }),
  ignores: { user: "user" },
};
const answer = create(QuerySeriesResponseSchema, {
  since: timestampFromMs(now),
  stepSeconds: 60,
  steps: 3,
  lines: [
    { series: Series.DELIVERIES, outcome: "dead_letter", counts: [0, 0, 1] },
    { series: Series.DELIVERIES, outcome: "delivered", counts: [4, 0, 2] },
    { series: Series.EVENTS, outcome: "calendar", counts: [9, 9, 9] },
  ],
});

test("the bars have the outcomes that the filters select, or are of one kind", () => {
  const shown = (search: Search, histogram = of) =>
    histogramData(answer, histogram, search).lines.map(({ label, total, values }) => [label, total, values]);
  expect(shown({})).toEqual([
    ["was delivered", 6, [4, 0, 2]],
    ["was dead_letter", 1, [0, 0, 1]],
  ]);
  expect(shown({ state: "delivered" })).toEqual([["was delivered", 6, [4, 0, 2]]]);
  const { outcome: _, ...plain } = of;
  expect(shown({}, plain)).toEqual([["", 7, [4, 0, 3]]]);
  expect(shown({ state: "none" }, plain)).toEqual([]);
});

test("bars give their times, and the newest has no end", () => {
  const data = histogramData(answer, of, {});
  expect(spanOfBars(data, 1, 0, now + hour)).toEqual({
    range: undefined,
    since: "2026-03-04T15:06:07.000Z",
    until: "2026-03-04T15:08:07.000Z",
  });
  expect(spanOfBars(data, 2, 2, now + 2 * minute).until).toBeUndefined();
});

test("filters that the counts cannot follow are named", () => {
  expect(ignoredWords(of, { state: "delivered" })).toBe("");
  expect(ignoredWords(of, { user: "ada" })).toBe("The bars do not follow the filter by user.");
});
