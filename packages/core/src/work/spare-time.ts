import { Lines } from "./lines.ts";

/** Time of the event loop for work that can wait, given to projects in turn: the lines are their ids. */
export type SpareTime = {
  /** Asks before such work begins. Undefined when there is time now; else resolves in turn, when the loop has time again. */
  take(line: string): Promise<void> | undefined;
};

/** While nobody waits so much begins in one pass of the loop without a look at the time: the rows of one map, which share their commits. */
const togetherMax = 32;
/** A pass that took so long gives out one share more and no other: whatever comes from outside has to wait for several passes. Milliseconds. */
const passMs = 1;

/**
 * Makes the spare time of a node. While nothing waits it costs nothing; what waits is begun at the end of a pass of the event loop, as long
 * as the pass is short, and one in any case, so that nothing starves. What has begun and waits for an app holds no place here.
 */
export function createSpareTime(monotonicMs: () => number = () => performance.now()): SpareTime {
  const waiting = new Lines<() => void>();
  /** Given out in this pass; undefined where nobody has asked in it. */
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
    // Ticks run once promises have settled: then what was begun waits for something.
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
