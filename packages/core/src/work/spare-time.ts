import { Lines } from "./lines.ts";

/**
 * Time that the event loop has left for work with low priority. Projects get it in turn. Each project has a queue, whose name is the id of
 * the project.
 */
export type SpareTime = {
  /**
   * Requests time on the event loop for one part of low-priority work. Returns undefined if the part may start at once. Otherwise returns a
   * promise that resolves when the part may start. `line`: id of the project.
   */
  take(line: string): Promise<void> | undefined;
};

/**
 * Maximum number of parts of low-priority work that start in one pass of the event loop without waiting for each other. Usually these are
 * rows of one `map` step, which share their database commits. If further parts wait, they start one at a time.
 */
const togetherMax = 32;
/**
 * Milliseconds from the start of a pass (one round) of the event loop. Until this time, several parts of low-priority work may start in the
 * pass without waiting for each other.
 */
const togetherMs = 2;
/**
 * Milliseconds that one round of the event loop should take. If a round has taken longer, no further part of low-priority work starts in
 * it. Incoming requests need several rounds, so long rounds delay them.
 */
const passMs = 1;

/**
 * Creates the scheduler for low-priority work, which runs in the time that a node's event loop has left. The scheduler does nothing while
 * no work is waiting. At the end of each pass of the event loop, at least one waiting part of work starts. More parts start only if the
 * pass has been short so far.
 */
export function createSpareTime(monotonicMs: () => number = () => performance.now()): SpareTime {
  const waiting = new Lines<() => void>();
  /**
   * Number of parts of low-priority work that started without waiting in this round of the event loop. Undefined until a part is requested.
   */
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
    // `start` has begun a piece of waiting work. A tick of Node runs after all resolved promises have been handled. By then, this piece of
    // work has finished or waits for something.
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
