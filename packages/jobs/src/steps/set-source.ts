import type { JobState } from "../state/job.ts";
import type { RowRange, SetRow, StepEffects } from "./effects.ts";
import type { SetMemory } from "./set-memory.ts";
import { setChunkRows } from "./step-kind.ts";

/** Which rows of a set are read, and whether with their fields. `memory`: where something of them is held. */
export type SetPart = Pick<RowRange, "setId" | "states" | "withData"> & { readonly memory?: SetMemory };

/**
 * Hands on all rows of a set, a chunk at a time, while the next one is read. False where the act is to be given up, or `take` wants no
 * more of them.
 */
export async function eachChunk(
  state: JobState,
  { memory, ...part }: SetPart,
  effects: StepEffects,
  take: (rows: readonly SetRow[]) => Promise<boolean>,
): Promise<boolean> {
  const read = (fromOrdinal: number) => {
    const reading = effects.readRows(state, { ...part, fromOrdinal, limit: setChunkRows });
    // Whoever waits for it hears of a failure.
    reading.catch(() => {});
    return reading;
  };
  if (memory !== undefined && !(await memory.hasRoom())) return false;
  let reading = read(0);
  for (;;) {
    const rows = await reading;
    if (effects.mustEnd(state)) return false;
    const last = rows.at(-1);
    const isLast = last === undefined || rows.length < setChunkRows;
    if (!isLast) reading = read(last.ordinal + 1);
    if (!(await take(rows))) return false;
    if (memory !== undefined && !(await memory.hasRoom())) return false;
    if (isLast) return true;
  }
}
