import type { Clock } from "@svc/core";

/** A clock that moves only when somebody waits for it, or when it is told to. */
export type VirtualClock = Clock & {
  /** Moves on to a time and wakes every wait that is over by then. It never goes back. */
  moveTo(ms: number): void;
  /** When the next wait is over; undefined when nobody waits. */
  nextMs(): number | undefined;
};

type Waiter = { readonly dueMs: number; readonly wake: () => void };

/**
 * Makes a clock that stands at `startMs`. A wait that nobody can cut short is one in the middle of an act, such as the pause before
 * a second try: time moves to its end at once. One with a signal is a loop's between two looks, and waits until time has moved.
 */
export function createVirtualClock(startMs: number): VirtualClock {
  let nowMs = startMs;
  const waiters = new Set<Waiter>();
  const moveTo = (ms: number) => {
    nowMs = Math.max(nowMs, ms);
    for (const waiter of [...waiters]) if (waiter.dueMs <= nowMs) waiter.wake();
  };
  return {
    now: () => nowMs,
    moveTo,
    nextMs: () => (waiters.size === 0 ? undefined : Math.min(...[...waiters].map(({ dueMs }) => dueMs))),
    wait(ms, signal) {
      if (ms <= 0 || signal?.aborted) return Promise.resolve();
      if (signal === undefined) {
        moveTo(nowMs + ms);
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        const waiter: Waiter = {
          dueMs: nowMs + ms,
          wake: () => {
            waiters.delete(waiter);
            signal.removeEventListener("abort", waiter.wake);
            resolve();
          },
        };
        waiters.add(waiter);
        signal.addEventListener("abort", waiter.wake, { once: true });
      });
    },
  };
}
