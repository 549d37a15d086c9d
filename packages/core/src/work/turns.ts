import { Lines } from "./lines.ts";
import { createSpareTime } from "./spare-time.ts";

/**
 * The order in which pieces of work use the event loop. In its turn, a piece of work may run for a short time. Projects get turns one after
 * the other. Each project has a queue with the project's id as its name.
 */
export type Turns = {
  /**
   * Waits for a short turn on the event loop, for example to parse a request. Returns undefined if the work may begin at once. `line`: id
   * of the project.
   */
  take(line: string): Promise<void> | undefined;
  /**
   * Waits for a turn on the event loop for large work. Each round of the event loop has one such turn, after the short ones. `line`: id of
   * the project.
   */
  next(line: string): Promise<void>;
  /**
   * Requests time on the event loop before a part of low-priority work, such as a row of a job. Returns undefined if the part may begin at
   * once; otherwise a promise that resolves when it may begin.
   */
  spare(line: string): Promise<void> | undefined;
};

/**
 * Maximum total time of the short turns in one round of the event loop, in milliseconds. In a turn, one piece of work uses the event loop.
 */
const passMs = 4;
/**
 * If a long turn takes at least this time in milliseconds, a pause of the same length (at most 100 ms) follows. No other long turn starts
 * in the pause, because calls of other projects need several passes of the event loop.
 */
const longMs = 20;
const restMaxMs = 100;

/** Creates the queue in which work waits for its turn on a node's event loop. Projects get their turns one after the other. */
export function createTurns(monotonicMs: () => number = () => performance.now()): Turns {
  // In each round of the event loop, short turns run for up to `passMs`. One long turn follows. Without turns, 50 workers that listed 610
  // tools raised another project's median latency from 5 ms to 1.3 s.
  const short = new Lines<() => void>();
  const long = new Lines<() => void>();
  /** Start time of the current pass (round) of the event loop. Undefined before the first request in the pass. */
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
    // The callback of `nextTick` runs after all promises have been handled. By then, the work that got this turn (share of the event loop's
    // time) has finished or is waiting for something.
    queueMicrotask(() => process.nextTick(giveShort));
  };
  const giveLong = () => {
    if (long.isEmpty || isResting) return;
    if (startedMs === undefined) begin();
    // A pass is a series of turns (shares of the event loop's time), and a long turn is its last one. The value makes the pass count as
    // used up, so that no further turn starts in it.
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
    // A pass is one round of the event loop, and waiting requests are served at its end. If no pass has begun, this request begins one, so
    // that it is served.
    if (startedMs === undefined) begin();
    return new Promise((start) => waiting.add(line, start));
  };
  return {
    // A new request waits if others are already waiting. Otherwise, a steady stream of new requests could delay those forever.
    take: (line) => (short.isEmpty && hasTime() ? undefined : wait(line, short)),
    next: (line) => wait(line, long),
    spare: createSpareTime(monotonicMs).take,
  };
}

/** Long work in slices of some milliseconds, between which other work of the node may run. */
export type Slices = {
  /** Waits for the work's next turn, and then begins a new slice. */
  turn(): Promise<void>;
  /**
   * Returns undefined if the current time slice has time left. Otherwise waits for the next turn on the event loop and begins a new slice.
   * Call it between two short parts of the work.
   */
  rest(): Promise<void> | undefined;
};

const sliceMs = 4;

/**
 * Begins long work that is divided into slices, between which other work of the node may run. `next`: waits until the work may continue.
 * `onEnd`: called with the milliseconds of each slice that ends. `ms`: duration of a slice in milliseconds (default 4). Use shorter slices
 * for work of tens of milliseconds that no caller waits for: a call of another project needs about eight rounds of the event loop, and may
 * wait for a slice in each.
 */
export function createSlices(
  next: () => Promise<void>,
  { onEnd, ms = sliceMs }: { readonly onEnd?: (ms: number) => void; readonly ms?: number | undefined } = {},
): Slices {
  let startedMs = performance.now();
  const turn = async () => {
    onEnd?.(performance.now() - startedMs);
    await next();
    startedMs = performance.now();
  };
  return { turn, rest: () => (performance.now() - startedMs < ms ? undefined : turn()) };
}
