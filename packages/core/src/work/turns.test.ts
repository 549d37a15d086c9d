import { expect, test } from "vitest";
import { createTurns } from "./turns.ts";

/** An event loop whose time the test controls. */
function createLoop() {
  let nowMs = 0;
  const turns = createTurns(() => nowMs);
  const told: string[] = [];
  const work = async (line: string, ms: number, name = line) => {
    const turn = turns.take(line);
    if (turn !== undefined) await turn;
    nowMs += ms;
    told.push(name);
  };
  const spend = (ms: number) => {
    nowMs += ms;
  };
  return { turns, told, work, spend };
}

test("with time left, no request waits", () => {
  const { turns, spend } = createLoop();
  expect(turns.take("a")).toBeUndefined();
  spend(3);
  expect(turns.take("b")).toBeUndefined();
});

test("what one project has waiting delays another by one share, however much it is", async () => {
  const { told, work } = createLoop();
  const many = Array.from({ length: 50 }, () => work("many", 10));
  const one = work("one", 1);
  await one;
  // At most two turns of `many` come first: the first one, and one that was already in the queue.
  expect(told.filter((name) => name === "many").length).toBeLessThanOrEqual(2);
  await Promise.all(many);
  expect(told).toHaveLength(51);
});

test("between two passes, all other due work is done", async () => {
  const { told, work } = createLoop();
  const all = Array.from({ length: 6 }, (_, n) => work(`p${n}`, 5));
  const seen: number[] = [];
  const watch = () => {
    seen.push(told.length);
    if (told.length < 6) setImmediate(watch);
  };
  setImmediate(watch);
  await Promise.all(all);
  for (const [index, count] of seen.entries()) expect(count - (seen[index - 1] ?? 0)).toBeLessThanOrEqual(2);
});

test("short shares go on in one pass until its time is over", async () => {
  const { told, work } = createLoop();
  const all = Array.from({ length: 9 }, (_, n) => work("a", 1, String(n)));
  await Promise.all(all);
  expect(told).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
});

test("of tasks that need more than a share, one per pass continues", async () => {
  const { turns } = createLoop();
  let going = 0;
  const all = Array.from({ length: 5 }, async (_, n) => {
    await turns.next(`p${n}`);
    going++;
  });
  const seen: number[] = [];
  const watch = () => {
    seen.push(going);
    if (going < 5) setImmediate(watch);
  };
  setImmediate(watch);
  await Promise.all(all);
  for (const [index, count] of seen.entries()) expect(count - (seen[index - 1] ?? 0)).toBeLessThanOrEqual(1);
});

test("after a long share that took long, short ones are given and long ones rest", async () => {
  const { turns, spend } = createLoop();
  const told: string[] = [];
  const long = async (name: string) => {
    await turns.next("many");
    told.push(name);
    spend(50);
  };
  const both = Promise.all([long("first"), long("second")]);
  while (told.length === 0) await new Promise(setImmediate);
  for (let round = 0; round < 3; round++) {
    const turn = turns.take("stranger");
    if (turn !== undefined) await turn;
    told.push("stranger");
    await new Promise(setImmediate);
  }
  await both;
  expect(told).toEqual(["first", "stranger", "stranger", "stranger", "second"]);
});
