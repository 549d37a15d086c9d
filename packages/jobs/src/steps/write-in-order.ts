import type { JsonObject } from "@svc/program";
import type { JobState } from "../state/job.ts";
import type { OpenedRows, StepEffects } from "./effects.ts";
import type { SetMemory } from "./set-memory.ts";
import type { SetWriter } from "./set-writer.ts";

/** Approximate memory in bytes that decrypted rows may always use. `openedMax`: the maximum, if the node has that memory free. */
const openedMin = 6_291_456;
const openedMax = 50_331_648;
/** Fraction of the allowed memory that is planned for the rows of one part. The rest is a reserve for larger rows. */
const fill = 0.9;

/** Numbers of the rows of a set (the list that a step made), in the order of the set. `bytes`: approximate memory of all these rows. */
type InOrder = { readonly state: JobState; readonly numbers: readonly number[]; readonly bytes: number };

/**
 * Stores the rows of a set (list of rows) again, in their order in the set. Later steps then read them faster. Returns false if the job had
 * to end before all rows were stored.
 */
export async function writeInOrder(
  { state, numbers, bytes }: InOrder,
  effects: Pick<StepEffects, "mustEnd" | "openRows" | "inTurns">,
  { memory, writer }: { readonly memory: Pick<SetMemory, "takeSpare">; readonly writer: Pick<SetWriter, "make"> },
): Promise<boolean> {
  const room = Math.max(openedMin, memory.takeSpare(Math.min(openedMax, bytes / fill)));
  const atOnce = Math.max(1, Math.floor((fill * room * numbers.length) / Math.max(1, bytes)));
  for (let from = 0; from < numbers.length; ) {
    if (effects.mustEnd(state)) return false;
    const part = numbers.slice(from, from + atOnce);
    const opened = await effects.openRows(state, part, room);
    await effects.inTurns(writeOpened(part, opened, writer));
    from += opened.rows;
  }
  return true;
}

/** Number of rows that are passed to the writer together. */
const rowsAtOnce = 500;

function* writeOpened(
  part: readonly number[],
  { rows: count, fields }: OpenedRows,
  writer: Pick<SetWriter, "make">,
): Generator<Promise<void>> {
  for (let from = 0; from < count; from += rowsAtOnce) {
    const numbers = part.slice(from, Math.min(from + rowsAtOnce, count));
    const rows = numbers.map((number): JsonObject => fields.get(number) ?? {});
    yield writer.make(rows, rows.length);
  }
}
