/** Rows that go once they are past their time, as data for the one loop that removes such rows. */
export type Sweep = {
  /** What goes, for the log: `events`. */
  readonly what: string;
  /** Pause between two rounds, milliseconds. */
  readonly everyMs: number;
  /**
   * Removes what is past its time at `nowMs`, a small batch at a time, and tells after each whether it was full. Any number of
   * nodes may do so at once; whoever takes no further batch leaves the rest for the next round.
   */
  round(nowMs: number): AsyncIterable<boolean>;
};

/** Takes batch after batch until one is not full, and tells after each whether it was. `take` answers how many rows went. */
export async function* batches(sizeMax: number, take: () => Promise<number>): AsyncGenerator<boolean> {
  for (;;) {
    const isFull = (await take()) === sizeMax;
    yield isFull;
    if (!isFull) return;
  }
}
