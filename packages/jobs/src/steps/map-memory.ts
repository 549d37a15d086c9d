import type { MemoryHold } from "@svc/core";
import type { JsonValue } from "@svc/program";
import type { StepEffects } from "./effects.ts";
import { passingBytesMax } from "./set-memory.ts";

/** What of rows is committed together, bytes in memory. */
export const keptBytesMax = 4_194_304;

/** Rows that come to so much are enough to have at hand: none is read or begun beyond it, and they go on one after the other. */
export const handBytesMax = 16_777_216;

/** How often it is looked, while rows wait, whether the driver is wanted. */
const lookMs = 100;

/** A row at hand: what it takes. */
type HeldRow = { bytes: number };

/**
 * What the rows of a map that are at hand take in memory. Little is not counted for: beyond that it is charged to the project, as chunks
 * of large rows are that pass by, twice for what is made of it, and given back once little is left. Who runs the rows counts, as plain
 * sums: most rows are small, and this is not entered for them.
 */
export class MapMemory {
  /** What rows and the ledger's rows of their calls take. */
  bytes = 0;
  /** Rows under way, in the order in which they began. */
  readonly begun = new Set<HeldRow>();
  /** Whether there was ever much at hand: `settle` is then to be called when it becomes less, or a row ends. */
  isWatched = false;
  /** Whether rows were left because others hold the memory and wait for the driver's place. */
  isPostponed = false;
  readonly #effects: StepEffects;
  readonly #isWanted: () => boolean;
  #hold: MemoryHold | undefined;
  #charging: Promise<boolean> | undefined;
  #changed = Promise.withResolvers<void>();

  /** `isWanted`: whether no further call may begin. */
  constructor(effects: StepEffects, isWanted: () => boolean) {
    this.#effects = effects;
    this.#isWanted = isWanted;
  }

  /** Gives back what is held where little is at hand, and lets those look again that wait. */
  settle(): void {
    if (this.bytes <= passingBytesMax && this.#charging === undefined) this.release();
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Gives all of it back. */
  release(): void {
    this.#hold?.release();
    this.#hold = undefined;
  }

  /** Waits, where much is at hand, until a row may make its next call; false where it is to be left as it is. */
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

  /** Waits until the project has what is at hand, as far as one act may have it. False where the driver is wanted before. */
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
      // Rows take no more than is left, and are no reason to fail.
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

/** What a text costs beside its characters; an object or a list beside what stands in it; and each thing that does. */
const textBytes = 24;
const containerBytes = 64;
const entryBytes = 24;

/** About how many bytes a text takes in memory, where it may have characters of any language. */
export function memoryOfText({ length }: string): number {
  return textBytes + 2 * length;
}

/** About how many bytes a value takes in memory. */
export function memoryOf(value: JsonValue): number {
  if (typeof value === "string") return memoryOfText(value);
  if (typeof value !== "object" || value === null) return entryBytes;
  let bytes = containerBytes;
  for (const item of Array.isArray(value) ? value : Object.values(value)) bytes += entryBytes + memoryOf(item);
  return bytes;
}
