import type { Sweep } from "@svc/core";
import { createTestClock } from "@svc/testing/clock";
import { until } from "@svc/testing/until";
import { expect, test } from "vitest";
import { startRetention } from "./retention.ts";

/** Returns a sweep. For each round, the list contains the number of full batches, or the error with which the round fails. */
function sweepOf(rounds: (number | Error)[], everyMs = 1_000) {
  const startedAt: number[] = [];
  let batches = 0;
  const sweep: Sweep = {
    what: "things",
    everyMs,
    async *round(nowMs) {
      startedAt.push(nowMs);
      const round = rounds.shift() ?? 0;
      if (round instanceof Error) throw round;
      for (let left = round; left >= 0; left--) {
        batches++;
        yield left > 0;
      }
    },
  };
  return { sweep, startedAt, batches: () => batches };
}

test("every sweep runs at once and again after its pause, and none waits for another", async () => {
  const clock = createTestClock();
  const quick = sweepOf([], 1_000);
  const slow = sweepOf([1_000_000], 1_000);
  const retention = startRetention({ clock, sweeps: [slow.sweep, quick.sweep], onError: () => expect.unreachable() });
  await until(() => clock.waiting() === 2);
  clock.advance(1_000);
  await until(() => quick.startedAt.length === 2 && clock.waiting() === 2);
  expect(quick.startedAt[1]).toBe((quick.startedAt[0] ?? 0) + 1_000);
  expect(slow.startedAt).toHaveLength(1);
  await retention.stop();
});

test("a round takes breath after each full batch, and ends with one that is not", async () => {
  const clock = createTestClock();
  const { sweep, batches } = sweepOf([2]);
  const retention = startRetention({ clock, sweeps: [sweep], onError: () => expect.unreachable() });
  for (const done of [1, 2, 3]) {
    await until(() => clock.waiting() === 1 && batches() === done);
    clock.advance(50);
  }
  await until(() => clock.waiting() === 1);
  expect(batches()).toBe(3);
  await retention.stop();
});

test("a round that fails is told of, and the next one comes", async () => {
  const clock = createTestClock();
  const fault = new Error("the store is away");
  const { sweep, startedAt } = sweepOf([fault, 0]);
  const errors: unknown[][] = [];
  const retention = startRetention({ clock, sweeps: [sweep], onError: (...told) => errors.push(told) });
  await until(() => errors.length === 1 && clock.waiting() === 1);
  clock.advance(1_000);
  await until(() => startedAt.length === 2);
  await retention.stop();
  expect(errors).toEqual([["things", fault]]);
});

test("told to stop, it takes no further batch and leaves no wait behind", async () => {
  const clock = createTestClock();
  const { sweep, batches } = sweepOf([5]);
  const retention = startRetention({ clock, sweeps: [sweep], onError: () => expect.unreachable() });
  await until(() => clock.waiting() === 1);
  await retention.stop();
  expect([batches(), clock.waiting()]).toEqual([1, 0]);
});
