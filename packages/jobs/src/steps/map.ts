import type { Id } from "@svc/core";
import type { RowCounts } from "@svc/db/documents/calls";
import { isCall } from "@svc/program";
import type { Change, Edit, Next } from "../state/change.ts";
import { noRows, sumCalls } from "../state/counts.ts";
import type { JobState } from "../state/job.ts";
import type { ProgressOf } from "../state/progress.ts";
import { countChild, standWith } from "./children.ts";
import type { StepEffects } from "./effects.ts";
import { toolOf, withheldEdits } from "./invoke.ts";
import { RowChildren } from "./map-children.ts";
import { MapMemory } from "./map-memory.ts";
import { type MapAt, mappedRow, type RowWork } from "./map-row.ts";
import { type RowsEnd, type RowsPart, RowsRun } from "./map-run.ts";
import { RowWindow, settleDoubt, undoesDoubt } from "./map-window.ts";
import { overrideEdits } from "./overrides.ts";
import { pointQuestion } from "./questions.ts";
import type { JobRetry, PartialCommit, RetriedAt, SettledQuestion, StepAt, StepKind } from "./step-kind.ts";

/**
 * Step kind `map`: makes calls for each row of a set, the list of rows that an earlier step made. The results are stored in several
 * commits, so that little is lost if the node dies.
 */
export const mapKind: StepKind<"map"> = {
  needs: "commit",
  set: "in",
  beginsWith: noRows,
  advance: advanceMap,
  retried: retriedMap,
  answer: answerRows,
};

/**
 * Returns the progress with which a retry of the job continues the `map` step. Unfinished rows continue first. Then failed rows run again,
 * and rows in doubt only if the retry requests it.
 */
function retriedMap({ progress }: RetriedAt<"map">, { generation, resendsUnknown }: JobRetry): ProgressOf<"map"> {
  // A retry asks the server of a withheld call at once.
  const { askId: _ask, hasFailed: _hasFailed, resendsUnknown: _resends, withheld: _withheld, ...kept } = progress;
  const redo = resendsUnknown ? (["unknown", "failed"] as const) : (["failed"] as const);
  const wanted = resendsUnknown ? ({ resendsUnknown } as const) : {};
  return { ...kept, ...wanted, generation: progress.generation ?? generation, redo };
}

/**
 * Runs the rows of a `map` step (which makes calls for each row) until all have ended or the job must pause. Ended rows are stored while
 * others still run.
 */
async function advanceMap(at: StepAt<"map">, effects: StepEffects, keep: PartialCommit): Promise<Change> {
  const { step, progress = { kind: "map", stepId: step.id } } = at;
  const map: MapAt = { ...at, progress };
  if (progress.acceptsDoubt === true) return settleDoubt(map, effects);
  const children = await childrenOf(map, effects);
  if (children !== undefined && at.state.status === "parked") {
    const stands = standWith(at.state, step.id, children.hasEnded ? [] : children.open, effects.clock.now());
    const staysParked = stands.length === 0 || stands.some(({ kind }) => kind === "park");
    return { edits: stands, next: staysParked ? { kind: "await", children: children.standings() } : { kind: "on" } };
  }
  let now = at.state;
  const progressed = logged(map);
  // The tools are looked up once for all rows, because very many rows make the same calls.
  const tools = step.calls.map((call) => (call.kind === "run" ? undefined : toolOf(at.state, call)));
  const memory = new MapMemory(effects, () => effects.mustPause(now));
  const passed = new Set<number>();
  const keepPart = async (part: RowsPart) => {
    const { edits } = partEdits(map, now, part);
    for (const { ordinal } of part.works) passed.add(ordinal);
    const known = progress.children && { children: withoutRows(progress.children, passed) };
    now = await keep([...edits, progressed, { kind: "progress", progress: { ...part.progress, ...known } }]);
    return now;
  };
  const window = new RowWindow(map, effects, { memory, used: children?.used });
  let end: RowsEnd;
  try {
    end = await new RowsRun(map, window, { effects, memory, children, tools, keep: keepPart }).run();
  } finally {
    if (memory.isWatched) memory.release();
  }
  const mustPause = effects.mustPause(now);
  if (children !== undefined) return withChildren(map, { children, end, now, mustPause }, effects);
  return follow(map, { end, now, mustPause, isPostponed: memory.isPostponed }, effects);
}

const logged = ({ step }: MapAt): Edit => ({ kind: "logProgress", stepId: step.id });

/** Time in milliseconds after which a job continues, if it stopped because its rows waited for memory. */
const againMs = 500;

type RanCalls = {
  readonly end: RowsEnd;
  readonly now: JobState;
  readonly mustPause: boolean;
  readonly isPostponed: boolean;
};

/** Returns the change of the job's state after a step action (unit of a step's work) of a map step that runs no skills. */
function follow(at: MapAt, { end, now, mustPause, isPostponed }: RanCalls, effects: StepEffects): Change {
  const { edits, rows } = partEdits(at, now, end.part);
  if (end.limit !== undefined) return { edits, next: { kind: "limit", stepId: at.step.id, limit: end.limit } };
  const reached: Edit[] = [...edits, logged(at), ...reachedEdits(at, now, end, {})];
  if (isPostponed && !effects.mustEnd(now)) {
    return { edits: reached, next: { kind: "until", atMs: effects.clock.now() + againMs } };
  }
  if (mustPause) return { edits: reached, next: { kind: "commit" } };
  if (!end.isDone) return { edits: reached, next: nextAct(end, effects) };
  const { edits: last, next } = conclude(at, rows, hasUnsent(at, now, edits));
  return { edits: [...edits, ...last], next };
}

/**
 * Returns the edits that store how far the step's rows are, and for which change of a tool they wait. `now`: the job after the last commit.
 */
function reachedEdits(
  { step, progress: { withheld: before } }: MapAt,
  now: JobState,
  { part, withheld }: RowsEnd,
  known: Partial<ProgressOf<"map">>,
): Edit[] {
  const { withheld: _before, ...reached } = part.progress;
  const progress = { ...reached, ...known, ...(withheld && { withheld: withheld.call }) };
  return [{ kind: "progress", progress }, ...withheldEdits(now, step.id, { before, now: withheld })];
}

/**
 * True if a simulation did not send a call of the step: a write, or a read of a private tool that a person must confirm. `now`: the job
 * after the last commit. `edits`: the changes of the job since then.
 */
function hasUnsent({ step }: MapAt, now: JobState, edits: readonly Edit[]): boolean {
  return now.simulated[step.id] !== undefined || edits.some(({ kind }) => kind === "unsent");
}

/** Returns the child jobs that run skills for the rows of a map step. Returns undefined if the step runs no skill. */
async function childrenOf(at: MapAt, effects: StepEffects): Promise<RowChildren | undefined> {
  if (!at.step.calls.some(({ kind }) => kind === "run")) return undefined;
  const ids = Object.values(at.progress.children ?? {});
  return new RowChildren(at, effects, ids.length === 0 ? [] : await effects.readChildren(at.state, ids));
}

function withoutRows(children: Readonly<Record<string, Id<"job">>>, passed: ReadonlySet<number>) {
  return Object.fromEntries(Object.entries(children).filter(([place]) => !passed.has(Number.parseInt(place, 10))));
}

type RanRows = {
  readonly children: RowChildren;
  readonly end: RowsEnd;
  readonly now: JobState;
  readonly mustPause: boolean;
};

/**
 * Returns the change after work on a `map` step whose rows run child jobs. The change stores the new child jobs and the progress of the
 * rows. While child jobs run, the step waits for them.
 */
function withChildren(at: MapAt, { children, end, now, mustPause }: RanRows, effects: StepEffects): Change {
  const { edits, rows } = partEdits(at, now, end.part);
  const { step } = at;
  const progress = reachedEdits(at, now, end, children.known());
  if (!children.hasOpen) {
    if (end.limit !== undefined) return { edits, next: { kind: "limit", stepId: step.id, limit: end.limit } };
    if (mustPause || !end.isDone) return { edits: [...edits, ...progress], next: nextAct(end, effects) };
    const { edits: last, next } = conclude(at, rows, hasUnsent(at, now, edits));
    return { edits: [...edits, ...last], next };
  }
  const reached: Edit[] = [...edits, { kind: "logProgress", stepId: step.id }, ...children.beginEdits(), ...progress];
  // If the driver must pause, the changes are only committed. Otherwise the job waits for its children, at most until the first retry of a
  // call is due.
  if (mustPause) return { edits: reached, next: { kind: "commit" } };
  const dueAts = end.open.flatMap(({ retry }) => (retry === undefined ? [] : [retry.dueAt]));
  const stands = children.hasBegun ? [] : standWith(now, step.id, children.open, effects.clock.now());
  const atMs = dueAts.length === 0 ? {} : { atMs: Math.min(...dueAts) };
  const isFullElsewhere = end.fullUntilMs !== undefined && Number.isFinite(end.fullUntilMs);
  const due = isFullElsewhere ? { atMs: Math.min(end.fullUntilMs ?? 0, ...dueAts) } : atMs;
  const waits = dueAts.length === 0 && !isFullElsewhere ? stands : [];
  return { edits: [...reached, ...waits], next: { kind: "await", children: children.standings(), ...due } };
}

/** Returns the tool of the call at which a row failed, if it is not that of the step's first call, which the receipt names. */
function failedTool({ calls }: MapAt["step"], { doneCalls }: RowWork): { readonly toolSlug?: string } {
  const [first, failed] = [calls[0], calls[doneCalls]];
  const isOther = failed !== undefined && "tool" in failed && (first?.kind === "run" || first?.tool !== failed.tool);
  return isOther ? { toolSlug: failed.tool } : {};
}

/**
 * Returns the edits (changes to the job's state) that store ended rows of a `map` step. They contain the rows' counts, errors, undo entries
 * and recorded calls. Also returns the step's total row counts after these edits.
 */
function partEdits(
  { step, progress: { again } }: MapAt,
  state: JobState,
  { works, records }: RowsPart,
): { readonly edits: readonly Edit[]; readonly rows: RowCounts } {
  const stepId = step.id;
  const edits: Edit[] = records.length > 0 ? [{ kind: "recorded", records }] : [];
  const before = state.steps.get(stepId)?.receipt.rows ?? noRows;
  if (works.length + records.length === 0) return { edits: [], rows: before };
  let rows = before;
  for (const work of works) {
    const { ordinal, state: ended, fault, undo: entries } = work;
    if (entries.length > 0) edits.push({ kind: "armUndo", entries });
    if (ended === undefined) continue;
    rows = countRow(rows, ended, again);
    if (fault !== undefined)
      edits.push({ kind: "error", stepId, code: fault.code, ordinal, message: fault.plain, ...failedTool(step, work) });
  }
  const unsent = works.flatMap((work) => work.unsent);
  const count = unsent.reduce((sum, each) => sum + each.count, 0);
  if (unsent.length > 0) edits.push({ kind: "unsent", stepId, count, calls: unsent.flatMap(({ calls }) => calls) });
  for (const child of works.flatMap(({ children }) => children)) edits.push(...countChild(stepId, child));
  const used = works.map((work) => work.tally.used);
  const toolCalls = used.reduce((sum, each) => sum + each.toolCalls, 0);
  edits.push({ kind: "use", used: { toolCalls, writes: used.reduce((sum, each) => sum + each.writes, 0) } });
  edits.push({ kind: "calls", stepId, calls: sumCalls(works.map(({ tally }) => tally.calls)) });
  edits.push({ kind: "mapped", setId: stepId, rows: works.flatMap((work) => mappedRow(step, work, again)) });
  edits.push({ kind: "receipt", stepId, rows });
  // Only the first row in doubt is logged. The receipt and the question contain the number of all such rows.
  if (before.unknown === 0 && rows.unknown > 0) {
    edits.push({ kind: "note", note: { type: "call-in-doubt", stepId, payload: { rows: rows.unknown } } });
  }
  return { edits, rows };
}

function countRow(rows: RowCounts, ended: keyof RowCounts, again: "failed" | "unknown" | undefined): RowCounts {
  const before = again === undefined ? { ...rows, in: rows.in + 1 } : { ...rows, [again]: rows[again] - 1 };
  return { ...before, [ended]: before[ended] + 1 };
}

/**
 * Returns what the job does after it has processed some rows of a map step. If every unfinished row waits (for example for a retry), the
 * node gives the job back until the first of these rows is due. Otherwise the job continues with the map and may read further rows.
 */
function nextAct({ open, fullUntilMs }: RowsEnd, { clock }: StepEffects): Next {
  const nowMs = clock.now();
  const dueAts = open.flatMap(({ retry }) => (retry !== undefined && retry.dueAt > nowMs ? [retry.dueAt] : []));
  const isAllWaiting = open.length > 0 && dueAts.length === open.length;
  if (!isAllWaiting && fullUntilMs === undefined) return { kind: "commit" };
  return { kind: "until", atMs: Math.min(...dueAts, fullUntilMs ?? Number.POSITIVE_INFINITY) };
}

/**
 * Highest possible position of a row in a set (the list of rows that a step made). No real set has so many rows. If a `map` step continues
 * at this position, no row is left to read.
 */
const lastOrdinal = 2_147_483_647;

/**
 * Returns the change of the job when all rows of a `map` step have ended. People are first asked about rows in doubt, then about too many
 * failed rows. Otherwise the step ends. `isUnsent`: true if a simulation run left out a call of the step.
 */
function conclude(at: MapAt, counts: RowCounts, isUnsent: boolean): Change {
  const { state, step, instruction } = at;
  const { again: _again, retries: _retries, ended: _ended, redo = [], children, ...rest } = at.progress;
  const { withheld: before, endedChildren: _endedChildren, ...kept } = rest;
  // The results of all child jobs have been taken, so the progress need not list the children any more.
  const progress = { ...kept, ...(children && { children: {} }) };
  const due = redo.find((ended) => counts[ended] > 0);
  if (due !== undefined) {
    return {
      edits: [
        ...runAgain(at, { ...progress, redo: redo.filter((ended) => ended !== due) }, due),
        ...withheldEdits(state, step.id, { before, now: undefined }),
      ],
      next: { kind: "on" },
    };
  }
  // Sets the position of the next source row to the highest possible one, so that no source row is read again. If a question follows, the
  // step continues from here after the answer, unless the answer runs rows again.
  const edits: Edit[] = [
    { kind: "progress", progress: { ...progress, next: lastOrdinal } },
    ...withheldEdits(state, step.id, { before, now: undefined }),
  ];
  if (counts.unknown > 0) return askAbout(at, "unknown", counts, edits);
  const { tolerate } = step;
  const isTolerated = counts.failed <= tolerate.count && counts.failed * 100 <= tolerate.percent * counts.in;
  if (counts.failed > 0 && !isTolerated) return askAbout(at, "failed", counts, edits);
  const isSimulated =
    isUnsent ||
    (state.isSimulated && step.calls.some((call) => !isCall(call) || toolOf(state, call).action.class !== "read"));
  // The program intends to skip rows by a condition, so such rows do not prevent the step from being complete. If a person decided to skip
  // failed rows, the step is only partly complete.
  const isSkippedAsMeant = step.calls.some(({ when }) => when !== undefined) && !hasSkipped(at);
  const isPartial = counts.failed > 0 || (counts.skipped > 0 && !isSkippedAsMeant);
  const ended = isPartial ? "partial" : isSimulated ? "simulated" : "completed";
  return {
    edits: [...edits, { kind: "finish", stepId: step.id, state: ended, to: instruction.next }],
    next: { kind: "on" },
  };
}

/** True if a person skipped failed rows of the step. */
function hasSkipped({ state, step }: MapAt): boolean {
  return state.steps.get(step.id)?.receipt.decision?.continuation === "skip";
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

/**
 * Returns the change to job state after a person answered the question of a `map` step. The question was about rows that failed, or rows
 * whose writes have an unknown outcome. Afterwards the step checks its rows again.
 */
function answerRows(at: StepAt<"map">, settled: SettledQuestion): Change {
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
      if (undoesDoubt(at.state, step)) {
        return { edits: [{ kind: "progress", progress: { ...kept, acceptsDoubt: true } }], next: { kind: "on" } };
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

function retryRows(
  { state, step }: StepAt<"map">,
  { overridesJson, chain }: SettledQuestion,
  again: "failed" | "unknown",
  { retries: _retries, ended: _ended, ...kept }: Omit<ProgressOf<"map">, "askId">,
): Edit[] {
  const name = step.onRows[again];
  const point = name === undefined ? undefined : state.loaded.program.points.get(name);
  return [
    ...overrideEdits(step.id, point?.overrides?.target, overridesJson, chain),
    { kind: "receipt", stepId: step.id, isNewAttempt: true },
    ...runAgain({ state, step }, kept, again),
  ];
}

/**
 * Returns the changes that make a `map` step process some rows again: failed rows, or rows whose write may or may not have been executed.
 * Each row continues with its first call that did not succeed. For the second kind of rows, the app gets the same idempotency keys as in
 * the first attempt.
 */
function runAgain(
  { state, step }: Pick<StepAt<"map">, "state" | "step">,
  { appGeneration: before, generation, ...kept }: Omit<ProgressOf<"map">, "askId" | "retries" | "ended">,
  again: "failed" | "unknown",
): Edit[] {
  const appGeneration = again === "unknown" ? { appGeneration: before ?? generation ?? state.generation } : {};
  return [
    { kind: "generation", stepId: step.id },
    { kind: "progress", progress: { ...kept, again, next: 0, ...appGeneration } },
  ];
}
