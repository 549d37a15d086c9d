import { afterAll, expect, test } from "vitest";
import { createThreadPool, ThreadStoppedError } from "./thread-pool.ts";

const entry = new URL("./test-thread.ts", import.meta.url);
const pool = createThreadPool({ entry, memoryMaxMib: 32 });
afterAll(() => pool.close());

const run = (message: unknown, projectId = "a", cpuMsMax = 5_000) => pool.run({ projectId, message, cpuMsMax });

test("a thread answers, and reports the errors of its task", async () => {
  expect(await run({ answer: 5 })).toBe(5);
  await expect(run({ fail: "no such thing" })).rejects.toThrow("no such thing");
  await expect(run(() => {})).rejects.toThrow(/could not be cloned/);
  expect(await run({ answer: 6 })).toBe(6);
});

test("a task that exceeds its time is stopped, and another thread does the waiting ones", async () => {
  const stopped = run({ loop: true }, "a", 100);
  const next = run({ answer: 7 });
  await expect(stopped).rejects.toMatchObject({ reason: "cpu" } satisfies Partial<ThreadStoppedError>);
  expect(await next).toBe(7);
});

test("a task whose thread gets no processor is not stopped for the time that it waits", async () => {
  expect(await run({ answer: 9, restMs: 6_500 }, "a", 500)).toBe(9);
});

test("a task that takes more memory than a thread has is stopped", async () => {
  await expect(run({ fill: true })).rejects.toMatchObject({ reason: "memory" });
  expect(await run({ answer: 8 })).toBe(8);
});

test("projects take turns", async () => {
  const order: string[] = [];
  const one = (projectId: string) => run({ answer: projectId }, projectId).then(() => order.push(projectId));
  await Promise.all([..."aaaaab"].map(one));
  expect(order.indexOf("b")).toBeLessThanOrEqual(2);
});

test("what a closed pool was asked rejects", async () => {
  const closing = createThreadPool({ entry });
  const under = closing.run({ projectId: "a", message: { loop: true }, cpuMsMax: 60_000 });
  const waiting = closing.run({ projectId: "a", message: { answer: 1 }, cpuMsMax: 1_000 });
  const both = Promise.allSettled([under, waiting]);
  await closing.close();
  expect((await both).map((each) => each.status === "rejected" && (each.reason as ThreadStoppedError).reason)).toEqual([
    "closed",
    "closed",
  ]);
  await expect(closing.run({ projectId: "a", message: 1, cpuMsMax: 1 })).rejects.toThrow(ThreadStoppedError);
});
