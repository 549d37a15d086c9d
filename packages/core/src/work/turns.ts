import { Lines } from "./lines.ts";

/** Shares of the event loop, given to projects in turn: the queues are their ids. */
export type Turns = {
  /**
   * Requests a short share before blocking work, such as reading a request or writing an answer. Undefined if there is time now, as nearly
   * always; otherwise resolves in turn. A share ends with the synchronous work that follows.
   */
  take(line: string): Promise<void> | undefined;
  /** Waits for a long share, the last of its pass: for large work, or for work that had a share and needs another. */
  next(line: string): Promise<void>;
};

/** Maximum total time of shares before the loop's other work is done: sockets, database results, timers. */
const passMs = 4;
/** A long share of at least this time is followed by an equally long pause of long shares, because another project's call needs several passes. */
const longMs = 20;
const restMaxMs = 100;

/**
 * Creates the turns of a node. A pass of the event loop gives out short shares for `passMs`, then one long one; later requests wait for the
 * next pass, in their project's queue. So requests of one project delay those of another by a pass or two, however many they are. Without
 * turns, 50 workers that listed 610 tools moved another project's median from 5 ms to 1.3 s.
 */
export function createTurns(monotonicMs: () => number = () => performance.now()): Turns {
  const short = new Lines<() => void>();
  const long = new Lines<() => void>();
  /** Start of the pass; undefined before the first request in it. */
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
    // Ticks run after promises have settled: then the work of the share is finished or waiting.
    queueMicrotask(() => process.nextTick(giveShort));
  };
  const giveLong = () => {
    if (long.isEmpty || isResting) return;
    if (startedMs === undefined) begin();
    // No more shares in this pass, even if it turns out short.
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
    // Waiting requests are called at the end of a pass, and a pass ends only if it began.
    if (startedMs === undefined) begin();
    return new Promise((start) => waiting.add(line, start));
  };
  return {
    // New requests queue behind waiting ones; otherwise a stream of new ones would starve them.
    take: (line) => (short.isEmpty && hasTime() ? undefined : wait(line, short)),
    next: (line) => wait(line, long),
  };
}
