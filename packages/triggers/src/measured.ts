import type { Clock } from "@svc/core";

/** A number that is slow to read and is therefore kept for some time. */
export type MeasuredFigure = {
  /**
   * True if the number had reached `most` when it was last read. False if it had not, or if that read is too old; the number is then read
   * again in the background. Never waits.
   */
  hasReached(most: number): boolean;
  /** Returns the last value read, or 0 before the first read. */
  latest(): number;
  /** Records that this node increased the number by `count`. The number may therefore be read again earlier. */
  add(count: number): void;
};

/** How long a number is valid as a limit, and how often it is read. Times are in milliseconds. */
export type MeasuredTimes = {
  /** Pause between two reads of a number that may be close to its limit. */
  readonly nearMs: number;
  /** Pause between two reads of a number that is not close to its limit. */
  readonly farMs: number;
  /** Shortest pause between two reads, even if this node has added as much as the limit allows. */
  readonly pauseMs: number;
};

/** Pause after a read, as a multiple of the read's duration. So reads use at most about 1/20 of the database's time. */
const pausePerRead = 20;
/** Maximum age of a read number that still counts as reached, as a multiple of `nearMs`. */
const staleAfter = 3;

/**
 * Returns a number that is read with `read` and kept. `read` gets the limit with which the number is compared, and need not count further.
 * If `read` throws, the error is ignored and the number is read again later.
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
      // If the database is unavailable, code that uses the database gets its own error.
    } finally {
      isReading = false;
      nextReadMs = clock.now() + Math.max(pauseMs, pausePerRead * (clock.now() - startedMs));
    }
  };
  return {
    hasReached(most) {
      const nowMs = clock.now();
      const ageMs = nowMs - readAtMs;
      // Additions of this node may already be removed by other nodes. So they only cause a new read, and the result does not depend on
      // them.
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
