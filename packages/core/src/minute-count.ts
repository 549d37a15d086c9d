import type { Clock } from "./clock.ts";
import { LeastRecentlyUsed } from "./lru.ts";

/**
 * Counts one occurrence of a name, for example of an address. Returns undefined if the name is within its limit, and else the time to wait
 * in milliseconds.
 */
export type MinuteCount = (name: string) => number | undefined;

const windowMs = 60_000;
/** Maximum number of counted names in memory, for example addresses. A further name replaces the least recently used one. */
const namesMax = 10_000;

/**
 * Creates a function that counts how often a name occurs, such as an address. It allows `most` occurrences of each name per minute on this
 * node.
 */
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
