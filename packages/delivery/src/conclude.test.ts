import fc from "fast-check";
import { expect, test } from "vitest";
import { defaultRetryScheduleMs, retryAfterMaxMs, retryWaitMs } from "./conclude.ts";

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
