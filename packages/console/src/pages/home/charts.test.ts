import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { QuerySeriesResponseSchema, Series } from "@svc/gen/stats";
import { expect, test } from "vitest";
import { chartsOf, listOf } from "./charts.ts";

const at = Date.UTC(2026, 2, 4, 15);
const chartOf = (series: Series, answer: Parameters<typeof create<typeof QuerySeriesResponseSchema>>[1]) =>
  chartsOf(
    create(QuerySeriesResponseSchema, { since: timestampFromMs(at), stepSeconds: 60, steps: 2, ...answer }),
  ).find((chart) => chart.series === series)?.data;

test("outcomes stand in one order, with their sums", () => {
  const data = chartOf(Series.DELIVERIES, {
    lines: ["dead_letter", "delivered", "retried"].map((outcome, index) => ({
      series: Series.DELIVERIES,
      outcome,
      counts: [index, 2],
    })),
  });
  expect(data).toMatchObject({ of: "counts", startMs: at, stepMs: 60_000, steps: 2 });
  expect(data?.lines.map(({ id, total }) => [id, total])).toEqual([
    ["delivered", 3],
    ["retried", 4],
    ["dead_letter", 2],
  ]);
});

test("beyond five lines the smallest stand together", () => {
  const data = chartOf(Series.EVENTS, {
    lines: ["a", "b", "c", "d", "e", "f"].map((outcome, index) => ({
      series: Series.EVENTS,
      outcome,
      counts: [index + 1, 1],
    })),
  });
  expect(data?.lines.map(({ label, values }) => [label, values])).toEqual([
    ["c", [3, 1]],
    ["d", [4, 1]],
    ["e", [5, 1]],
    ["f", [6, 1]],
    ["2 others", [3, 2]],
  ]);
});

test("steps in which nothing was measured are gaps, and a chart without any has no line", () => {
  const measured = { count: 1, p50Ms: 10, p95Ms: 20, p99Ms: 30 };
  const data = chartOf(Series.CALL_LATENCY, {
    latencies: [{ series: Series.CALL_LATENCY, steps: [measured, { count: 0 }], total: measured }],
  });
  expect(data?.lines.map(({ id, values, total }) => [id, values, total])).toEqual([
    ["p50", [10, null], 10],
    ["p95", [20, null], 20],
    ["p99", [30, null], 30],
  ]);
  expect(chartOf(Series.DELIVERY_LATENCY, {})?.lines).toEqual([]);
});

const span = { sinceMs: at, untilMs: at + 60_000 };
const times = { since: "2026-03-04T15:00:00.000Z", until: "2026-03-04T15:01:00.000Z" };

test("a point leads to the list of its time, a line to what of it was counted", () => {
  expect(listOf(Series.EVENTS, span)).toEqual({ to: "/p/$projectId/events", search: times });
  expect(listOf(Series.EVENTS, { ...span, line: "calendar" })?.search).toEqual({ ...times, toolkit: "calendar" });
  expect(listOf(Series.DELIVERIES, { ...span, line: "dead_letter" })?.search).toEqual({
    ...times,
    state: "dead_letter",
  });
});

test("what is no state of a list filters by time alone", () => {
  expect(listOf(Series.DELIVERIES, { ...span, line: "retried" })?.search).toEqual(times);
  expect(listOf(Series.EVENTS, { ...span, line: "others" })?.search).toEqual(times);
  expect(listOf(Series.DELIVERY_LATENCY, { ...span, line: "p95" })?.search).toEqual({ ...times, state: "delivered" });
});
