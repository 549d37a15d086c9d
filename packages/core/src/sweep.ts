/** A regular deletion of expired rows of one kind. One loop runs the sweeps of a node. */
export type Sweep = {
  /** Name of the removed rows in the log, such as `events`. */
  readonly what: string;
  /** Pause in milliseconds between two rounds in which expired rows are deleted. */
  readonly everyMs: number;
  /**
   * Deletes rows that expired at `nowMs` or before, in small batches. After each batch, yields true if the batch was full, so that more
   * expired rows may follow. Several nodes may run a round at the same time. If the caller stops early, the next round deletes the
   * remaining rows.
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
