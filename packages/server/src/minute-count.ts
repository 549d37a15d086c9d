import { type Clock, LeastRecentlyUsed } from "@svc/core";

/** Counts a name once more: answers how long it must wait, milliseconds, that comes too often; undefined where it may. */
export type MinuteCount = (name: string) => number | undefined;

const windowMs = 60_000;
/** Names that are remembered: the one that came longest ago gives way. */
const namesMax = 10_000;

/** Makes the count of a node: `most` of each name within a minute. */
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
