import { constants } from "node:os";
import { systemClock } from "@svc/core";

// A terminal signals its whole process group and npm forwards what it got, so one Ctrl-C arrives more than once.
const repeatMs = 1_000;

/**
 * Calls `stop` at the first of these signals. Repeats within a second are the same wish; a later signal ends the process at once,
 * with 128 and the signal's number.
 */
export function onInterrupt(names: readonly NodeJS.Signals[], stop: (name: NodeJS.Signals) => void): void {
  let firstMs: number | undefined;
  for (const name of names) {
    process.on(name, () => {
      const nowMs = systemClock.now();
      if (firstMs === undefined) {
        firstMs = nowMs;
        stop(name);
      } else if (nowMs - firstMs >= repeatMs) process.exit(128 + constants.signals[name]);
    });
  }
}
