import type { PaceWindow } from "@svc/db/documents/calls";
import fc from "fast-check";
import { expect, test } from "vitest";
import { begunIn, endOf, freeAgainAt, freeIn, type RateRule } from "./pace.ts";

const rates = fc.record({ max: fc.integer({ min: 1, max: 50 }), perMs: fc.integer({ min: 1_000, max: 90_000 }) });
/** Generates checks: the wait before each, and the number of calls that want to start at it. */
const looks = (perMs: number) =>
  fc.array(fc.record({ waitMs: fc.integer({ min: 0, max: perMs }), wanted: fc.integer({ min: 0, max: 60 }) }), {
    minLength: 1,
    maxLength: 60,
  });

/** Returns the times at which a rate limit lets calls start. */
function begin(rate: RateRule, startMs: number, list: readonly { waitMs: number; wanted: number }[]): number[] {
  let window: PaceWindow | undefined;
  let nowMs = startMs;
  const begun: number[] = [];
  for (const { waitMs, wanted } of list) {
    nowMs += waitMs;
    const count = Math.min(wanted, freeIn(window, rate, nowMs));
    window = begunIn(window, rate, nowMs, count);
    for (let call = 0; call < count; call++) begun.push(nowMs);
  }
  return begun;
}

test("no period of the rate's length has more calls than the maximum", () => {
  const cases = rates.chain((rate) => fc.tuple(fc.constant(rate), fc.nat(10_000_000), looks(rate.perMs)));
  fc.assert(
    fc.property(cases, ([rate, startMs, list]) => {
      const begun = begin(rate, startMs, list);
      for (const [first, fromMs] of begun.entries()) {
        const within = begun.slice(first).filter((atMs) => atMs < fromMs + rate.perMs).length;
        expect(within).toBeLessThanOrEqual(rate.max);
      }
    }),
    { numRuns: 500 },
  );
});

test("a full rate is free at the announced time, at most a twentieth late", () => {
  const cases = rates.chain((rate) => fc.tuple(fc.constant(rate), fc.nat(10_000_000), looks(rate.perMs)));
  fc.assert(
    fc.property(cases, ([rate, startMs, list]) => {
      let window: PaceWindow | undefined;
      let nowMs = startMs;
      const begun: number[] = [];
      for (const { waitMs, wanted } of list) {
        nowMs += waitMs;
        const free = freeIn(window, rate, nowMs);
        const count = Math.min(wanted, free);
        window = begunIn(window, rate, nowMs, count);
        for (let call = 0; call < count; call++) begun.push(nowMs);
        const againAt = freeAgainAt(window, rate, nowMs);
        if (count < free) expect(againAt).toBe(nowMs);
        else {
          expect(freeIn(window, rate, againAt)).toBeGreaterThan(0);
          expect(freeIn(window, rate, againAt - 1)).toBe(0);
          const oldest = begun.at(-rate.max) ?? 0;
          expect(againAt).toBeLessThanOrEqual(oldest + rate.perMs + 2 * Math.ceil(rate.perMs / 20));
        }
      }
    }),
    { numRuns: 500 },
  );
});

test("expired windows and windows of another length are ignored", () => {
  const rate = { max: 3, perMs: 1_000 };
  const window = begunIn(undefined, rate, 5_000, 3);
  expect(freeIn(window, rate, 5_999)).toBe(0);
  expect(freeIn(window, rate, endOf(window))).toBe(3);
  expect(freeIn(window, { max: 3, perMs: 2_000 }, 5_000)).toBe(3);
  expect(freeIn(window, { max: 2, perMs: 1_000 }, 5_000)).toBe(0);
});

test("a clock behind another node's frees nothing", () => {
  const rate = { max: 3, perMs: 1_000 };
  const window = begunIn(undefined, rate, 5_000, 2);
  expect(freeIn(window, rate, 3_000)).toBe(1);
  expect(freeIn(begunIn(window, rate, 3_000, 1), rate, 5_500)).toBe(0);
});
