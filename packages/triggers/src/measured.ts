import type { Clock } from "@svc/core";

/** A figure that is dear to read: known as it was some time ago. */
export type Measured = {
  /** Whether it had come to `most` when it was read. Never waits: what is too old bounds nothing, and is read anew meanwhile. */
  hasReached(most: number): boolean;
  /** What it was when it was last read; 0 before. */
  latest(): number;
  /** Notes that this node added to it, which may be a reason to read it sooner. */
  add(count: number): void;
};

/** How old a figure may be and still bound something, and how often it is read, milliseconds. */
export type MeasuredTimes = {
  /** Between two reads of a figure that may be close to its bound. */
  readonly nearMs: number;
  /** Between two reads of any other. */
  readonly farMs: number;
  /** At least, also when this node added as much as there may be. */
  readonly pauseMs: number;
};

/** Reads may take one part in so many of the store's time. */
const pausePerRead = 20;
/** How long a figure that is not read again bounds something, in times that it should have been read in. */
const staleAfter = 3;

/** Makes one. `read` gets the bound that matters, and need not count beyond it; what it rejects with is forgotten, and tried again. */
export function createMeasured(
  clock: Clock,
  { nearMs, farMs, pauseMs }: MeasuredTimes,
  read: (most: number) => Promise<number>,
): Measured {
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
      // The store is away: whoever needs it finds that out for itself.
    } finally {
      isReading = false;
      nextReadMs = clock.now() + Math.max(pauseMs, pausePerRead * (clock.now() - startedMs));
    }
  };
  return {
    hasReached(most) {
      const nowMs = clock.now();
      const ageMs = nowMs - readAtMs;
      // What was added may be gone again, so it is a reason to look and none to refuse.
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
