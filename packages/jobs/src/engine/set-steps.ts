import { type JobSetRow, readJobSetRows } from "@svc/db";
import { compileExpression } from "../program/cel.ts";
import type { FilterStep, JsonObject, JsonValue, ReduceStep, Reduction } from "../program/program.ts";
import { valueAt } from "../program/resolve.ts";
import { noRows } from "./documents.ts";
import type { Run } from "./run.ts";
import { failStep, leaveUntil, type Next, noteProgress } from "./step-end.ts";

/** Rows read at once by steps that make no call. */
const chunkRows = 500;

/** Reads the next rows of a set; what is pending of any set is committed first. */
async function readChunk(run: Run, setId: string): Promise<JobSetRow[]> {
  await run.flushRows();
  return readJobSetRows(
    run.db,
    { jobId: run.job.id, setId },
    { fromOrdinal: run.progress?.next ?? 0, limit: chunkRows },
  );
}

/** A row's kept fields. */
export function openRow(run: Run, { rowNumber, data }: Pick<JobSetRow, "rowNumber" | "data">): JsonObject {
  return run.seals.open(`rows/${rowNumber}`, data) as JsonObject;
}

/** Moves a filter on by one chunk. */
export async function advanceFilter(run: Run, step: FilterStep): Promise<Next> {
  if (!run.hasBegun(step.id)) run.begin(step, undefined);
  const rows = await readChunk(run, step.source);
  const holds = compileExpression(step.where);
  const values = run.values();
  const counts = run.receiptOf(step.id).rows ?? noRows;
  const kept: JobSetRow[] = [];
  for (const row of rows) {
    const outcome = holds({ ...values, row: openRow(run, row) });
    if ("error" in outcome) {
      const message = `where ${outcome.error}, at the row of ordinal ${row.ordinal}`;
      return failStep(run, step.id, { code: "EXPRESSION_FAILED", message });
    }
    if (outcome.value) kept.push(row);
  }
  run.addRows(
    [],
    kept.map(({ rowNumber }, index) => {
      return {
        setId: step.id,
        ordinal: counts.ok + index,
        rowNumber,
        state: "in",
        doneCalls: 0,
        outputs: null,
        errorCode: "",
      };
    }),
  );
  run.patchReceipt(step.id, {
    rows: {
      ...counts,
      in: counts.in + rows.length,
      ok: counts.ok + kept.length,
      skipped: counts.skipped + rows.length - kept.length,
    },
  });
  return goOn(run, step.id, rows);
}

/** After a chunk: the step is over, or the next chunk follows. */
async function goOn(run: Run, stepId: string, rows: readonly JobSetRow[]): Promise<Next> {
  const last = rows.at(-1);
  if (last === undefined || rows.length < chunkRows) {
    run.finishStep(stepId, "completed", run.job.position + 1);
    return "on";
  }
  run.setProgress({ ...run.progress, stepId, next: last.ordinal + 1 });
  noteProgress(run, stepId, {});
  if (run.isSliceOver()) return leaveUntil(run, run.now);
  await run.commit("keep");
  return "on";
}

type Totals = Readonly<Record<string, { readonly count: number; readonly sum: number; readonly best: number | null }>>;

/** Moves a reduce on by one chunk. */
export async function advanceReduce(run: Run, step: ReduceStep): Promise<Next> {
  if (!run.hasBegun(step.id)) run.begin(step, undefined);
  const rows = await readChunk(run, step.source);
  const totals: Record<string, Totals[string]> = { ...((run.progress?.totals ?? {}) as Totals) };
  for (const row of rows) {
    const data = step.as.some(([, { kind }]) => kind !== "count") ? openRow(run, row) : {};
    for (const [name, reduction] of step.as) totals[name] = addRow(totals[name], reduction, row, data);
  }
  const counts = run.receiptOf(step.id).rows ?? noRows;
  run.patchReceipt(step.id, { rows: { ...counts, in: counts.in + rows.length, ok: counts.ok + rows.length } });
  run.setProgress({ ...run.progress, stepId: step.id, totals: totals as JsonValue });
  const next = await goOn(run, step.id, rows);
  // The value is kept together with the end of the step, which is committed later than this.
  if (run.receiptOf(step.id).state === "completed") {
    run.keepValue(
      step.id,
      Object.fromEntries(step.as.map(([name, reduction]) => [name, resultOf(totals[name], reduction)])),
    );
  }
  return next;
}

const nothing = { count: 0, sum: 0, best: null };

function addRow(
  before: Totals[string] = nothing,
  reduction: Reduction,
  row: JobSetRow,
  data: JsonObject,
): Totals[string] {
  if (reduction.kind === "count") {
    const counts = reduction.state === undefined || row.state === reduction.state;
    return counts ? { ...before, count: before.count + 1 } : before;
  }
  const found = valueAt(data, reduction.field);
  const value = typeof found === "number" ? found : Number.NaN;
  if (!Number.isFinite(value)) return before;
  const isBetter = before.best === null || (reduction.kind === "min" ? value < before.best : value > before.best);
  return { count: before.count + 1, sum: before.sum + value, best: isBetter ? value : before.best };
}

function resultOf(totals: Totals[string] = nothing, { kind }: Reduction): JsonValue {
  switch (kind) {
    case "count":
      return totals.count;
    case "sum":
      return totals.sum;
    case "avg":
      return totals.count === 0 ? null : totals.sum / totals.count;
    case "min":
    case "max":
      return totals.best;
  }
}
