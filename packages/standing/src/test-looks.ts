import { createTestClock, type TestClock } from "@svc/testing/clock";
import type { TestNode } from "@svc/testing/node";
import { until } from "@svc/testing/until";

/** A clock that moves only by the test, and knows when the engine of standing programs has claimed. */
export type LookClock = TestClock & {
  /** The `pollMs` of the engine: no other wait has the same duration. */
  readonly restMs: number;
  /** Moves to a time, and resolves after the engine of a node has claimed at it and waits. */
  lookAt(node: TestNode, ms: number): Promise<void>;
  /** Ends the engine's next wait between two claims. */
  rest(): Promise<void>;
};

/** Makes a clock that starts at a time, epoch milliseconds. */
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
      // A claim may have begun before.
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
