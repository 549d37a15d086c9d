import { Lines } from "./lines.ts";

/** Runs a limited number of tasks at once; the rest waits in one queue per project, served in turn. */
export type ConcurrencyLimiter = {
  /** Runs `work` when a slot is free; resolves and rejects as it does. */
  run<T>(line: string, work: () => Promise<T>): Promise<T>;
};

/** Creates `places` slots. */
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
      // A finished task hands its slot over.
      else await new Promise<void>((start) => waiting.add(line, start));
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
