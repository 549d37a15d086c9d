import { expect, test } from "vitest";
import { createBatcher } from "./batch.ts";

test("items that arrive while a batch runs share the next one", async () => {
  const batches: number[][] = [];
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const batcher = createBatcher<number, number>({
    sizeMax: 10,
    concurrency: 1,
    run: async (items) => {
      batches.push([...items]);
      if (batches.length === 1) await gate;
      return items.map((item) => item * 2);
    },
  });
  const first = batcher.add(1);
  await new Promise((resolve) => setImmediate(resolve));
  const rest = [batcher.add(2), batcher.add(3)];
  release();
  expect(await Promise.all([first, ...rest])).toEqual([2, 4, 6]);
  expect(batches).toEqual([[1], [2, 3]]);
});

test("a batch does not exceed its weight, except for a single item that does", async () => {
  const batches: number[][] = [];
  const batcher = createBatcher<number, number>({
    sizeMax: 10,
    concurrency: 1,
    weight: { max: 5, of: (item) => item },
    run: async (items) => {
      batches.push([...items]);
      return items;
    },
  });
  await Promise.all([2, 3, 1, 9, 1, 4, 1].map((item) => batcher.add(item)));
  expect(batches).toEqual([[2, 3], [1], [9], [1, 4], [1]]);
});

test("one bad item of a batch fails alone", async () => {
  const batcher = createBatcher<number, number>({
    sizeMax: 100,
    concurrency: 1,
    splits: () => true,
    run: async (items) => {
      if (items.includes(13)) throw new Error("bad row");
      return items;
    },
  });
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => batcher.add(index)));
  expect(results.flatMap((result, index) => (result.status === "rejected" ? [index] : []))).toEqual([13]);
});

test("a batch never exceeds its size, and idle waits for all", async () => {
  const sizes: number[] = [];
  const batcher = createBatcher<number, number>({
    sizeMax: 7,
    concurrency: 2,
    run: async (items) => {
      sizes.push(items.length);
      return items;
    },
  });
  for (let item = 0; item < 50; item++) void batcher.add(item);
  await batcher.idle();
  expect(batcher.size()).toBe(0);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(7);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(50);
});
