import { Lines } from "./lines.ts";

/** Shares of the event loop, given to projects in turn: the lines are their ids. */
export type Turns = {
  /**
   * Asks for a short share before work that keeps the thread: to read a request, to write an answer. Undefined when there is time
   * now, as nearly always; else resolves in turn. A share ends with the work that follows without waiting.
   */
  take(line: string): Promise<void> | undefined;
  /** Waits for a long share, the last of its pass: for what is large, or who had a share and has more to do. */
  next(line: string): Promise<void>;
};

/** How long shares may last together before whatever else the loop has to do is done: sockets, the store's answers, timers. */
const passMs = 4;
/** A long share that took so long is followed by as long a rest from such: a stranger's call needs several passes. */
const longMs = 20;
const restMaxMs = 100;

/**
 * Makes the turns of a node. A pass of the event loop gives out short shares for `passMs`, then one long one; who comes later waits
 * for the next pass, in a line of its project. Requests of one project thus delay those of another by a pass or two, however many they
 * are: 50 workers that listed 610 tools moved another project's median from 5 ms to 1.3 s without.
 */
export function createTurns(monotonicMs: () => number = () => performance.now()): Turns {
  const short = new Lines<() => void>();
  const long = new Lines<() => void>();
  /** When the pass began; undefined until somebody asks in it. */
  let startedMs: number | undefined;
  let isResting = false;
  const begin = (): number => {
    startedMs = monotonicMs();
    setImmediate(endPass);
    return startedMs;
  };
  const hasTime = () => {
    const nowMs = monotonicMs();
    return nowMs - (startedMs ?? begin()) < passMs;
  };
  const endPass = () => {
    startedMs = undefined;
    giveShort();
  };
  const giveShort = () => {
    if (short.isEmpty || !hasTime()) return giveLong();
    short.next()?.();
    // Ticks run once promises have settled: then the work of the share is over, or waits for something.
    queueMicrotask(() => process.nextTick(giveShort));
  };
  const giveLong = () => {
    if (long.isEmpty || isResting) return;
    if (startedMs === undefined) begin();
    // Nothing more in this pass, however short it turns out to be.
    startedMs = Number.NEGATIVE_INFINITY;
    isResting = true;
    const beganMs = monotonicMs();
    long.next()?.();
    setImmediate(() => {
      const tookMs = monotonicMs() - beganMs;
      if (tookMs < longMs) endRest();
      else setTimeout(endRest, Math.min(tookMs, restMaxMs));
    });
  };
  const endRest = () => {
    isResting = false;
    if (!long.isEmpty && startedMs === undefined) begin();
  };
  const wait = (line: string, waiting: Lines<() => void>): Promise<void> => {
    // Who waits is called at the end of the pass, and a pass ends only if it began.
    if (startedMs === undefined) begin();
    return new Promise((start) => waiting.add(line, start));
  };
  return {
    // Whoever comes while others wait stands behind them, or a stream of newcomers would starve them.
    take: (line) => (short.isEmpty && hasTime() ? undefined : wait(line, short)),
    next: (line) => wait(line, long),
  };
}
