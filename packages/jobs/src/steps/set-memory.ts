import type { MemoryHold } from "@svc/core";
import type { Change, Edit } from "../state/change.ts";
import type { StepEffects } from "./effects.ts";
import type { SetWriter } from "./set-writer.ts";
import type { StepAt } from "./step-kind.ts";

/** What is asked for at first, then as much as is held already, up to the most at once: few asks, and little that nothing fills. */
const firstBytes = 65_536;
const mostBytes = 4_194_304;

/** What a chunk of rows that passes by may take before it is counted: those of large rows come to more. */
export const passingBytesMax = 1_048_576;

/** How often it is looked, while others hold the memory, whether the driver is wanted, and how soon a job comes back that gave way. */
const lookMs = 100;
const againMs = 500;

/**
 * What an act holds in memory of the rows of a set, and of chunks of large rows while they pass by. It asks before it reads what it will hold of, waits while others hold too much, and
 * keeps its place on the node meanwhile only where nobody else waits for one, or where it holds something: then others let go soon.
 */
export class SetMemory {
  readonly #at: Pick<StepAt, "state" | "step">;
  readonly #effects: StepEffects;
  readonly #hold: MemoryHold;
  #bytes = 0;
  /** What is held of the rows of the last chunk. */
  #chunkBytes = 0;
  /** What the largest chunks come to that pass by. */
  #passingBytes = 0;
  #stopped: "tooLarge" | "wanted" | undefined;

  private constructor(at: Pick<StepAt, "state" | "step">, effects: StepEffects) {
    this.#at = at;
    this.#effects = effects;
    this.#hold = effects.holdMemory();
  }

  /** Does an act that holds something, and lets go of it at its end. */
  static async during<T>(
    at: Pick<StepAt, "state" | "step">,
    effects: StepEffects,
    act: (memory: SetMemory) => Promise<T>,
  ): Promise<T> {
    const memory = new SetMemory(at, effects);
    try {
      return await act(memory);
    } finally {
      memory.#hold.release();
    }
  }

  /** Does an act over a chunk of large rows once there is room for them; `begun`: what it edits where it has to end before. */
  static whilePassing(
    at: Pick<StepAt, "state" | "step">,
    effects: StepEffects,
    { bytes, begun, act }: { readonly bytes: number; readonly begun: readonly Edit[]; act(): Promise<Change> },
  ): Promise<Change> {
    return SetMemory.during(at, effects, async (memory) => {
      if (await memory.hasRoomToPass(bytes)) return act();
      if (memory.#stopped !== "wanted") return { edits: begun, next: { kind: "commit" } };
      return { edits: [], next: { kind: "until", atMs: effects.clock.now() + againMs } };
    });
  }

  /** Counts bytes that are held from now on. */
  add(bytes: number): void {
    this.#chunkBytes += bytes;
  }

  /**
   * Waits until there is room for what is held by now, and, unless no chunk of rows follows, for what another one may come to. False where
   * the act is to end: see `stop`.
   */
  hasRoom({ isLast = false } = {}): Promise<boolean> {
    this.#bytes += this.#chunkBytes;
    const next = isLast ? 0 : Math.max(firstBytes / 2, this.#chunkBytes);
    this.#chunkBytes = 0;
    return this.#grow(this.#bytes + next);
  }

  /** Waits until there is room for a chunk of rows that passes by, and one like it. False where the act is to end. */
  hasRoomToPass(bytes: number): Promise<boolean> | boolean {
    const passing = 2 * (bytes - passingBytesMax);
    if (passing <= this.#passingBytes) return true;
    this.#passingBytes = passing;
    return this.#grow(this.#bytes);
  }

  /** Takes up to so many bytes of what nobody else holds or waits for, without waiting; answers how many those are. */
  takeSpare(bytesMax: number): number {
    const before = this.#hold.bytes;
    for (let bytes = Math.ceil(Math.min(bytesMax, this.#hold.bytesMax - before)); bytes >= firstBytes; bytes >>= 1) {
      if (this.#hold.take(bytes) !== true) this.#hold.withdraw();
      const taken = this.#hold.bytes - before;
      if (taken > 0) return taken;
    }
    return 0;
  }

  /** A chunk that passes by is no reason to fail: it takes what is left. */
  async #grow(held: number): Promise<boolean> {
    const { bytesMax } = this.#hold;
    const needed = Math.max(held, Math.min(held + this.#passingBytes, bytesMax));
    while (this.#hold.bytes < needed) {
      const growth = Math.min(mostBytes, Math.max(firstBytes, this.#hold.bytes), bytesMax - this.#hold.bytes);
      if (!(await this.#take(Math.max(growth, needed - this.#hold.bytes)))) return false;
    }
    return true;
  }

  /** How an act ends that was stopped before it had read all rows. */
  stop(writer: SetWriter): Promise<Change> {
    const next = this.nextOfStop();
    if (next === undefined) return writer.giveUp();
    return next.kind === "until" ? writer.postpone(next.atMs) : writer.fail(next);
  }

  /** What follows an act that was stopped; undefined if its driver has to end. */
  nextOfStop(): Extract<Change["next"], { kind: "until" | "fail" }> | undefined {
    if (this.#stopped === "wanted") return { kind: "until", atMs: this.#effects.clock.now() + againMs };
    if (this.#stopped === undefined) return undefined;
    const message = tooLarge(this.#hold.bytesMax);
    return { kind: "fail", stepId: this.#at.step.id, code: "SET_TOO_LARGE", message };
  }

  async #take(bytes: number): Promise<boolean> {
    const taken = this.#hold.take(bytes);
    if (taken === true) return true;
    if (taken === false) {
      this.#stopped = "tooLarge";
      return false;
    }
    let isGranted = false;
    const granted = taken.then(() => {
      isGranted = true;
    });
    while (!isGranted) {
      if (this.#isWanted()) {
        this.#hold.withdraw();
        return false;
      }
      const waiting = new AbortController();
      await Promise.race([granted, this.#effects.clock.wait(lookMs, waiting.signal)]);
      waiting.abort();
    }
    return true;
  }

  /** Whether the driver is wanted elsewhere: at the job's end, or, by an act that holds nothing yet, by other jobs. */
  #isWanted(): boolean {
    const { state } = this.#at;
    if (this.#effects.mustEnd(state)) return true;
    if (this.#hold.bytes > 0 || !this.#effects.mustPause(state)) return false;
    this.#stopped = "wanted";
    return true;
  }
}

function tooLarge(bytesMax: number): string {
  return (
    `what it would hold in memory of its rows is more than the ${bytesMax} bytes that one step may: take fewer rows, by a filter or a ` +
    "limit before it, or compare and keep less of each"
  );
}
