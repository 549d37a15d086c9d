import { createTestClock } from "@svc/testing/clock";
import { until, untilMoved } from "@svc/testing/until";
import { expect, test } from "vitest";
import { createMeasured } from "./measured.ts";

const times = { nearMs: 5_000, farMs: 60_000, pauseMs: 250 };

function setUp() {
  const clock = createTestClock();
  const state: { value: number; reads: number; error: Error | undefined } = { value: 0, reads: 0, error: undefined };
  const measured = createMeasured(clock, times, async () => {
    state.reads++;
    if (state.error !== undefined) throw state.error;
    return state.value;
  });
  return { clock, state, measured };
}

test("a figure is read when it is first asked for, and bounds from then on", async () => {
  const { state, measured } = setUp();
  state.value = 10;
  expect(measured.hasReached(10)).toBe(false);
  await until(() => measured.hasReached(10));
  expect(measured.hasReached(11)).toBe(false);
  expect(measured.latest()).toBe(10);
});

test("far from its bound it is read once a minute, near it every five seconds", async () => {
  const { clock, state, measured } = setUp();
  state.value = 1;
  measured.hasReached(100);
  await until(() => state.reads === 1);
  clock.advance(59_000);
  measured.hasReached(100);
  expect(state.reads).toBe(1);
  state.value = 60;
  clock.advance(1_000);
  measured.hasReached(100);
  await until(() => state.reads === 2);
  clock.advance(5_000);
  measured.hasReached(100);
  await until(() => state.reads === 3);
});

test("what this node added is a reason to look, and none to refuse", async () => {
  const { clock, state, measured } = setUp();
  measured.hasReached(100);
  await until(() => state.reads === 1);
  measured.add(500);
  expect(measured.hasReached(100)).toBe(false);
  clock.advance(250);
  expect(measured.hasReached(100)).toBe(false);
  await until(() => state.reads === 2);
  state.value = 100;
  measured.add(100);
  clock.advance(250);
  measured.hasReached(100);
  await until(() => measured.hasReached(100));
});

test("a figure that cannot be read again ends bounding, and reading is tried again", async () => {
  const { clock, state, measured } = setUp();
  state.value = 10;
  measured.hasReached(10);
  await until(() => measured.hasReached(10));
  state.error = new Error("the store is away");
  clock.advance(14_999);
  expect(measured.hasReached(10)).toBe(true);
  clock.advance(1);
  expect(measured.hasReached(10)).toBe(false);
  state.error = undefined;
  await untilMoved(() => {
    clock.advance(250);
    return measured.hasReached(10);
  });
});
