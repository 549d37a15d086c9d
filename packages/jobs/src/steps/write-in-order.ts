import type { JsonObject } from "@svc/program";
import type { JobState } from "../state/job.ts";
import type { OpenedRows, StepEffects } from "./effects.ts";
import type { SetMemory } from "./set-memory.ts";
import type { SetWriter } from "./set-writer.ts";

/** Approximate bytes of opened rows. `openedMin`: always allowed at once. `openedMax`: the maximum if there is room in memory. */
const openedMin = 6_291_456;
const openedMax = 50_331_648;
/** Share of the memory that rows of average size should fill. If rows do not fit, they are opened again later. */
const fill = 0.9;

/** Rows in an order, by their row numbers. `bytes`: approximate memory of all rows. */
type InOrder = { readonly state: JobState; readonly numbers: readonly number[]; readonly bytes: number };

/**
 * Rewrites rows in the order of their set. Otherwise each storage block would hold rows from every part of the set, and a reader that reads
 * part by part would open every block for every part. It rewrites in parts that are as large as the memory allows. Returns false if the
 * step action must end.
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

/** Number of rows that are passed on together. */
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
