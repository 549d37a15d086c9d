import { Lines } from "./lines.ts";

/** Event loop time for low-priority work, given to projects in turn: the queues are their ids. */
export type SpareTime = {
  /** Requests time before such work begins. Undefined if there is time now; otherwise resolves in turn, when the loop has time again. */
  take(line: string): Promise<void> | undefined;
};

/** Maximum starts in one pass of the loop without a check of the time, if nothing waits: the rows of one map, which share their commits. */
const togetherMax = 32;
/** A pass longer than this gives out only one more share, because external requests have to wait for several passes. Milliseconds. */
const passMs = 1;

/**
 * Creates the spare time of a node. If nothing waits, it costs nothing. Waiting work starts at the end of a pass of the event loop, while
 * the pass is short, and at least one per pass, so that nothing starves. Work that waits for an app takes no slot here.
 */
export function createSpareTime(monotonicMs: () => number = () => performance.now()): SpareTime {
  const waiting = new Lines<() => void>();
  /** Number given out in this pass; undefined before the first request. */
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
    // Ticks run after promises have settled: then the started work is waiting.
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
      if (waiting.isEmpty && given !== undefined && given < togetherMax) {
        given++;
        return undefined;
      }
      return new Promise((start) => waiting.add(line, start));
    },
  };
}
