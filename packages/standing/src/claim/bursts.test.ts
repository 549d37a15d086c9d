import { createId, type ProjectId } from "@svc/core";
import { expect, test } from "vitest";
import { Herds } from "./bursts.ts";

const nowMs = Date.UTC(2026, 2, 2, 9);
const batchMax = 100;
const [herd, single] = [createId("prj", nowMs), createId("prj", nowMs + 1)];

function claimed(projectId: ProjectId, count: number, dueOfProject: number) {
  return Array.from({ length: count }, () => ({ projectId, dueOfProject }));
}

test("jobs begin at once where no further batch of their project is due, whatever others have", () => {
  const herds = new Herds(batchMax);
  const behind = herds.seen([...claimed(herd, 99, 10_000), ...claimed(single, 1, 1)], nowMs);
  expect([...behind.keys()]).toEqual([herd]);
  expect(herds.seen(claimed(herd, 100, 199), nowMs + 1_000)).toEqual(new Map());
});

test("jobs wait for as long as the rest takes to be started, by the pace that was seen last", () => {
  const herds = new Herds(batchMax);
  expect(herds.seen(claimed(herd, 100, 2_100), nowMs).get(herd)).toBe(1_000);
  // 400 in 100 ms: the 1,600 that are left take 400 ms, and some more.
  expect(herds.seen(claimed(herd, 100, 1_700), nowMs + 100).get(herd)).toBe(500);
});

test("no job waits for more than five seconds, however many are due or slowly they are started", () => {
  const herds = new Herds(batchMax);
  expect(herds.seen(claimed(herd, 100, 20_000), nowMs).get(herd)).toBe(5_000);
  expect(herds.seen(claimed(herd, 100, 1_000), nowMs + 86_400_000).get(herd)).toBe(5_000);
  // More became due than was started.
  expect(herds.seen(claimed(herd, 100, 1_100), nowMs + 86_400_010).get(herd)).toBe(500);
});
