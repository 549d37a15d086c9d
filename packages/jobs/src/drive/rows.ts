import type { Work } from "@svc/core";
import { type Executor, type JobSetRow, readJobSetRows } from "@svc/db";
import type { JsonObject } from "@svc/program";
import type { JobState } from "../state/job.ts";
import type { RowRange, SetRow, StepEffects } from "../steps/effects.ts";
import type { JobSeals } from "./seals.ts";

type Ahead = RowRange & { readonly generation: number; readonly rows: Promise<JobSetRow[]> };

/** Reads and opens rows of sets for one driver. */
export function createRowReader(
  db: Executor,
  opening: { readonly seals: JobSeals; readonly work: Work },
): Pick<StepEffects, "readRows" | "readAhead"> {
  let ahead: Ahead | undefined;
  const select = ({ id: jobId }: JobState, { setId, fromOrdinal, limit, state }: RowRange) => {
    return readJobSetRows(db, { jobId, setId, state }, { fromOrdinal, limit });
  };
  /** The range that was read ahead, if it is the one that is wanted. A rerun, which may change a set, is of another generation. */
  const taken = (state: JobState, range: RowRange) => {
    const found = ahead;
    ahead = undefined;
    const isWanted =
      found?.setId === range.setId &&
      found.fromOrdinal === range.fromOrdinal &&
      found.limit === range.limit &&
      found.generation === state.generation &&
      range.state === undefined;
    return isWanted ? found.rows : undefined;
  };
  return {
    async readRows(state, range) {
      return openRows(await (taken(state, range) ?? select(state, range)), range, opening);
    },
    readAhead(state, range) {
      const rows = select(state, range);
      // Whoever takes them hears of a failure; nobody may, when the driver leaves first.
      rows.catch(() => {});
      ahead = { ...range, generation: state.generation, rows };
    },
  };
}

const noFields: JsonObject = {};

/** Fields and answers of rows, opened in slices; fields alone where they are wanted. */
async function openRows(
  rows: readonly JobSetRow[],
  { setId, withData = true }: RowRange,
  { seals: { openObject }, work }: { readonly seals: JobSeals; readonly work: Work },
): Promise<SetRow[]> {
  const opened: SetRow[] = [];
  const slice = () => {
    do {
      const { ordinal, rowNumber, state, doneCalls, outputs, data } = rows[opened.length] as JobSetRow;
      opened.push({
        ordinal,
        rowNumber,
        state,
        doneCalls,
        data: withData ? openObject(`rows/${rowNumber}`, data) : noFields,
        outputs: outputs === null ? noFields : openObject(`sets/${setId}/${ordinal}`, outputs),
      });
    } while (opened.length < rows.length && !work.isSliceOver());
  };
  while (opened.length < rows.length) {
    work.run(slice);
    if (work.isSliceOver()) await work.turn();
  }
  return opened;
}
