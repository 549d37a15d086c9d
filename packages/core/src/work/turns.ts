import { Lines } from "./lines.ts";
import { createSpareTime } from "./spare-time.ts";

/** Shares of the event loop's time. Projects get shares in turn; a queue's name is a project id. */
export type Turns = {
  /**
   * Requests a short share before blocking work, such as parsing a request or writing an answer. Returns undefined if there is time now
   * (the usual case). Otherwise resolves when it is the project's turn. The share ends when the synchronous work after it ends.
   */
  take(line: string): Promise<void> | undefined;
  /**
   * Waits for a long share, which is the last share in a pass of the event loop. Use it for large work, or for work that already had a
   * share and needs another.
   */
  next(line: string): Promise<void>;
  /** Requests spare time before a low-priority part, such as a row of a job: see `SpareTime.take`. */
  spare(line: string): Promise<void> | undefined;
};

/**
 * Maximum total time of short shares in one pass, in milliseconds. Then the event loop does its other work: sockets, database results,
 * timers.
 */
const passMs = 4;
/**
 * Duration in milliseconds above which a long share causes a pause: for the same time, no other long share starts, because a call of
 * another project needs several passes.
 */
const longMs = 20;
const restMaxMs = 100;

/**
 * Creates the turns of a node. Each pass of the event loop starts short shares for up to `passMs`, then one long share. Later requests wait
 * for the next pass, in the queue of their project. So requests of one project, however many, delay another project's by only a pass or
 * two. Without turns, 50 workers that listed 610 tools increased another project's median latency from 5 ms to 1.3 s.
 */
export function createTurns(monotonicMs: () => number = () => performance.now()): Turns {
  const short = new Lines<() => void>();
  const long = new Lines<() => void>();
  /** Start time of the pass; undefined before the first request of the pass. */
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
    // Ticks run after promises have settled, so the work of the share is finished or waiting by then.
    queueMicrotask(() => process.nextTick(giveShort));
  };
  const giveLong = () => {
    if (long.isEmpty || isResting) return;
    if (startedMs === undefined) begin();
    // No more shares start in this pass, even if the pass is short.
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
    // A pass must begin here, because the waiting requests start at the end of a pass.
    if (startedMs === undefined) begin();
    return new Promise((start) => waiting.add(line, start));
  };
  return {
    // New requests queue behind the waiting ones; otherwise a continuous stream of new requests could delay the waiting ones forever.
    take: (line) => (short.isEmpty && hasTime() ? undefined : wait(line, short)),
    next: (line) => wait(line, long),
    spare: createSpareTime(monotonicMs).take,
  };
}
