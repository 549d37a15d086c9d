import type { Clock } from "@svc/core";

/** A clock that only the test moves. */
export type TestClock = Clock & {
  /** Moves the time forward by `ms` milliseconds, and ends every wait that is now due. */
  advance(ms: number): void;
  /** Returns the number of waits that have not ended yet. */
  waiting(): number;
};

type Waiter = { dueMs: number; wake: () => void };

/** Creates a test clock that starts at `startMs`, in epoch milliseconds. */
export function createTestClock(startMs = Date.UTC(2026, 0, 5, 9, 0, 0)): TestClock {
  let nowMs = startMs;
  const waiters = new Set<Waiter>();
  return {
    now: () => nowMs,
    waiting: () => waiters.size,
    wait(ms, signal) {
      if (ms <= 0 || signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const waiter: Waiter = {
          dueMs: nowMs + ms,
          wake: () => {
            waiters.delete(waiter);
            signal?.removeEventListener("abort", waiter.wake);
            resolve();
          },
        };
        waiters.add(waiter);
        signal?.addEventListener("abort", waiter.wake, { once: true });
      });
    },
    advance(ms) {
      nowMs += ms;
      for (const waiter of [...waiters]) if (waiter.dueMs <= nowMs) waiter.wake();
    },
  };
}
