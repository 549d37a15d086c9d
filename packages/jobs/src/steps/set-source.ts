import type { JobState } from "../state/job.ts";
import type { ChunkRange, ReadRow, StepEffects } from "./effects.ts";
import type { SetMemory } from "./set-memory.ts";

/** Which rows of a set are read, and whether with their fields. */
export type SetPart = Omit<ChunkRange, "fromOrdinal">;

/** What takes the rows of a set, and the account of what is held of them; `holds`: beyond their chunk, too. */
export type SetTaker = {
  readonly memory: SetMemory;
  readonly holds: boolean;
  /** False where no more rows are wanted. `bytes`: what they take in memory, about. */
  take(rows: readonly ReadRow[], bytes: number): Promise<boolean>;
};

/**
 * Hands on all rows of a set, a chunk at a time, while the next one is read. False where the act is to be given up, or no more of them
 * are wanted.
 */
export async function eachChunk(
  state: JobState,
  part: SetPart,
  effects: StepEffects,
  { memory, holds, take }: SetTaker,
): Promise<boolean> {
  const read = (fromOrdinal: number) => {
    const reading = effects.readChunk(state, { ...part, fromOrdinal });
    // Whoever waits for it hears of a failure.
    reading.catch(() => {});
    return reading;
  };
  if (holds && !(await memory.hasRoom())) return false;
  let reading = read(0);
  for (;;) {
    const { rows, next, bytes } = await reading;
    if (effects.mustEnd(state)) return false;
    if (!(await memory.hasRoomToPass(bytes))) return false;
    if (next !== undefined) reading = read(next);
    if (!(await take(rows, bytes))) return false;
    if (holds && !(await memory.hasRoom({ isLast: next === undefined }))) return false;
    if (next === undefined) return true;
  }
}
