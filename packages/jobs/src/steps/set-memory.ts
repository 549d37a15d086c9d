import type { MemoryHold } from "@svc/core";
import type { Change, Edit } from "../state/change.ts";
import type { StepEffects } from "./effects.ts";
import type { SetWriter } from "./set-writer.ts";
import type { StepAt } from "./step-kind.ts";

/**
 * A step asks for memory several times while it needs more. `firstBytes` is the size of its first request. Each later request doubles the
 * memory that the step holds, but asks for at most `mostBytes`. So only few requests are necessary, and little of the memory stays unused.
 */
const firstBytes = 65_536;
const mostBytes = 4_194_304;

/** Up to this size in bytes, a chunk of rows can be read and passed on without reserved memory. A chunk is a group of consecutive rows. */
export const passingBytesMax = 1_048_576;

/** Interval in milliseconds at which work that waits for memory checks if the job must end or pause. */
const lookMs = 100;
const againMs = 500;

/**
 * The memory that a job has reserved on this node for the rows it processes. The job requests memory before it reads rows, and waits while
 * all jobs together hold too much. A waiting job keeps its slot (the right to run on this node) if no other job needs it. The job keeps its
 * slot in any case if it already holds memory.
 */
export class SetMemory {
  readonly #at: Pick<StepAt, "state" | "step">;
  readonly #effects: StepEffects;
  readonly #hold: MemoryHold;
  #bytes = 0;
  /** Memory held for the rows of the last chunk, in bytes. */
  #chunkBytes = 0;
  /** Memory requested for the largest chunk of passing rows (rows that are read and not kept) so far, in bytes. */
  #passingBytes = 0;
  #stopped: "tooLarge" | "wanted" | undefined;

  private constructor(at: Pick<StepAt, "state" | "step">, effects: StepEffects) {
    this.#at = at;
    this.#effects = effects;
    this.#hold = effects.holdMemory();
  }

  /** Runs `act` with a new `SetMemory`, which counts the memory that `act` uses. Releases this memory at the end. */
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

  /**
   * Runs `act` as soon as memory for a group of rows is free, and returns the change from `act`. If memory stays short, the step tries
   * again later. If the job must stop first, `act` does not run, and the job commits the changes in `begun`.
   */
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

  /** Counts the bytes of rows that stay in memory. The next call of `hasRoom` requests memory for them. */
  add(bytes: number): void {
    this.#chunkBytes += bytes;
  }

  /**
   * Waits until there is memory for the rows kept so far and for the next chunk (group of rows). Then returns true. `isLast`: true if no
   * chunk follows. Returns false if the job must end its present part of work. The caller must then call `stop`.
   */
  hasRoom({ isLast = false } = {}): Promise<boolean> {
    this.#bytes += this.#chunkBytes;
    const next = isLast ? 0 : Math.max(firstBytes / 2, this.#chunkBytes);
    this.#chunkBytes = 0;
    return this.#grow(this.#bytes + next);
  }

  /**
   * Waits until there is memory for two chunks of rows that are only read and passed on. The second chunk is read while the first one is
   * processed. Returns false if the current work on the step must end.
   */
  hasRoomToPass(bytes: number): Promise<boolean> | boolean {
    const passing = 2 * (bytes - passingBytesMax);
    if (passing <= this.#passingBytes) return true;
    this.#passingBytes = passing;
    return this.#grow(this.#bytes);
  }

  /** Takes up to `bytesMax` bytes of memory that no other job holds or waits for. Never waits. Returns the number of bytes taken. */
  takeSpare(bytesMax: number): number {
    const before = this.#hold.bytes;
    for (let bytes = Math.ceil(Math.min(bytesMax, this.#hold.bytesMax - before)); bytes >= firstBytes; bytes >>= 1) {
      if (this.#hold.take(bytes) !== true) this.#hold.withdraw();
      const taken = this.#hold.bytes - before;
      if (taken > 0) return taken;
    }
    return 0;
  }

  /**
   * Requests memory for rows, and waits until it is granted. `held`: bytes of the rows that stay in memory. Returns false if the step must
   * stop its current work instead.
   */
  async #grow(held: number): Promise<boolean> {
    const { bytesMax } = this.#hold;
    // Memory for passing rows (rows that are read and not kept) is added only up to `bytesMax`.
    const needed = Math.max(held, Math.min(held + this.#passingBytes, bytesMax));
    while (this.#hold.bytes < needed) {
      const growth = Math.min(mostBytes, Math.max(firstBytes, this.#hold.bytes), bytesMax - this.#hold.bytes);
      if (!(await this.#take(Math.max(growth, needed - this.#hold.bytes)))) return false;
    }
    return true;
  }

  /** Returns the change of the job if a step did not get enough memory. Call it after `hasRoom` or `hasRoomToPass` has returned false. */
  stop(writer: SetWriter): Promise<Change> {
    const next = this.nextOfStop();
    if (next === undefined) return writer.giveUp();
    return next.kind === "until" ? writer.postpone(next.atMs) : writer.fail(next);
  }

  /**
   * Returns how the job continues after a step action (unit of a step's work) stopped for lack of memory. The job is tried again later, or
   * the step fails because its rows need too much memory. Returns undefined if there was another reason to stop.
   */
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

  /**
   * True if the job must end or pause, so that the step must stop waiting for memory. A pause does not count if the step already holds
   * memory.
   */
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
    `its rows would use more than the ${bytesMax} bytes of memory that one step may use: take fewer rows, with a filter or a ` +
    "limit before it, or compare and keep fewer fields of each"
  );
}
