import { serveTasks } from "./thread-entry.ts";

// The work of the threads in the pool's tests.
serveTasks((message) => {
  const { answer, fail, loop, fill } = message as { answer?: unknown; fail?: string; loop?: boolean; fill?: boolean };
  if (fail !== undefined) throw new Error(fail);
  while (loop) Math.sqrt(2);
  const kept: unknown[] = [];
  while (fill) kept.push(Array.from({ length: 1_000 }, (_, n) => ({ n })));
  return answer;
});
