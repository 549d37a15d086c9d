import fc from "fast-check";
import { expect, test } from "vitest";
import { compactHeap, growthStep } from "./serve.ts";

test("a compacted heap has nothing of what nobody holds", async () => {
  const kept = new WeakRef(Array.from({ length: 100_000 }, (_, index) => ({ index })));
  // Until the end of the current turn of the event loop, a WeakRef keeps its object in memory.
  await new Promise((resolve) => setImmediate(resolve));
  await compactHeap();
  expect(kept.deref()).toBeUndefined();
});

const mebibyte = 1024 * 1024;

test("a heap whose collections leave 74 MiB grows to 190 MiB, or by half if it is that large already", () => {
  expect(growthStep(80 * mebibyte, 74 * mebibyte)).toBe(157);
  expect(growthStep(110 * mebibyte, 74 * mebibyte)).toBe(155);
  expect(growthStep(190 * mebibyte, 74 * mebibyte)).toBe(47);
});

test("a collection that frees nothing lets the heap grow to 280 MiB at most, or by 30 %", () => {
  const size = fc.integer({ min: 20 * mebibyte, max: 600 * mebibyte });
  fc.assert(
    fc.property(size, size, (used, left) => {
      const step = growthStep(used, Math.min(used, left));
      expect(step).toBeGreaterThanOrEqual(30);
      expect(step).toBeLessThanOrEqual(300);
      const grown = used * (1 + step / 100);
      expect(grown <= 283 * mebibyte || step === 30).toBe(true);
    }),
  );
});
