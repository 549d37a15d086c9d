import { expect, test } from "vitest";
import { compactHeap } from "./serve.ts";

test("a compacted heap has nothing of what nobody holds", async () => {
  const kept = new WeakRef(Array.from({ length: 100_000 }, (_, index) => ({ index })));
  // A WeakRef holds what it was made of to the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  await compactHeap();
  expect(kept.deref()).toBeUndefined();
});
