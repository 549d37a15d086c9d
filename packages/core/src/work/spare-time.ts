import { Lines } from "./lines.ts";

/** Spare time of the event loop for low-priority work. Projects get it in turn; a queue's name is a project id. */
export type SpareTime = {
  /**
   * Requests time before a low-priority part begins. Returns undefined if there is time now. Otherwise resolves when it is the project's
   * turn and the event loop has time.
   */
  take(line: string): Promise<void> | undefined;
};

/**
 * Maximum number of parts that start at once in one pass of the event loop, if no other part is waiting. These are typically the rows of one
 * map step, which share their database commits.
 */
const togetherMax = 32;
/** Time after which no more parts start at once in a pass, in milliseconds. */
const togetherMs = 2;
/**
 * Duration of a pass of the event loop, in milliseconds, above which only one more part may start in the pass. Incoming requests need
 * several passes, so long passes delay them.
 */
const passMs = 1;

/**
 * Creates the spare time of a node. It costs nothing while no work is waiting. Waiting work starts at the end of a pass of the event loop,
 * as long as the pass is short. At least one part starts in each pass, so that all work progresses. Work that waits for an app's answer
 * uses no spare time.
 */
export function createSpareTime(monotonicMs: () => number = () => performance.now()): SpareTime {
  const waiting = new Lines<() => void>();
  /** Number of parts started in this pass; undefined before the first request of the pass. */
  let given: number | undefined;
  let startedMs = 0;
  const begin = () => {
    given = 0;
    startedMs = monotonicMs();
    setImmediate(give);
  };
  const give = () => {
    const start = waiting.next();
    if (start === undefined) {
      given = undefined;
      return;
    }
    start();
    // Ticks run after promises have settled, so the started work is waiting for something by then.
    queueMicrotask(() => process.nextTick(goOn));
  };
  const goOn = () => {
    if (!waiting.isEmpty && monotonicMs() - startedMs < passMs) return give();
    if (waiting.isEmpty) given = undefined;
    else begin();
  };
  return {
    take(line) {
      if (given === undefined) begin();
      const hasTime = given === 0 || monotonicMs() - startedMs < togetherMs;
      if (waiting.isEmpty && given !== undefined && given < togetherMax && hasTime) {
        given++;
        return undefined;
      }
      return new Promise((start) => waiting.add(line, start));
    },
  };
}
