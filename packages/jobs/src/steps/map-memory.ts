import type { MemoryHold } from "@svc/core";
import type { JsonValue } from "@svc/program";
import type { StepEffects } from "./effects.ts";
import { passingBytesMax } from "./set-memory.ts";

/** Maximum memory, in bytes, of the ended rows of a `map` step that wait for their common commit. */
export const keptBytesMax = 4_194_304;

/**
 * Memory limit, in bytes, for the rows of a `map` step (which makes calls for each row). Above it, no new row is read or begun, and the rows
 * in progress make their next calls one after another.
 */
export const handBytesMax = 16_777_216;

/** Interval in milliseconds at which rows that wait for memory check if the job must stop or give way. */
const lookMs = 100;

/** A row in memory, with its size. */
type HeldRow = { bytes: number };

/**
 * The memory that the rows of a `map` step use. A small amount does not count towards the project's memory limit. A larger amount counts
 * twice, because svc copies rows. The code that runs the rows adds their sizes to `bytes`.
 */
export class MapMemory {
  /** Memory in bytes of the rows, and of the records of their calls. */
  bytes = 0;
  /** Rows whose calls have begun, in the order in which they began. */
  readonly begun = new Set<HeldRow>();
  /**
   * True if the rows of the map step have ever used much memory. The code that runs the rows must then call the method `settle` each time
   * the memory shrinks or a row ends.
   */
  isWatched = false;
  /**
   * True if the remaining rows wait for memory that other jobs of this node use. This job must then give up its slot, because the other
   * jobs may need the slot to continue.
   */
  isPostponed = false;
  readonly #effects: StepEffects;
  readonly #isWanted: () => boolean;
  #hold: MemoryHold | undefined;
  #charging: Promise<boolean> | undefined;
  #changed = Promise.withResolvers<void>();

  /** `isWanted`: returns true if the job must stop for now, for example because other jobs wait for this node. */
  constructor(effects: StepEffects, isWanted: () => boolean) {
    this.#effects = effects;
    this.#isWanted = isWanted;
  }

  /**
   * Releases reserved memory if the rows of the `map` step use only little now. Then wakes the rows that wait for memory, so that each
   * checks if it can continue.
   */
  settle(): void {
    if (this.bytes <= passingBytesMax && this.#charging === undefined) this.release();
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /**
   * Releases all memory that this `map` step (which makes calls for each row) uses from its project's limit. Other jobs can then use that
   * memory.
   */
  release(): void {
    this.#hold?.release();
    this.#hold = undefined;
  }

  /**
   * Waits until svc may make the next call for a row, and returns true. It waits only if the rows use much memory. Returns false if the job
   * must pause; no further call is then made for the row.
   */
  async goOn(work: HeldRow): Promise<boolean> {
    if (!(await this.charge())) return false;
    while (this.bytes >= handBytesMax && !this.#isFirst(work)) {
      if (this.#isWanted()) return false;
      const { promise } = this.#changed;
      await this.#lookAgain(promise);
    }
    return true;
  }

  #isFirst(work: HeldRow): boolean {
    const [first] = this.begun;
    return first === undefined || first === work;
  }

  /**
   * Counts the memory of the rows towards the project's memory limit. Returns true when there is room, and false if the work on the job
   * must stop first.
   */
  charge(): Promise<boolean> {
    this.isWatched = true;
    this.#charging ??= this.#take().finally(() => {
      this.#charging = undefined;
      if (this.bytes <= passingBytesMax) this.release();
    });
    return this.#charging;
  }

  async #take(): Promise<boolean> {
    for (;;) {
      const passing = 2 * (this.bytes - passingBytesMax);
      if (passing <= 0) return true;
      this.#hold ??= this.#effects.holdMemory();
      const hold = this.#hold;
      const missing = Math.min(passing, hold.bytesMax) - hold.bytes;
      if (missing <= 0) return true;
      // A row takes at most the memory that is left, so rows never fail for lack of memory.
      const taken = hold.take(missing);
      if (typeof taken === "boolean") return true;
      let isGranted = false;
      const granted = taken.then(() => {
        isGranted = true;
      });
      while (!isGranted) {
        if (this.#isWanted()) {
          hold.withdraw();
          this.isPostponed = true;
          return false;
        }
        await this.#lookAgain(granted);
      }
    }
  }

  async #lookAgain(changed: Promise<void>): Promise<void> {
    const waiting = new AbortController();
    await Promise.race([changed, this.#effects.clock.wait(lookMs, waiting.signal)]);
    waiting.abort();
  }
}

/** Memory of a text in addition to its characters, in bytes. */
const textBytes = 24;
const containerBytes = 64;
const entryBytes = 24;

/**
 * Returns the approximate memory of a text, in bytes. It counts two bytes for each UTF-16 unit, so the result is large enough for texts in
 * any language.
 */
export function memoryOfText({ length }: string): number {
  return textBytes + 2 * length;
}

/** Returns the approximate memory of a value in bytes. */
export function memoryOf(value: JsonValue): number {
  if (typeof value === "string") return memoryOfText(value);
  if (typeof value !== "object" || value === null) return entryBytes;
  let bytes = containerBytes;
  for (const item of Array.isArray(value) ? value : Object.values(value)) bytes += entryBytes + memoryOf(item);
  return bytes;
}
