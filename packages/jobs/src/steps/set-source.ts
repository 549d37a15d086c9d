import type { CallStep, JsonObject, JsonValue } from "@svc/program";
import type { Next } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import type { ChunkRange, KnownKeys, ReadRow, StepEffects } from "./effects.ts";
import { keyOfRow, pickFields } from "./row-fields.ts";
import { SetMemory } from "./set-memory.ts";
import type { CallAt } from "./step-kind.ts";

/** The rows of a set to read, with or without their fields. */
type SetPart = Omit<ChunkRange, "fromOrdinal">;

/** Receiver of a set's rows, with the account of the memory held for them. `holds`: it keeps memory beyond the chunk. */
type SetTaker = {
  readonly memory: SetMemory;
  readonly holds: boolean;
  /** Returns false if no more rows are needed. `bytes`: their approximate memory. */
  take(rows: readonly ReadRow[], bytes: number): Promise<boolean>;
};

/**
 * Passes on all rows of a set, one chunk at a time, while the next is read. Returns false if the step action must be given up, or no more
 * rows are needed.
 */
export async function eachChunk(
  state: JobState,
  part: SetPart,
  effects: StepEffects,
  { memory, holds, take }: SetTaker,
): Promise<boolean> {
  const read = (fromOrdinal: number) => {
    const reading = effects.readChunk(state, { ...part, fromOrdinal });
    // The code that waits for it gets the error.
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

/** Approximate memory of a key, in bytes. */
const keyBytes = 160;
/** Largest number of keys that a driver caches from one page to the next. The keys of a larger set are read again for each page. */
const knownKeysMax = 10_000;

/** The new rows of a page, or what follows if their keys need too much memory. */
type NewRows = { readonly rows: readonly JsonObject[] } | { readonly stopped: Next };

/**
 * Returns an answer's items as rows, without those whose key a row of the step's set has; of items with the same key only the first. The
 * keys are those of stored rows, so a page that is read again, even by another node, adds nothing twice.
 */
export async function newRowsOf(
  at: CallAt,
  { key, keep }: NonNullable<CallStep["rows"]>,
  list: readonly JsonValue[],
  effects: StepEffects,
): Promise<NewRows> {
  if (key === undefined) return { rows: list.map((item) => pickFields(item, keep)) };
  return SetMemory.during(at, effects, async (memory) => {
    const known = await knownKeysOf(at, key, effects, memory);
    memory.add(list.length * keyBytes);
    if (known === undefined || !(await memory.hasRoom({ isLast: true }))) {
      return { stopped: memory.nextOfStop() ?? { kind: "commit" } };
    }
    const rows = await effects.inTurns(unknownOf(list, { key, keep }, known.keys));
    known.rows += rows.length;
    if (known.keys.size > knownKeysMax) effects.knownKeys.delete(at.step.id);
    else effects.knownKeys.set(at.step.id, known);
    return { rows };
  });
}

/** Returns the keys of the rows in the step's set, or undefined if the step action must end. */
async function knownKeysOf(
  { state, step }: CallAt,
  key: string,
  effects: StepEffects,
  memory: SetMemory,
): Promise<KnownKeys | undefined> {
  const rows = state.steps.get(step.id)?.receipt.rows?.in ?? 0;
  const known = effects.knownKeys.get(step.id);
  // Keys of a step action whose commit was lost are not stored.
  if (known?.rows === rows) {
    memory.add(known.keys.size * keyBytes);
    return known;
  }
  const keys = new Set<string>();
  if (rows === 0) return { rows, keys };
  const isRead = await eachChunk(state, { setId: step.id }, effects, {
    memory,
    holds: true,
    async take(chunk) {
      for (const { data } of chunk) {
        const text = keyOfRow(data, key);
        if (text !== undefined) keys.add(text);
      }
      memory.add(chunk.length * keyBytes);
      return true;
    },
  });
  return isRead ? { rows, keys } : undefined;
}

/** Returns items with unknown keys, and adds their keys to the known ones. */
function* unknownOf(
  list: readonly JsonValue[],
  { key, keep }: { readonly key: string; readonly keep: readonly string[] },
  known: Set<string>,
) {
  const rows: JsonObject[] = [];
  for (const item of list) {
    const row = pickFields(item, keep);
    const text = keyOfRow(row, key);
    if (text === undefined || !known.has(text)) rows.push(row);
    if (text !== undefined) known.add(text);
    yield undefined;
  }
  return rows;
}
