import { expect, test } from "vitest";
import { createHeldMemory, type HeldMemory, type MemoryHold } from "./held-memory.ts";

const bounds = { eachMax: 100, projectMax: 150, nodeMax: 200 };

/** Requests more memory for a task. Returns an object that shows when the request is granted. */
function taking(hold: MemoryHold, bytes: number) {
  const taken = hold.take(bytes);
  const state = { isGranted: taken === true, isRefused: taken === false };
  const grant = () => {
    state.isGranted = true;
  };
  return Object.assign(state, { settled: typeof taken === "boolean" ? Promise.resolve() : taken.then(grant) });
}

const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

test("a piece of work has no more than one may have, and nothing of what is refused", () => {
  const memory = createHeldMemory(bounds);
  const hold = memory.open("a");
  expect(hold.take(100)).toBe(true);
  expect(hold.take(1)).toBe(false);
  expect(memory.stats()).toEqual({ bytes: 100, waiting: 0 });
  hold.release();
  expect(memory.stats()).toEqual({ bytes: 0, waiting: 0 });
});

test("of two tasks that would each hold half, one continues to its end, and then the other", async () => {
  const memory = createHeldMemory({ eachMax: 100, projectMax: 120, nodeMax: 120 });
  const [one, other] = [memory.open("a"), memory.open("b")];
  expect([one.take(50), other.take(20)]).toEqual([true, true]);
  const waiting = taking(other, 30);
  expect(waiting.isGranted).toBe(false);
  expect(one.take(50)).toBe(true);
  one.release();
  await waiting.settled;
  expect(other.take(50)).toBe(true);
});

test("a project that holds its share delays no other, and new tasks take turns", async () => {
  const memory = createHeldMemory(bounds);
  const many = Array.from({ length: 4 }, () => memory.open("many"));
  expect(many.slice(0, 2).map((hold) => hold.take(50))).toEqual([true, true]);
  const more = many.slice(2).map((hold) => taking(hold, 50));
  expect(more.map(({ isGranted }) => isGranted)).toEqual([false, false]);
  const stranger = memory.open("one");
  const first = taking(stranger, 50);
  await settle();
  expect(first.isGranted).toBe(true);
  expect(memory.stats()).toEqual({ bytes: 150, waiting: 2 });
  many[0]?.release();
  await settle();
  expect(more.map(({ isGranted }) => isGranted)).toEqual([true, false]);
});

test("a withdrawn request delays no other", async () => {
  const memory = createHeldMemory({ eachMax: 100, projectMax: 100, nodeMax: 100 });
  const [holder, first, second] = [memory.open("a"), memory.open("a"), memory.open("a")];
  expect(holder.take(10)).toBe(true);
  const [one, two] = [taking(first, 10), taking(second, 10)];
  first.withdraw();
  holder.release();
  await settle();
  expect([one.isGranted, two.isGranted]).toEqual([false, true]);
  first.release();
  second.release();
  expect(memory.stats()).toEqual({ bytes: 0, waiting: 0 });
});

test("every task, in any order, reaches its end, and no limit is ever exceeded", async () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let round = 0; round < 8; round++) {
    const memory = createHeldMemory(bounds);
    let ended = 0;
    const works = Array.from({ length: 40 }, async (_, n) => {
      await work(memory, `p${n % 5}`, { random, most: 1 + random(100) });
      ended++;
    });
    for (let looks = 0; looks < 20_000 && ended < works.length; looks++) {
      expect(memory.stats().bytes).toBeLessThanOrEqual(bounds.nodeMax);
      await settle();
    }
    expect(ended).toBe(works.length);
    expect(memory.stats()).toEqual({ bytes: 0, waiting: 0 });
  }
});

/** Requests memory step by step until the task has `most` bytes, and then releases all of it. */
async function work(
  memory: HeldMemory,
  projectId: string,
  { random, most }: { readonly random: (below: number) => number; readonly most: number },
): Promise<void> {
  const hold = memory.open(projectId);
  while (hold.bytes < most) {
    const taken = hold.take(Math.min(1 + random(30), most - hold.bytes));
    if (typeof taken !== "boolean") await taken;
    for (let rest = random(3); rest > 0; rest--) await settle();
  }
  hold.release();
}
