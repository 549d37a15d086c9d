import { expect, test } from "vitest";
import { createConcurrencyLimiter } from "./concurrency-limiter.ts";

test("no more run at once than there are places, and all run", async () => {
  const atOnce = createConcurrencyLimiter(3);
  let running = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    return --running;
  };
  await Promise.all(Array.from({ length: 20 }, () => atOnce.run("a", work)));
  expect({ most, running }).toEqual({ most: 3, running: 0 });
});

test("projects take turns at the places", async () => {
  const atOnce = createConcurrencyLimiter(1);
  const told: string[] = [];
  const run = (line: string) => atOnce.run(line, async () => void told.push(line));
  await Promise.all(["a", "a", "a", "a", "b"].map(run));
  expect(told.indexOf("b")).toBeLessThanOrEqual(2);
});

test("what fails leaves its place", async () => {
  const atOnce = createConcurrencyLimiter(1);
  await expect(atOnce.run("a", () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(await atOnce.run("a", async () => "done")).toBe("done");
});
