import { expect, test } from "vitest";
import { catchUp } from "./catch-up.ts";
import type { CatchUp } from "./schedule.ts";

const minute = 60_000;
const nowMs = Date.UTC(2026, 2, 2, 12, 2);
/** The times of a five-minute schedule in three hours. The last one was two minutes ago. */
const due = Array.from({ length: 36 }, (_, index) => {
  const atMs = nowMs - 2 * minute - (35 - index) * 5 * minute;
  return { atMs, effectiveMs: atMs };
});
const newest = nowMs - 2 * minute;

function decided(runs: CatchUp["runs"], windowMs = 86_400_000, list = due, at = nowMs) {
  const { fire, missed, later } = catchUp(list, { windowMs, runs }, at);
  return { fire: fire.length, first: fire[0], missed: missed?.count ?? 0, later: later.length };
}

test("acceptance 4: after three hours of every five minutes: last is one run for 35 others, all is 36 runs, none leaves out 36", () => {
  expect(decided("last")).toEqual({ fire: 1, first: { atMs: newest, missed: 35 }, missed: 0, later: 0 });
  expect(decided("all")).toMatchObject({ fire: 10, first: { atMs: due[0]?.atMs, missed: 0 }, missed: 0, later: 26 });
  expect(decided("none")).toMatchObject({ fire: 0, missed: 36 });
});

test("what is up to a minute late is on time, whatever is caught up with", () => {
  for (const runs of ["none", "last", "all"] as const) {
    const [on] = [{ atMs: nowMs - minute, effectiveMs: nowMs - minute }];
    expect(decided(runs, 10_000, [on])).toMatchObject({ fire: 1, missed: 0, first: { missed: 0 } });
  }
});

test("what is later than the window is left out, and counted", () => {
  expect(decided("last", 3_600_000)).toEqual({ fire: 1, first: { atMs: newest, missed: 11 }, missed: 24, later: 0 });
  expect(decided("all", 3_600_000)).toMatchObject({ fire: 10, missed: 24, later: 2 });
  expect(decided("last", 60_000)).toMatchObject({ fire: 0, missed: 36 });
});

test("no more than a thousand are made up for, the newest", () => {
  const many = Array.from({ length: 1_500 }, (_, index) => {
    const atMs = nowMs - (1_500 - index) * 2 * minute;
    return { atMs, effectiveMs: atMs };
  });
  expect(decided("all", 30 * 86_400_000, many)).toMatchObject({ fire: 10, later: 990, missed: 500 });
});

test("where one is on time, it stands in for those that were missed before it", () => {
  const onTime = [...due, { atMs: nowMs - 1_000, effectiveMs: nowMs - 1_000 }];
  expect(decided("last", 86_400_000, onTime)).toEqual({
    fire: 1,
    first: { atMs: nowMs - 1_000, missed: 36 },
    missed: 0,
    later: 0,
  });
});
