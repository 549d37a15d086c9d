import { expect, test } from "vitest";
import { LeastRecentlyUsed } from "./lru.ts";

test("beyond the maximum, the entry least recently read or written is removed and reported", () => {
  const gone: number[] = [];
  const kept = new LeastRecentlyUsed<string, number>(2, (value) => gone.push(value));
  kept.set("a", 1);
  kept.set("b", 2);
  expect(kept.get("a")).toBe(1);
  kept.set("c", 3);
  expect([kept.get("b"), [...kept.entries()]]).toEqual([
    undefined,
    [
      ["a", 1],
      ["c", 3],
    ],
  ]);
  kept.set("a", 4);
  expect([...kept.values()]).toEqual([3, 4]);
  expect(gone).toEqual([2, 1]);
});

test("reading the oldest does not use it, and deleted or evicted entries are reported", () => {
  const gone: number[] = [];
  const kept = new LeastRecentlyUsed<string, number>(3, (value) => gone.push(value));
  for (const [index, key] of ["a", "b", "c"].entries()) kept.set(key, index);
  expect(kept.oldest()).toBe(0);
  kept.delete("b");
  kept.delete("b");
  expect([kept.evict(), kept.evict(), kept.evict(), kept.oldest()]).toEqual([true, true, false, undefined]);
  expect(gone).toEqual([1, 0, 2]);
});
