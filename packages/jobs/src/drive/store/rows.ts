import type { Work } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { type JobSetRow, readJobSetRows } from "@svc/db/jobs/sets";
import type { JsonObject } from "@svc/program";
import type { JobState } from "../../state/job.ts";
import type { RowRange, SetPage, SetRow } from "../../steps/effects.ts";
import { openBlock, openedFactor } from "./row-blocks.ts";
import type { JobSeals } from "./seals.ts";

type Opening = { readonly seals: JobSeals; readonly work: Work };

/**
 * Reads one page of the rows of a set (list that a step made) from the database and decrypts them. Returns the rows, and `hasMore` if more
 * rows follow.
 */
export async function readSetRows(
  { db, ...opening }: Opening & { readonly db: Executor },
  jobId: JobState["id"],
  range: RowRange,
): Promise<SetPage> {
  const { setId, fromOrdinal, limit, bytesMax, state, states, withData = true } = range;
  const set = { jobId, setId, state, states };
  const { rows, hasMore } = await readJobSetRows(db, set, { fromOrdinal, limit, bytesMax, withData });
  return { rows: await openRows(rows, range, opening), hasMore };
}

const noFields: JsonObject = {};

/**
 * Returns the decrypted fields of rows and the answers of their calls, or only the fields if the caller does not need the answers. Pauses
 * between parts, so that other work can run.
 */
async function openRows(
  rows: readonly JobSetRow[],
  { setId, withData = true }: RowRange,
  { seals, work }: Opening,
): Promise<SetRow[]> {
  const opened: SetRow[] = [];
  let block: readonly JsonObject[] = [];
  let bytesOfEach = 0;
  const slice = () => {
    do {
      const { ordinal, rowNumber, state, doneCalls, outputs, block: number, data } = rows[opened.length] as JobSetRow;
      if (withData && data !== null) {
        block = openBlock(number, data, seals);
        bytesOfEach = data.byteLength / block.length;
      }
      const fields = withData ? block[rowNumber - number] : noFields;
      if (fields === undefined) throw new Error(`row ${rowNumber} of a job is in no block`);
      opened.push({
        ordinal,
        rowNumber,
        state,
        doneCalls,
        data: fields,
        outputs: outputs === null ? noFields : seals.openObject(`sets/${setId}/${ordinal}`, outputs),
        bytes: openedFactor * (bytesOfEach + (outputs?.byteLength ?? 0)),
      });
    } while (opened.length < rows.length && !work.isSliceOver());
  };
  while (opened.length < rows.length) {
    work.run(slice);
    if (work.isSliceOver()) await work.turn();
  }
  return opened;
}
