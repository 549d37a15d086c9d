import type { Clock } from "@svc/core";

/** A number that takes long to read, so its last value is kept for some time. */
export type MeasuredFigure = {
  /**
   * Returns true if the last known value of the measured number was at least `most`. Returns false if it was lower, or if that value is too
   * old. If a new value is due, it is read in the background. This function never waits for a read.
   */
  hasReached(most: number): boolean;
  /** Returns the last value that was read from the database, or 0 before the first read. */
  latest(): number;
  /** Records that this node has increased the measured number by `count`. Near its limit, the number is then read again earlier. */
  add(count: number): void;
};

/** Pauses between two reads of the same measured number, in milliseconds. The number is read more often if it is close to its limit. */
export type MeasuredTimes = {
  /** Milliseconds between two reads of a value from the database while the value may be close to its limit. */
  readonly nearMs: number;
  /** Milliseconds between two reads of a value from the database while the value is far below its limit. */
  readonly farMs: number;
  /** Shortest pause between two database reads of a number that has a limit, in milliseconds. */
  readonly pauseMs: number;
};

/** Pause after a read, as a multiple of the read's duration. So reads use at most about 1/20 of the database's time. */
const pausePerRead = 20;
/** Maximum age of a reading that is at the limit, as a multiple of `nearMs`. An older reading no longer counts. */
const staleAfter = 3;

/**
 * Returns an object for a number that takes long to read. `read` reads the number, which is then cached for some time. `read` receives the
 * limit that the number is compared with, so it may stop counting at this limit. If `read` throws, the error is ignored and the number is
 * read again later.
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
      // The error of this read is ignored. If the database is unavailable, other code that uses the database reports that by itself.
    } finally {
      isReading = false;
      nextReadMs = clock.now() + Math.max(pauseMs, pausePerRead * (clock.now() - startedMs));
    }
  };
  return {
    hasReached(most) {
      const nowMs = clock.now();
      const ageMs = nowMs - readAtMs;
      // `added` is how much this node has increased the number since the last read. Other nodes may have reduced the number in the
      // meantime. So `added` only makes a new read due earlier, and does not change the result.
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
