import { createTestClock } from "@svc/testing/clock";
import { expect, test } from "vitest";
import { settledWithin } from "./settled-within.ts";

test("it waits for the work, however it ends, and leaves no timer behind", async () => {
  const clock = createTestClock();
  await settledWithin(clock, 1_000, Promise.resolve());
  await settledWithin(clock, 1_000, Promise.reject(new Error("a fault")));
  await settledWithin(clock, 1_000, undefined);
  await expect.poll(() => clock.waiting()).toBe(0);
});

test("it does not wait for longer than it may", async () => {
  const clock = createTestClock();
  const waiting = settledWithin(clock, 1_000, new Promise(() => {}));
  clock.advance(1_000);
  await waiting;
  await settledWithin(clock, -5, Promise.resolve());
});
