import { type JobSetRow, readJobSetRows } from "@svc/db";
import type { CallStep, JsonObject, JsonValue, MapStep, RowState } from "../program/program.ts";
import type { RunScope } from "../program/resolve.ts";
import { ask, pointQuestion } from "./ask.ts";
import { addCalls, type CallCounts, noCalls, noRows } from "./documents.ts";
import { type CallFault, invoke } from "./invoke.ts";
import { noteErrorOf } from "./note-error.ts";
import type { Run } from "./run.ts";
import { openRow } from "./set-steps.ts";
import { countCalls, failAtLimit, failStep, leaveUntil, type Next, noteProgress } from "./step-end.ts";
import { undoEntryOf } from "./undo.ts";
import { fillCall } from "./values.ts";

/** Rows whose calls are committed together: what a crash has replayed from the ledger. */
const chunkRows = 50;

/** A row on its way through the calls of a map. */
type RowWork = {
  readonly ordinal: number;
  readonly rowNumber: number;
  readonly row: JsonObject;
  /** Calls that had ended well before. */
  readonly doneBefore: number;
  doneCalls: number;
  /** Answers of the calls that ended well, by call id. */
  readonly outputs: Record<string, JsonValue>;
  calls: CallCounts;
  /** Undefined while the row has not ended. */
  state?: RowState;
  fault?: CallFault;
  retry?: { readonly attempts: number; readonly dueAt: number };
};

/** Moves a map on by one chunk of rows, or, after the last, to its end. */
export async function advanceMap(run: Run, step: MapStep): Promise<Next> {
  if (!run.hasBegun(step.id)) {
    run.begin(step, step.calls[0]);
    run.patchReceipt(step.id, { rows: noRows });
  }
  await run.flush();
  const { works, last } = await readWorks(run, step);
  if (last === undefined) return conclude(run, step);
  if (works.length === chunkRows && run.progress?.again === undefined) readAhead(run, step, last + 1);
  const limit = await runRows(run, step, works);
  return recordRows(run, step, { works, last, limit });
}

/** The next rows that have not ended; `last` is the ordinal of the last row looked at, undefined after the end. */
async function readWorks(run: Run, step: MapStep): Promise<{ works: RowWork[]; last: number | undefined }> {
  const { next = 0, again, ended = [], retries } = run.progress ?? {};
  const from = { fromOrdinal: next, limit: chunkRows };
  const jobId = run.job.id;
  const rows =
    again === undefined
      ? await readSource(run, step, next)
      : await readJobSetRows(run.db, { jobId, setId: step.id, state: again }, from);
  const own = again === undefined && retries !== undefined ? await readOwn(run, step, from) : undefined;
  const works = rows
    .filter(({ ordinal }) => !ended.includes(ordinal))
    .map((row) => workOf(run, step, row, again === undefined ? own?.get(row.ordinal) : row));
  return { works, last: rows.at(-1)?.ordinal };
}

/** The next rows of a map's source, read while calls of the rows before are under way. */
type Ahead = {
  readonly setId: string;
  readonly fromOrdinal: number;
  readonly generation: number;
  readonly rows: Promise<JobSetRow[]>;
};

const aheads = new WeakMap<Run, Ahead>();

/** Nothing changes the source of a map while the map is at work: a rerun, which does, is of another generation. */
function readAhead(run: Run, step: MapStep, fromOrdinal: number): void {
  const { id: jobId, generation } = run.job;
  const setId = step.source;
  const rows = readJobSetRows(run.db, { jobId, setId }, { fromOrdinal, limit: chunkRows });
  // Whoever takes them hears of a failure; nobody may, when the driver leaves first.
  rows.catch(() => {});
  aheads.set(run, { setId, fromOrdinal, generation, rows });
}

function readSource(run: Run, step: MapStep, fromOrdinal: number): Promise<JobSetRow[]> {
  const { id: jobId, generation } = run.job;
  const ahead = aheads.get(run);
  aheads.delete(run);
  if (ahead?.setId === step.source && ahead.fromOrdinal === fromOrdinal && ahead.generation === generation) {
    return ahead.rows;
  }
  return readJobSetRows(run.db, { jobId, setId: step.source }, { fromOrdinal, limit: chunkRows });
}

/** What earlier looks at the same chunk left of rows that have not ended. */
async function readOwn(run: Run, step: MapStep, from: { fromOrdinal: number; limit: number }) {
  const rows = await readJobSetRows(run.db, { jobId: run.job.id, setId: step.id }, from);
  return new Map(rows.map((row) => [row.ordinal, row]));
}

function workOf(run: Run, step: MapStep, row: JobSetRow, own: JobSetRow | undefined): RowWork {
  const outputs = own?.outputs ? run.seals.open(outputsPlace(step.id, row.ordinal), own.outputs) : {};
  return {
    ordinal: row.ordinal,
    rowNumber: row.rowNumber,
    row: openRow(run, row),
    doneBefore: own?.doneCalls ?? 0,
    doneCalls: own?.doneCalls ?? 0,
    outputs: { ...(outputs as JsonObject) },
    calls: noCalls,
  };
}

const outputsPlace = (setId: string, ordinal: number) => `sets/${setId}/${ordinal}`;

type Limit = "toolCalls" | "writes";

/** Runs rows, `concurrency` at a time; no further one is begun once a limit is reached or the driver is to pause. */
async function runRows(run: Run, step: MapStep, works: readonly RowWork[]): Promise<Limit | undefined> {
  const values = run.values();
  const queue = works.values();
  let limit: Limit | undefined;
  const worker = async () => {
    for (const work of queue) {
      if (limit !== undefined || run.mustPause()) return;
      limit = (await runRow(run, step, work, values)) ?? limit;
    }
  };
  const size = Math.min(step.concurrency, run.program.limits.concurrency, works.length);
  const ends = await Promise.allSettled(Array.from({ length: size }, worker));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return limit;
}

/** Runs the calls of one row that have not ended well, in order, until one does not; a limit that forbids one is returned. */
async function runRow(run: Run, step: MapStep, work: RowWork, base: RunScope): Promise<Limit | undefined> {
  while (work.doneCalls < step.calls.length) {
    const call = step.calls[work.doneCalls] as CallStep;
    const retry = run.progress?.retries?.[`${work.ordinal}/${work.doneCalls}`];
    if (retry !== undefined && retry.dueAt > run.now) {
      work.retry = retry;
      return undefined;
    }
    const args = fillCall(call, { ...base, row: work.row, calls: work.outputs }, run.job.stepArgs);
    if ("fault" in args) {
      work.state = "failed";
      work.fault = args.fault;
      return undefined;
    }
    const invoked = await invoke(run, {
      call,
      place: { stepId: step.id, ordinal: work.ordinal, callId: call.id },
      args: args.args,
      attempts: retry?.attempts ?? 0,
      appGeneration: run.progress?.appGeneration ?? run.job.generation,
      isUndo: false,
    });
    work.calls = addCalls(work.calls, invoked.calls);
    switch (invoked.kind) {
      case "ok":
        work.outputs[call.id] = invoked.value;
        work.doneCalls++;
        break;
      case "failed":
      case "unknown":
        work.state = invoked.kind;
        work.fault = invoked.fault;
        return undefined;
      case "postponed":
        work.retry = { attempts: invoked.attempts, dueAt: run.now + invoked.waitMs };
        return undefined;
      case "limit":
        return invoked.limit;
    }
  }
  work.state = "ok";
  return undefined;
}

/** Puts what the rows came to into the next commit: states, counts, errors and undo entries, in the order of the rows. */
async function recordRows(
  run: Run,
  step: MapStep,
  { works, last, limit }: { works: readonly RowWork[]; last: number; limit: Limit | undefined },
): Promise<Next> {
  const { again, ended = [], retries: _old, ...progress } = run.progress ?? { stepId: step.id };
  const retries: Record<string, { attempts: number; dueAt: number }> = {};
  const endedNow: number[] = [];
  const unknownBefore = run.receiptOf(step.id).rows?.unknown ?? 0;
  for (const work of works) {
    recordRow(run, step, work, again);
    if (work.state !== undefined) endedNow.push(work.ordinal);
    else if (work.retry !== undefined) retries[`${work.ordinal}/${work.doneCalls}`] = work.retry;
  }
  const unknown = run.receiptOf(step.id).rows?.unknown ?? 0;
  // The first of them only: how many there are stands in the progress and in the question.
  if (unknownBefore === 0 && unknown > 0) run.note("call-in-doubt", step.id, { rows: unknown });
  if (limit !== undefined) return failAtLimit(run, step.id, limit);
  const kept = { ...progress, stepId: step.id, ...(again && { again }) };
  const isWhole = endedNow.length === works.length;
  noteProgress(run, step.id, {});
  if (isWhole) {
    run.setProgress({ ...kept, next: last + 1 });
    // Whether this was the last chunk is known only from the next look.
    await run.commit("keep");
    return "on";
  }
  run.setProgress({ ...kept, ended: [...ended, ...endedNow], retries });
  const dueAts = Object.values(retries).map(({ dueAt }) => dueAt);
  if (run.mustPause() || dueAts.length < works.length - endedNow.length) {
    await run.commit("keep");
    return "on";
  }
  return leaveUntil(run, Math.min(...dueAts));
}

function recordRow(run: Run, step: MapStep, work: RowWork, again: "failed" | "unknown" | undefined): void {
  const { ordinal, state, fault } = work;
  for (let index = work.doneBefore; index < work.doneCalls; index++) addUndoOf(run, step, work, index);
  countCalls(run, step.id, work.calls);
  if (state === undefined && work.doneCalls === work.doneBefore) return;
  const isKept = state !== "ok" && work.doneCalls > 0;
  run.addRows(
    [],
    [
      {
        setId: step.id,
        ordinal,
        rowNumber: work.rowNumber,
        state: state ?? again ?? "in",
        doneCalls: work.doneCalls,
        outputs: isKept ? run.seals.seal(outputsPlace(step.id, ordinal), work.outputs) : null,
        errorCode: fault?.code ?? "",
      },
    ],
  );
  if (state === undefined) return;
  const counts = run.receiptOf(step.id).rows ?? noRows;
  const before = again === undefined ? { ...counts, in: counts.in + 1 } : { ...counts, [again]: counts[again] - 1 };
  run.patchReceipt(step.id, { rows: { ...before, [state]: before[state] + 1 } });
  if (fault !== undefined) noteErrorOf(run, step.id, { code: fault.code, ordinal, message: fault.plain });
}

function addUndoOf(run: Run, step: MapStep, { ordinal, row, outputs }: RowWork, index: number): void {
  const call = step.calls[index] as CallStep;
  const entry = undoEntryOf(run, call, {
    ordinal,
    row,
    calls: outputs,
    output: outputs[call.id] ?? null,
    stepId: step.id,
  });
  if (entry !== undefined) run.addUndo([entry]);
}

/** Every row has ended: unknown ones are asked about first, then failed ones beyond what is tolerated. */
async function conclude(run: Run, step: MapStep): Promise<Next> {
  const counts = run.receiptOf(step.id).rows ?? noRows;
  const { again: _again, retries: _retries, ended: _ended, ...progress } = run.progress ?? { stepId: step.id };
  // Beyond the last row of the source: whatever is answered, the step comes here again unless rows are to run again.
  run.setProgress({ ...progress, stepId: step.id, next: counts.in });
  if (counts.unknown > 0) return askOf(run, step, "unknown");
  const { tolerate } = step;
  const isTolerated = counts.failed <= tolerate.count && counts.failed * 100 <= tolerate.percent * counts.in;
  if (counts.failed > 0 && !isTolerated) return askOf(run, step, "failed");
  const isSimulated = run.isSimulated && step.calls.some(({ tool }) => run.tool(tool).action.class !== "read");
  const isPartial = counts.failed + counts.skipped > 0;
  run.finishStep(step.id, isPartial ? "partial" : isSimulated ? "simulated" : "completed", run.job.position + 1);
  return "on";
}

function askOf(run: Run, step: MapStep, state: "failed" | "unknown"): Promise<Next> {
  const name = step.onRows[state];
  const point = name === undefined ? undefined : run.program.points.get(name);
  const counts = run.receiptOf(step.id).rows ?? noRows;
  if (point === undefined) {
    const code = state === "failed" ? "ROWS_FAILED" : "ROWS_UNKNOWN";
    return failStep(run, step.id, {
      code,
      message: `${counts[state]} of ${counts.in} rows ${state === "failed" ? "failed" : "are in doubt"}`,
    });
  }
  return ask(run, step.id, pointQuestion(run, point, state, counts));
}
