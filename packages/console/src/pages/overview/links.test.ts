import { Series } from "@svc/gen/stats";
import { expect, test } from "vitest";
import { listOf } from "./links.ts";

const at = Date.UTC(2026, 2, 4, 15);
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
