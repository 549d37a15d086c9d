import { expect, test } from "vitest";
import { createPaceMeter } from "./step.ts";

test("the pace is that of the last minute, and the time left follows from it", () => {
  const meter = createPaceMeter();
  const measure = (atMs: number, done: number) => meter.measure({ stepId: "a", atMs, done, total: 1_000 });
  expect(measure(0, 0)).toBeUndefined();
  expect(measure(10_000, 100)).toEqual({ perSecond: 10, leftMs: 90_000 });
  expect(measure(70_000, 400)).toEqual({ perSecond: 5, leftMs: 120_000 });
});

test("another step, or the same one begun again, is measured anew", () => {
  const meter = createPaceMeter();
  meter.measure({ stepId: "a", atMs: 0, done: 0, total: 10 });
  expect(meter.measure({ stepId: "b", atMs: 1_000, done: 500, total: undefined })).toBeUndefined();
  expect(meter.measure({ stepId: "b", atMs: 2_000, done: 0, total: 500 })).toBeUndefined();
  expect(meter.measure({ stepId: "b", atMs: 3_000, done: 100, total: undefined })).toEqual({
    perSecond: 100,
    leftMs: undefined,
  });
});
