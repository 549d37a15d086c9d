import { expect, test } from "vitest";
import { CallEnding } from "./call-ending.ts";

test("a result waits for the end of its call, and the first reason counts", async () => {
  const ending = new CallEnding();
  const waiting = ending.until(new Promise(() => {}));
  ending.end("gone");
  ending.end("answered");
  await expect(waiting).rejects.toBe("gone");
  expect(ending.signal.reason).toBe("gone");
  await expect(ending.until(Promise.reject(new Error("late")))).rejects.toBe("gone");
});

test("a signal that is read before the end is aborted at the end, and only once", () => {
  const ending = new CallEnding();
  const { signal } = ending;
  let aborts = 0;
  signal.addEventListener("abort", () => aborts++);
  expect(signal.aborted).toBe(false);
  ending.end("gone");
  ending.end("answered");
  expect([signal.aborted, signal.reason, aborts]).toEqual([true, "gone", 1]);
});

test("a result passes through", async () => {
  expect(await new CallEnding().until(Promise.resolve(7))).toBe(7);
});
