/** A regular pass over stored rows of one kind. Most sweeps delete expired rows. One loop runs the sweeps of a node. */
export type Sweep = {
  /** Name of the rows in the log, such as `events`. */
  readonly what: string;
  /** Pause in milliseconds between two rounds over the rows. */
  readonly everyMs: number;
  /**
   * Runs one round in small batches, for example deletes the rows that expired at `nowMs` or before. After each batch, yields true if the
   * batch was full, so that more rows may follow. Several nodes may run a round at the same time. If the caller stops early, the next round
   * continues with the remaining rows.
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
