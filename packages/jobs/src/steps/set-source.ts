import type { CallStep, JsonObject, JsonValue } from "@svc/program";
import type { Next } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import type { ChunkRange, KnownKeys, ReadRow, StepEffects } from "./effects.ts";
import { keyOfRow, pickFields } from "./row-fields.ts";
import { SetMemory } from "./set-memory.ts";
import type { CallAt } from "./step-kind.ts";

/** Selection of the rows to read from a set (the rows that one step has made). `withData`: false if the rows' fields are not needed. */
type SetPart = Omit<ChunkRange, "fromOrdinal">;

/**
 * Receives the rows of a set, chunk by chunk. `memory`: the memory budget that is charged for the rows. `holds`: true if the receiver keeps
 * a chunk in memory after it has processed the chunk.
 */
type SetTaker = {
  readonly memory: SetMemory;
  readonly holds: boolean;
  /**
   * Gives the rows of one chunk (group of consecutive rows) to the step that reads the set (list of rows). Returns false if the step needs
   * no more rows. `bytes`: approximate memory of the rows.
   */
  take(rows: readonly ReadRow[], bytes: number): Promise<boolean>;
};

/**
 * Passes all rows of a set (list of rows) to a receiver, chunk by chunk, while the next chunk is read. Returns true at the end of the set.
 * Returns false if the step action (part of the step's work) must end, or if the receiver needs no more rows.
 */
export async function eachChunk(
  state: JobState,
  part: SetPart,
  effects: StepEffects,
  { memory, holds, take }: SetTaker,
): Promise<boolean> {
  const read = (fromOrdinal: number) => {
    const reading = effects.readChunk(state, { ...part, fromOrdinal });
    // The error is not lost: the code that awaits `reading` gets it.
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

/** Approximate bytes of memory for the key of one row (the field value by which a step recognizes a row that it already has). */
const keyBytes = 160;
/**
 * Maximum number of row keys that a driver (the loop that runs one job's steps) keeps in memory between two pages of a set. For a larger
 * set, the keys are read again for each page.
 */
const knownKeysMax = 10_000;

/**
 * The rows of a page that are not yet in the step's set (the rows that the step has made). If the keys of the set's rows do not fit into
 * memory, the result is `stopped`: what the job does next.
 */
type NewRows = { readonly rows: readonly JsonObject[] } | { readonly stopped: Next };

/**
 * Returns the items of a call's answer as rows. An item is left out if its key is already in the step's stored rows or earlier in the
 * answer. Therefore a page that is read twice, even by a different node, adds each row once.
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

/**
 * Returns the keys of the rows that the step has already stored. Returns undefined if the step must pause, because the keys do not fit into
 * memory or other jobs wait.
 */
async function knownKeysOf(
  { state, step }: CallAt,
  key: string,
  effects: StepEffects,
  memory: SetMemory,
): Promise<KnownKeys | undefined> {
  const rows = state.steps.get(step.id)?.receipt.rows?.in ?? 0;
  const known = effects.knownKeys.get(step.id);
  // If the number of cached keys equals the number of stored rows, the cached keys are used. If not, a commit was lost, and some cached
  // keys belong to rows that were never stored. Then the keys are read again.
  if (known?.rows === rows) {
    memory.add(known.keys.size * keyBytes);
    return known;
  }
  const keys = new Set<string>();
  if (rows === 0) return { rows, keys };
  // The keys of the step's rows are read to the end, even if the job is cancelled or paused now. The app has already answered, and to stop
  // here would lose its page. This applies on every node.
  const isRead = await eachChunk(
    state,
    { setId: step.id },
    { ...effects, mustEnd: () => false },
    {
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
    },
  );
  return isRead ? { rows, keys } : undefined;
}

/**
 * Returns the items whose key is not in `known`, each as a row with the fields in `keep`. Items without a key are also returned. Adds the
 * keys of the returned items to `known`.
 */
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
