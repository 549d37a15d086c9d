/** Expired rows to remove, as data for the one loop that removes them. */
export type Sweep = {
  /** Name of the removed rows, for the log: `events`. */
  readonly what: string;
  /** Pause between two rounds, milliseconds. */
  readonly everyMs: number;
  /**
   * Removes rows expired at `nowMs` in small batches, and yields after each if it was full. Any number of nodes may do so at once. A caller
   * that stops early leaves the rest for the next round.
   */
  round(nowMs: number): AsyncIterable<boolean>;
};

/** Removes batch after batch until one is not full, and yields after each if it was. `take` returns how many rows it removed. */
export async function* batches(sizeMax: number, take: () => Promise<number>): AsyncGenerator<boolean> {
  for (;;) {
    const isFull = (await take()) === sizeMax;
    yield isFull;
    if (!isFull) return;
  }
}
