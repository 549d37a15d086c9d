import { createTestClock, type TestClock } from "@svc/testing/clock";
import type { TestNode } from "@svc/testing/node";
import { until } from "@svc/testing/until";

/**
 * A clock that only the test moves. It can wait until the engine of standing programs (programs that start jobs on a schedule or event) has
 * looked for due tasks.
 */
export type LookClock = TestClock & {
  /**
   * Pause of the engine between two searches for due work. Nothing else in the test waits for exactly this duration, so the test clock
   * recognizes the engine's wait by it.
   */
  readonly restMs: number;
  /** Moves the clock to a time. Resolves after the engine of a node has claimed its tasks at this time and waits for its next claim. */
  lookAt(node: TestNode, ms: number): Promise<void>;
  /** Ends the current wait of the engine between two claims. */
  rest(): Promise<void>;
};

/**
 * Creates a clock for tests that starts at `startMs`, in epoch milliseconds. Only the test moves it. `restMs`: time in milliseconds for
 * which the engine waits between two searches for due tasks.
 */
export function createLookClock(startMs: number, restMs = 1_000): LookClock {
  const clock = createTestClock(startMs);
  let resting = 0;
  let onRest = Promise.withResolvers<void>();
  return {
    ...{ ...clock, restMs },
    async wait(ms, signal) {
      if (ms !== restMs) return clock.wait(ms, signal);
      resting++;
      onRest.resolve();
      onRest = Promise.withResolvers();
      await clock.wait(ms, signal);
      resting--;
    },
    async lookAt(node, ms) {
      clock.advance(ms - clock.now());
      // The first claim may have begun before the clock was moved, so a second one is awaited.
      for (let look = 0; look < 2; look++) {
        const rests = onRest.promise;
        node.standing.engine.wake();
        await rests;
      }
    },
    async rest() {
      await until(() => resting > 0);
      clock.advance(restMs);
    },
  };
}
