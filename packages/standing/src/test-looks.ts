import { createTestClock, type TestClock } from "@svc/testing/clock";
import type { TestNode } from "@svc/testing/node";
import { until } from "@svc/testing/until";

/** A clock that stands until the test moves it, and knows of the looks of the engine of standing programs. */
export type LookClock = TestClock & {
  /** What the engine is to be told as the rest between its looks: nothing else rests as long. */
  readonly restMs: number;
  /** Moves to a time, and resolves once the engine of a node has looked at it and rests. */
  lookAt(node: TestNode, ms: number): Promise<void>;
  /** Lets the rest pass that the engine takes between its looks, as soon as it takes one. */
  rest(): Promise<void>;
};

/** Makes one that starts at a time, epoch milliseconds. */
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
      // A look may have begun before.
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
