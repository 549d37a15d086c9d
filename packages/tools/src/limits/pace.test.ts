import type { PaceDocument } from "@svc/db/documents/calls";
import fc from "fast-check";
import { expect, test } from "vitest";
import { expiryOf, leaseMs, type PaceRules, paceWith, roomOf, waitingSaidMs } from "./pace.ts";

const rules = (concurrency: number): PaceRules => ({ concurrency, rate: undefined, isPaused: false });
const said = { began: 0, held: 0, wanted: 0, nowMs: 0 };

test("nodes together never hold more than the limit while each reports its slots in time", () => {
  const turns = fc.array(
    fc.record({
      node: fc.constantFrom("a", "b", "c"),
      wants: fc.nat(6),
      ends: fc.nat(6),
      waitMs: fc.nat(200),
    }),
    { maxLength: 100 },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), turns, (concurrency, list) => {
      let pace: PaceDocument | undefined;
      let nowMs = 1_000;
      const held: Record<string, number> = { a: 0, b: 0, c: 0 };
      for (const { node, wants, ends, waitMs } of list) {
        nowMs += waitMs;
        // In each turn of this test, every node renews its entry in time.
        for (const [other, count] of Object.entries(held)) {
          if (other !== node && count > 0) {
            pace = paceWith(pace, rules(concurrency), { ...said, node: other, nowMs, held: count });
          }
        }
        const left = Math.max(0, (held[node] ?? 0) - ends);
        const began = Math.min(wants, roomOf(pace, rules(concurrency), { node, held: left, nowMs }).places);
        held[node] = left + began;
        pace = paceWith(pace, rules(concurrency), { node, nowMs, began, held: left + began, wanted: wants - began });
        expect(Object.values(held).reduce((sum, count) => sum + count)).toBeLessThanOrEqual(concurrency);
      }
    }),
    { numRuns: 300 },
  );
});

test("a node that stops reporting loses its slots", () => {
  const pace = paceWith(undefined, rules(3), { ...said, node: "a", began: 3, held: 3 });
  const room = (nowMs: number) => roomOf(pace, rules(3), { node: "b", held: 0, nowMs }).places;
  expect([room(leaseMs - 1), room(leaseMs)]).toEqual([0, 3]);
  expect(expiryOf(pace)).toBe(leaseMs);
});

test("a free slot goes to the node that has waited longest", () => {
  let pace = paceWith(undefined, rules(2), { ...said, node: "a", began: 2, held: 2 });
  pace = paceWith(pace, rules(2), { ...said, node: "b", nowMs: 10, wanted: 5 });
  pace = paceWith(pace, rules(2), { ...said, node: "a", nowMs: 20, held: 1, wanted: 5 });
  const places = (node: string, held: number, nowMs = 30) => roomOf(pace, rules(2), { node, held, nowMs }).places;
  expect([places("a", 1), places("b", 0)]).toEqual([0, 1]);
  // The node a got a slot, so now it is the turn of b.
  pace = paceWith(pace, rules(2), { node: "b", nowMs: 40, began: 1, held: 1, wanted: 4 });
  pace = paceWith(pace, rules(2), { node: "a", nowMs: 50, began: 0, held: 0, wanted: 5 });
  expect([places("a", 0, 60), places("b", 1, 60)]).toEqual([1, 0]);
  // If a node has not reported waiting calls recently, no slot is kept free for it.
  expect(places("b", 1, 50 + waitingSaidMs)).toBe(1);
});

test("the rate of a limit is one for all nodes, and a paused limit has no room", () => {
  const limited: PaceRules = { concurrency: 0, rate: { max: 3, perMs: 1_000 }, isPaused: false };
  const pace = paceWith(undefined, limited, { ...said, node: "a", began: 2, held: 2 });
  expect(roomOf(pace, limited, { node: "b", held: 0, nowMs: 0 })).toEqual({
    places: Number.POSITIVE_INFINITY,
    starts: 1,
  });
  expect(pace.shares).toEqual({});
  expect(roomOf(pace, { ...limited, isPaused: true }, { node: "b", held: 0, nowMs: 0 })).toEqual({
    places: 0,
    starts: 0,
  });
});
