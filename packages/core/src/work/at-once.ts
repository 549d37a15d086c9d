import { Lines } from "./lines.ts";

/** Runs work so many at once; the rest waits in lines, one for each project, served in turn. */
export type AtOnce = {
  /** Runs `work` when a place is free; resolves and rejects as it does. */
  run<T>(line: string, work: () => Promise<T>): Promise<T>;
};

/** Makes `places` places. */
export function createAtOnce(places: number): AtOnce {
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
      // Whoever leaves hands its place on.
      else await new Promise<void>((start) => waiting.add(line, start));
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
