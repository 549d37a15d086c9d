import type { JobSetRun } from "@svc/db/jobs/rows";
import type { JsonObject } from "@svc/program";
import { noRows } from "../counts.ts";
import { type Draft, type EditOf, type Editors, entryOf, patch } from "./draft.ts";

/** Edits of the rows of a job, and of the sets (lists of rows) that steps make. */
export const rowEditors: Editors<"fetched" | "chosen" | "made" | "mapped" | "turned"> = {
  fetched: takeRows,
  chosen: chooseRows,
  made: makeRows,
  mapped: (draft, { setId, rows }) => {
    for (const { data, ...row } of rows) {
      const rowNumber = data === undefined ? row.rowNumber : makeRow(draft, data);
      draft.pending.placed.push({ setId, ...row, rowNumber });
    }
  },
  turned: turnRows,
};

function takeRows(draft: Draft, { setId, rows }: EditOf<"fetched">): void {
  const { job, pending } = draft;
  const counts = entryOf(job, setId).receipt.rows ?? noRows;
  const first = job.used.rows + job.rowsMade + 1;
  const rowNumbers = rows.map((_row, index) => first + index);
  for (const [index, data] of rows.entries()) pending.rows.push({ rowNumber: first + index, data });
  placeRows(draft, { setId, fromOrdinal: counts.in, rowNumbers });
  job.used = { ...job.used, rows: job.used.rows + rows.length };
  patch(draft, setId, () => ({ rows: { ...counts, in: counts.in + rows.length, ok: counts.ok + rows.length } }));
}

/** Adds a new row that a step made from other rows. Returns the row's number. */
function makeRow({ job, pending }: Draft, data: JsonObject): number {
  job.rowsMade += 1;
  const rowNumber = job.used.rows + job.rowsMade;
  pending.rows.push({ rowNumber, data });
  return rowNumber;
}

function chooseRows(draft: Draft, { setId, rowNumbers, looked }: EditOf<"chosen">): void {
  const counts = entryOf(draft.job, setId).receipt.rows ?? noRows;
  placeRows(draft, { setId, fromOrdinal: counts.ok, rowNumbers });
  const ok = counts.ok + rowNumbers.length;
  const skipped = counts.skipped + looked - rowNumbers.length;
  patch(draft, setId, () => ({ rows: { ...counts, in: counts.in + looked, ok, skipped } }));
}

function makeRows(draft: Draft, { setId, rows, looked }: EditOf<"made">): void {
  const counts = entryOf(draft.job, setId).receipt.rows ?? noRows;
  placeRows(draft, { setId, fromOrdinal: counts.ok, rowNumbers: rows.map((data) => makeRow(draft, data)) });
  patch(draft, setId, () => ({ rows: { ...counts, in: counts.in + looked, ok: counts.ok + rows.length } }));
}

/**
 * Appends rows to a set (the rows that a step has made). If they directly follow the last pending rows of the same set, both become one
 * range.
 */
function placeRows({ pending: { runs } }: Draft, run: JobSetRun): void {
  if (run.rowNumbers.length === 0) return;
  const last = runs.at(-1);
  const isNext = last?.setId === run.setId && last.fromOrdinal + last.rowNumbers.length === run.fromOrdinal;
  if (isNext) runs[runs.length - 1] = { ...last, rowNumbers: [...last.rowNumbers, ...run.rowNumbers] };
  else runs.push(run);
}

function turnRows(draft: Draft, edit: EditOf<"turned">): void {
  const { setId, from, to } = edit;
  draft.pending.turned.push(edit);
  patch(draft, setId, ({ receipt: { rows = noRows } }) => {
    return { rows: { ...rows, [from]: 0, [to]: rows[to] + rows[from] } };
  });
}
