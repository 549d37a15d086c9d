import { Lines } from "./lines.ts";

/** Runs a limited number of tasks at the same time. Other tasks wait in one queue per project, and svc serves the queues in turn. */
export type ConcurrencyLimiter = {
  /** Runs `work` when a slot is free, and returns its result. `line`: id of the project, in whose queue the work waits. */
  run<T>(line: string, work: () => Promise<T>): Promise<T>;
};

/** Creates a limiter that runs at most `places` tasks at the same time. */
export function createConcurrencyLimiter(places: number): ConcurrencyLimiter {
  const waiting = new Lines<() => void>();
  let free = places;
  const leave = () => {
    const next = waiting.next();
    if (next === undefined) free++;
    else next();
  };
  return {
    async run(line, work) {
      if (free > 0) free--;
      // A task that ends does not release its slot but passes it to this waiting task.
      else await new Promise<void>((start) => waiting.add(line, start));
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
