import fc from "fast-check";
import { expect, test } from "vitest";
import { defaultRetryScheduleMs, parseRetryAfter, retryAfterMaxMs, retryWaitMs } from "./retry-schedule.ts";

const nowMs = Date.UTC(2026, 0, 5, 9, 0, 0);
const hour = 3_600_000;

test("the default schedule is 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 6 h, 12 h, 24 h", () => {
  expect(defaultRetryScheduleMs.map((ms) => ms / 1000)).toEqual([5, 30, 120, 600, 1800, 7200, 21600, 43200, 86400]);
});

test("the failure after the last wait of the schedule is the last", () => {
  expect(retryWaitMs([1_000, 2_000], 2, 0, 0.5)).toBe(2_000);
  expect(retryWaitMs([1_000, 2_000], 3, 0, 0.5)).toBeUndefined();
  expect(retryWaitMs([1_000, 2_000], 3, 60_000, 0.5)).toBeUndefined();
  expect(retryWaitMs([], 1, 0, 0.5)).toBeUndefined();
});

test("a wait is spread by 20 % either way, and a longer Retry-After wins", () => {
  const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const waits = fc.integer({ min: 1_000, max: 86_400_000 });
  fc.assert(
    fc.property(waits, randoms, fc.nat(retryAfterMaxMs), (wait, random, retryAfterMs) => {
      const ms = retryWaitMs([wait], 1, retryAfterMs, random) ?? Number.NaN;
      expect(ms).toBeGreaterThanOrEqual(Math.max(wait * 0.8 - 1, retryAfterMs));
      expect(ms).toBeLessThanOrEqual(Math.max(wait * 1.2 + 1, retryAfterMs));
    }),
  );
});

test.each([
  [undefined, 0],
  ["", 0],
  ["0", 0],
  ["120", 120_000],
  [" 120 ", 120_000],
  ["86400", 24 * hour],
  ["86401", 24 * hour],
  ["9999999999", 24 * hour],
  ["99999999999999999999", 0],
  ["-5", 0],
  ["1.5", 0],
  ["1e3", 0],
  ["soon", 0],
  ["Infinity", 0],
  ["Mon, 05 Jan 2026 10:00:00 GMT", hour],
  ["Monday, 05-Jan-26 10:00:00 GMT", hour],
  ["Mon Jan  5 10:00:00 2026", hour],
  ["Mon, 05 Jan 2026 08:00:00 GMT", 0],
  ["Tue, 05 Jan 2027 10:00:00 GMT", 24 * hour],
])("Retry-After %j asks for %i ms", (value, expected) => {
  expect(parseRetryAfter(value, nowMs)).toBe(expected);
});

test("no Retry-After makes a wait that is negative, endless or not a number", () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      const ms = parseRetryAfter(value, nowMs);
      expect(ms).toBeGreaterThanOrEqual(0);
      expect(ms).toBeLessThanOrEqual(retryAfterMaxMs);
    }),
  );
});
