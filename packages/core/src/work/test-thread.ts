import { serveTasks } from "./thread-entry.ts";

// Module of the threads in the tests of the thread pool. A message selects the work that the thread does.
serveTasks((message) => {
  const { answer, fail, loop, fill, restMs } = message as {
    readonly answer?: unknown;
    readonly fail?: string;
    readonly loop?: boolean;
    readonly fill?: boolean;
    /** Time without processor, as on a machine that has none to spare. */
    readonly restMs?: number;
  };
  if (restMs !== undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, restMs);
  if (fail !== undefined) throw new Error(fail);
  while (loop) Math.sqrt(2);
  const kept: unknown[] = [];
  while (fill) kept.push(Array.from({ length: 1_000 }, (_, n) => ({ n })));
  return answer;
});
