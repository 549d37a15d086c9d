import { expect, test } from "vitest";
import { usageWord } from "./usage.ts";

test("a quota tells whether there is room", () => {
  expect(usageWord({ used: 79, most: 100 }).word).toBe("room");
  expect(usageWord({ used: 80, most: 100 }).word).toBe("near");
  expect(usageWord({ used: 100, most: 100 }).word).toBe("full");
  expect(usageWord({ used: 100, most: -1 }).word).toBe("open");
});
