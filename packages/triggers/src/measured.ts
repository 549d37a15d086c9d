import type { Clock } from "@svc/core";

/** A figure that costs much to read, kept for some time. */
export type MeasuredFigure = {
  /**
   * True if the figure had reached `most` when it was last read. Never waits. A value that is too old limits nothing and is read again in
   * the background.
   */
  hasReached(most: number): boolean;
  /** Returns the last value read, or 0 before the first read. */
  latest(): number;
  /** Records that this node added to the figure, which may cause an earlier read. */
  add(count: number): void;
};

/** How long a figure is valid as a limit, and how often it is read, in milliseconds. */
export type MeasuredTimes = {
  /** Pause between two reads of a figure that may be close to its limit. */
  readonly nearMs: number;
  /** Pause between two reads of any other figure. */
  readonly farMs: number;
  /** Shortest pause, even if this node has added as much as the limit. */
  readonly pauseMs: number;
};

/** Reads may use one part in this many of the store's time. */
const pausePerRead = 20;
/** How long a figure limits without a new read, as a multiple of its pause. */
const staleAfter = 3;

/**
 * Creates a figure. `read` gets the relevant limit and need not count beyond it. An error of `read` is ignored, and the read is repeated.
 */
export function createMeasured(
  clock: Clock,
  { nearMs, farMs, pauseMs }: MeasuredTimes,
  read: (most: number) => Promise<number>,
): MeasuredFigure {
  let value = 0;
  let added = 0;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let nextReadMs = Number.NEGATIVE_INFINITY;
  let isReading = false;
  const readAnew = async (most: number) => {
    isReading = true;
    const startedMs = clock.now();
    const addedBefore = added;
    try {
      value = await read(most);
      added -= addedBefore;
      readAtMs = startedMs;
    } catch {
      // If the database is unavailable, the caller that needs it gets its own error.
    } finally {
      isReading = false;
      nextReadMs = clock.now() + Math.max(pauseMs, pausePerRead * (clock.now() - startedMs));
    }
  };
  return {
    hasReached(most) {
      const nowMs = clock.now();
      const ageMs = nowMs - readAtMs;
      // Additions may be gone again. They are a reason to read again, and no reason to refuse.
      const mostNow = value + added;
      const isDue = mostNow >= most || ageMs >= (mostNow >= most / 2 ? nearMs : farMs);
      if (isDue && !isReading && nowMs >= nextReadMs) void readAnew(most);
      return value >= most && ageMs < staleAfter * nearMs;
    },
    latest: () => value,
    add(count) {
      added += count;
    },
  };
}
