import { expect, test } from "vitest";
import { createSpareTime } from "./spare-time.ts";

/**
 * An event loop whose time the test controls: each part of work takes `ms` milliseconds. `perPass`: number of parts started in each pass of
 * the loop.
 */
function createLoop(ms: number) {
  let nowMs = 0;
  const spareTime = createSpareTime(() => nowMs);
  const begun: string[] = [];
  const begin = async (line: string) => {
    const turn = spareTime.take(line);
    if (turn !== undefined) await turn;
    nowMs += ms;
    begun.push(line);
  };
  const perPass = async (all: number) => {
    const counts: number[] = [];
    let before = 0;
    while (begun.length < all) {
      await new Promise(setImmediate);
      counts.push(begun.length - before);
      before = begun.length;
    }
    return counts;
  };
  return { begin, begun, perPass };
}

test("one that asks alone does not wait", () => {
  expect(createSpareTime().take("a")).toBeUndefined();
});

test("however many ask, a few begin in a pass of the event loop", async () => {
  const { begin, perPass } = createLoop(0.5);
  const all = Array.from({ length: 200 }, () => begin("a"));
  const counts = await perPass(200);
  // The first pass is left out, because it also starts rows of one map that need not wait.
  expect(Math.max(...counts.slice(1))).toBeLessThanOrEqual(3);
  await Promise.all(all);
});

test("if the loop is late, one starts in each pass, so that nothing starves", async () => {
  const { begin, perPass } = createLoop(50);
  const all = Array.from({ length: 50 }, () => begin("a"));
  const counts = await perPass(50);
  // The first pass of the event loop is not checked, because it also starts parts that were requested before a queue existed.
  expect(counts.slice(1).every((count) => count <= 1)).toBe(true);
  await Promise.all(all);
});

test("projects take turns, however many rows one of them has waiting", async () => {
  const { begin, begun } = createLoop(1);
  const many = Array.from({ length: 100 }, () => begin("many"));
  await begin("one");
  // `one` starts after the 32 parts that began before others waited, and after one part in the queue.
  expect(begun.indexOf("one")).toBeLessThanOrEqual(33);
  await Promise.all(many);
  expect(begun).toHaveLength(101);
});

test("started work that waits delays no other", async () => {
  const { begin, begun } = createLoop(1);
  const slow = Array.from({ length: 50 }, () => begin("slow").then(() => new Promise<void>(() => {})));
  for (let n = 0; n < 10; n++) await begin("quick");
  expect(begun.filter((line) => line === "quick")).toHaveLength(10);
  expect(slow).toHaveLength(50);
});
