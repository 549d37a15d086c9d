import type { RowCounts } from "@svc/db";
import type { Change, Edit } from "../state/change.ts";
import { noRows } from "../state/counts.ts";
import type { ProgressOf } from "../state/progress.ts";
import { undoOf } from "./arguments.ts";
import type { StepEffects } from "./effects.ts";
import { newTally, type Tally, toolOf } from "./invoke.ts";
import { chunkOf, type RowWork, runRows } from "./map-rows.ts";
import { overrideEdits } from "./overrides.ts";
import { pointQuestion } from "./questions.ts";
import type { Settled, StepAt, StepKind } from "./step-kind.ts";

/** Calls for each row of a set: a chunk of rows an act. */
export const mapKind: StepKind<"map"> = {
  needs: "commit",
  set: "in",
  beginsWith: noRows,
  advance: advanceMap,
  answer: answerRows,
};

type MapAt = StepAt<"map">;
type MapProgress = ProgressOf<"map">;

/** Moves a map on by one chunk of rows, or, after the last, to its end. */
async function advanceMap(at: MapAt, effects: StepEffects): Promise<Change> {
  const { state, step, progress = { kind: "map", stepId: step.id } } = at;
  const { works, last } = await chunkOf({ state, step, progress }, effects);
  if (last === undefined) return conclude(at, progress);
  const tally = newTally();
  const { limit, fullUntilMs } = await runRows({ ...at, progress }, works, { tally, effects });
  const edits: Edit[] = [{ kind: "use", used: tally.used }, ...rowEdits(at, progress, { works, tally })];
  if (limit !== undefined) return { edits, next: { kind: "limit", stepId: step.id, limit } };
  return goOn(at, progress, { works, last, edits, effects, fullUntilMs });
}

/** What the rows came to: states, counts, errors and undo entries, in the order of the rows. */
function rowEdits(
  { state, step }: MapAt,
  { again }: MapProgress,
  { works, tally }: { readonly works: readonly RowWork[]; readonly tally: Tally },
): Edit[] {
  const stepId = step.id;
  const edits: Edit[] = [];
  const before = state.steps.get(stepId)?.receipt.rows ?? noRows;
  let rows = before;
  for (const work of works) {
    const { ordinal, state: ended, fault, doneBefore, doneCalls } = work;
    const done = { ...state.scope, row: work.row, calls: work.outputs };
    const undoable = step.calls.slice(doneBefore, doneCalls).filter(({ undo }) => undo !== undefined);
    const entries = undoable.flatMap((call) => {
      const output = work.outputs[call.id] ?? null;
      return undoOf(state, { call, stepId, ordinal, scope: { ...done, output } }) ?? [];
    });
    if (entries.length > 0) edits.push({ kind: "armUndo", entries });
    if (ended === undefined) continue;
    rows = countRow(rows, ended, again);
    if (fault !== undefined) edits.push({ kind: "error", stepId, code: fault.code, ordinal, message: fault.plain });
  }
  edits.push({ kind: "calls", stepId, calls: tally.calls });
  edits.push({ kind: "mapped", setId: stepId, rows: works.flatMap((work) => mappedRow(work, again)) });
  edits.push({ kind: "receipt", stepId, rows });
  // The first of them only: how many there are stands in the receipt and in the question.
  if (before.unknown === 0 && rows.unknown > 0) {
    edits.push({ kind: "note", note: { type: "call-in-doubt", stepId, payload: { rows: rows.unknown } } });
  }
  return edits;
}

function countRow(rows: RowCounts, ended: keyof RowCounts, again: "failed" | "unknown" | undefined): RowCounts {
  const before = again === undefined ? { ...rows, in: rows.in + 1 } : { ...rows, [again]: rows[again] - 1 };
  return { ...before, [ended]: before[ended] + 1 };
}

/** Nothing of a row that came no further. Its answers are kept while a later look at it may need them. */
function mappedRow(work: RowWork, again: "failed" | "unknown" | undefined) {
  const { ordinal, rowNumber, state, doneCalls, doneBefore, outputs, fault } = work;
  if (state === undefined && doneCalls === doneBefore) return [];
  const isKept = state !== "ok" && doneCalls > 0;
  return [
    {
      ordinal,
      rowNumber,
      state: state ?? again ?? ("in" as const),
      doneCalls,
      errorCode: fault?.code ?? "",
      outputs: isKept ? outputs : undefined,
    },
  ];
}

/** After a chunk: the next one, or what is left of this one. */
function goOn(
  { state }: MapAt,
  { retries: _retries, ended = [], ...progress }: MapProgress,
  chunk: {
    readonly works: readonly RowWork[];
    readonly last: number;
    readonly edits: readonly Edit[];
    readonly effects: StepEffects;
    /** Until then a call limit lets none of the rest go. */
    readonly fullUntilMs: number | undefined;
  },
): Change {
  const { works, last, edits, effects, fullUntilMs } = chunk;
  const { stepId } = progress;
  const logged: Edit = { kind: "logProgress", stepId };
  const left = works.filter(({ state }) => state === undefined);
  if (left.length === 0) {
    // Whether this was the last chunk is known only from the next look.
    return {
      edits: [...edits, logged, { kind: "progress", progress: { ...progress, next: last + 1 } }],
      next: { kind: "commit" },
    };
  }
  const retries = Object.fromEntries(
    left.flatMap(({ ordinal, doneCalls, retry }) => (retry === undefined ? [] : [[`${ordinal}/${doneCalls}`, retry]])),
  );
  const endedNow = works.flatMap(({ state, ordinal }) => (state === undefined ? [] : [ordinal]));
  const dueAts = [
    ...Object.values(retries).map(({ dueAt }) => dueAt),
    ...(fullUntilMs === undefined ? [] : [fullUntilMs]),
  ];
  const isWaiting = (fullUntilMs !== undefined || dueAts.length === left.length) && !effects.mustPause(state);
  return {
    edits: [...edits, logged, { kind: "progress", progress: { ...progress, ended: [...ended, ...endedNow], retries } }],
    next: isWaiting ? { kind: "until", atMs: Math.min(...dueAts) } : { kind: "commit" },
  };
}

/** Every row has ended: unknown ones are asked about first, then failed ones beyond what is tolerated. */
function conclude(at: MapAt, { again: _again, retries: _retries, ended: _ended, ...progress }: MapProgress): Change {
  const { state, step, instruction } = at;
  const counts = state.steps.get(step.id)?.receipt.rows ?? noRows;
  // Beyond the last row of the source: whatever is answered, the step comes here again unless rows are to run again.
  const edits: Edit[] = [{ kind: "progress", progress: { ...progress, next: counts.in } }];
  if (counts.unknown > 0) return askAbout(at, "unknown", counts, edits);
  const { tolerate } = step;
  const isTolerated = counts.failed <= tolerate.count && counts.failed * 100 <= tolerate.percent * counts.in;
  if (counts.failed > 0 && !isTolerated) return askAbout(at, "failed", counts, edits);
  const isSimulated = state.isSimulated && step.calls.some(({ tool }) => toolOf(state, tool).action.class !== "read");
  const isPartial = counts.failed + counts.skipped > 0;
  const ended = isPartial ? "partial" : isSimulated ? "simulated" : "completed";
  return {
    edits: [...edits, { kind: "finish", stepId: step.id, state: ended, to: instruction.next }],
    next: { kind: "on" },
  };
}

function askAbout(
  { state, step }: MapAt,
  kind: "failed" | "unknown",
  counts: RowCounts,
  edits: readonly Edit[],
): Change {
  const name = step.onRows[kind];
  const point = name === undefined ? undefined : state.loaded.program.points.get(name);
  if (point !== undefined) {
    return {
      edits,
      next: { kind: "ask", question: pointQuestion(point, { kind, stepId: step.id, state, counts }) },
    };
  }
  const code = kind === "failed" ? "ROWS_FAILED" : "ROWS_UNKNOWN";
  const message = `${counts[kind]} of ${counts.in} rows ${kind === "failed" ? "failed" : "are in doubt"}`;
  return { edits, next: { kind: "fail", stepId: step.id, code, message } };
}

/** What becomes of the failed or unknown rows. The step looks at its rows again afterwards. */
function answerRows(at: MapAt, settled: Settled): Change {
  const { step, instruction, progress } = at;
  const about = settled.kind === "unknown" ? "unknown" : "failed";
  const { askId: _ask, ...kept } = progress ?? { kind: "map", stepId: step.id };
  const again: Edit = { kind: "progress", progress: kept };
  switch (settled.decision.continuation) {
    case "proceed":
      if (about === "failed") {
        return {
          edits: [{ kind: "finish", stepId: step.id, state: "partial", to: instruction.next }],
          next: { kind: "on" },
        };
      }
      return { edits: [{ kind: "turned", setId: step.id, from: about, to: "ok" }, again], next: { kind: "on" } };
    case "skip":
      return { edits: [{ kind: "turned", setId: step.id, from: about, to: "skipped" }, again], next: { kind: "on" } };
    case "retry-with":
      return { edits: retryRows(at, settled, about, kept), next: { kind: "on" } };
    default:
      return { edits: [again], next: { kind: "on" } };
  }
}

/** The rows run again from their first call that did not end well. Where they are in doubt, the app is given the same keys. */
function retryRows(
  { state, step }: MapAt,
  { overridesJson, chain }: Settled,
  again: "failed" | "unknown",
  { retries: _retries, ended: _ended, appGeneration: before, ...kept }: Omit<MapProgress, "askId">,
): Edit[] {
  const name = step.onRows[again];
  const point = name === undefined ? undefined : state.loaded.program.points.get(name);
  const appGeneration = again === "unknown" ? { appGeneration: before ?? state.generation } : {};
  return [
    ...overrideEdits(step.id, point?.overrides?.target, overridesJson, chain),
    { kind: "generation" },
    { kind: "receipt", stepId: step.id, isNewAttempt: true },
    { kind: "progress", progress: { ...kept, again, next: 0, ...appGeneration } },
  ];
}
