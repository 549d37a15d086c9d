import { type Clock, LeastRecentlyUsed } from "@svc/core";

/** Counts a name. Returns the time it must wait, milliseconds, if it came too often; otherwise undefined. */
export type MinuteCount = (name: string) => number | undefined;

const windowMs = 60_000;
/** Maximum remembered names; the least recently used one is dropped. */
const namesMax = 10_000;

/** Creates the counter of a node: at most `most` of each name within a minute. */
export function createMinuteCount({ clock, most }: { clock: Clock; most: number }): MinuteCount {
  const counted = new LeastRecentlyUsed<string, { count: number; readonly untilMs: number }>(namesMax);
  return (name) => {
    const nowMs = clock.now();
    const found = counted.get(name);
    if (found === undefined || found.untilMs <= nowMs) {
      counted.set(name, { count: 1, untilMs: nowMs + windowMs });
      return undefined;
    }
    found.count += 1;
    return found.count <= most ? undefined : found.untilMs - nowMs;
  };
}
