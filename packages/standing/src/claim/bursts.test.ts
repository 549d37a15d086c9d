import { createId, type ProjectId } from "@svc/core";
import { expect, test } from "vitest";
import { Bursts } from "./bursts.ts";

const nowMs = Date.UTC(2026, 2, 2, 9);
const batchMax = 100;
const [burst, single] = [createId("prj", nowMs), createId("prj", nowMs + 1)];

function claimed(projectId: ProjectId, count: number, dueOfProject: number) {
  return Array.from({ length: count }, () => ({ projectId, dueOfProject }));
}

test("jobs begin at once where no further batch of their project is due, whatever others have", () => {
  const bursts = new Bursts(batchMax);
  const delays = bursts.delaysOf([...claimed(burst, 99, 10_000), ...claimed(single, 1, 1)], nowMs);
  expect([...delays.keys()]).toEqual([burst]);
  expect(bursts.delaysOf(claimed(burst, 100, 199), nowMs + 1_000)).toEqual(new Map());
});

test("jobs wait for as long as the rest takes to be started, by the pace that was seen last", () => {
  const bursts = new Bursts(batchMax);
  expect(bursts.delaysOf(claimed(burst, 100, 2_100), nowMs).get(burst)).toBe(1_000);
  // 400 programs started in 100 ms. The 1,600 that are left will take 400 ms at this pace, and the delay is somewhat longer.
  expect(bursts.delaysOf(claimed(burst, 100, 1_700), nowMs + 100).get(burst)).toBe(500);
});

test("no job waits for more than five seconds, however many are due or slowly they are started", () => {
  const bursts = new Bursts(batchMax);
  expect(bursts.delaysOf(claimed(burst, 100, 20_000), nowMs).get(burst)).toBe(5_000);
  expect(bursts.delaysOf(claimed(burst, 100, 1_000), nowMs + 86_400_000).get(burst)).toBe(5_000);
  // More programs became due than were started, so the pace cannot be measured.
  expect(bursts.delaysOf(claimed(burst, 100, 1_100), nowMs + 86_400_010).get(burst)).toBe(500);
});
