import { serveTasks } from "./thread-entry.ts";

// Module of the threads in the tests of the thread pool. A message selects the work that the thread does.
serveTasks((message) => {
  const { answer, fail, loop, fill } = message as { answer?: unknown; fail?: string; loop?: boolean; fill?: boolean };
  if (fail !== undefined) throw new Error(fail);
  while (loop) Math.sqrt(2);
  const kept: unknown[] = [];
  while (fill) kept.push(Array.from({ length: 1_000 }, (_, n) => ({ n })));
  return answer;
});
