import { Lines } from "./lines.ts";

/** Time of the event loop for work with low priority. Projects get it in turn. A queue has the id of its project as its name. */
export type SpareTime = {
  /**
   * Requests time before a part of low-priority work. Returns undefined if the part may begin at once. Otherwise returns a promise, which
   * resolves when it is the project's turn and the event loop has time.
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
 * Duration of a pass of the event loop, in milliseconds. If a pass has taken longer, only one more waiting part starts in it. Incoming
 * requests need several passes, so long passes would delay them.
 */
const passMs = 1;

/**
 * Creates the spare time of a node. It costs nothing while no part is waiting. Waiting parts start at the end of each pass of the event
 * loop: at least one, and more while the pass is short. Waiting for an app's answer uses no spare time.
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
    // A tick runs after all promises have been handled. By then, the part that was started has finished or is waiting for something.
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
