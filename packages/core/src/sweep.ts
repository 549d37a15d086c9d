/** A rule for removing expired rows. One loop runs all sweeps. */
export type Sweep = {
  /** Name of the removed rows in the log, such as `events`. */
  readonly what: string;
  /** Pause between two rounds, milliseconds. */
  readonly everyMs: number;
  /**
   * Removes the rows that expired before or at `nowMs`, in small batches. After each batch, yields true if the batch was full. Several
   * nodes may run a round at the same time. If a caller stops early, the next round removes the remaining rows.
   */
  round(nowMs: number): AsyncIterable<boolean>;
};

/**
 * Removes batches of rows until a batch is not full. After each batch, yields true if the batch was full. `take`: removes one batch and
 * returns the number of removed rows.
 */
export async function* batches(sizeMax: number, take: () => Promise<number>): AsyncGenerator<boolean> {
  for (;;) {
    const isFull = (await take()) === sizeMax;
    yield isFull;
    if (!isFull) return;
  }
}
