import type { CelComputed, JsonObject } from "@svc/program";
import type { Change, Edit, Next } from "../state/change.ts";
import { noRows } from "../state/counts.ts";
import type { ProgressOf, Total } from "../state/progress.ts";
import type { ReadRow, SetChunk, StepEffects } from "./effects.ts";
import { expressionFailed } from "./fail.ts";
import { passingBytesMax, SetMemory } from "./set-memory.ts";
import type { StepAt, StepKind } from "./step-kind.ts";
import { addRows, type RunningTotal, runningTotal, valuesOf } from "./totals.ts";

/** The rows of a set with fields that expressions compute of each. */
export const computeKind: StepKind<"compute"> = {
  needs: "rows",
  set: "ok",
  advance: byChunk({ make: makeRows }),
  retried: "anew",
  answer: undefined,
};

async function makeRows(at: StepAt<"compute">, { rows }: SetChunk, effects: StepEffects): Promise<MadeOfChunk> {
  const { id } = at.step;
  const computed = await computeFields(at, rows, effects);
  if ("error" in computed) {
    const where = `, at the row of ordinal ${rows[computed.index]?.ordinal ?? 0}`;
    return { failed: expressionFailed(id, computed, { what: computed.name, where }) };
  }
  const looked = computed.rows.length;
  return { edits: [{ kind: "made", setId: id, rows: computed.rows, looked }], looked };
}

type Computed =
  | { readonly rows: readonly JsonObject[] }
  | (Extract<CelComputed, { error: string }> & { readonly name: string; readonly index: number });

/** As many rows as each of the expressions came to. */
async function computeFields(
  { state, step }: StepAt<"compute">,
  rows: readonly ReadRow[],
  effects: StepEffects,
): Promise<Computed> {
  let left = rows;
  const fields: (readonly [string, readonly CelComputed[]])[] = [];
  for (const [name, expression] of step.fields) {
    const values = await effects.computeRows(state, expression, left, () => effects.mustPause(state));
    const index = values.findIndex((value) => "error" in value);
    const failed = values[index];
    if (failed !== undefined && "error" in failed) return { ...failed, name, index };
    left = left.slice(0, values.length);
    fields.push([name, values]);
  }
  const whole = left.map(({ data }, index) => {
    const own = fields.map(([name, values]) => [name, computedValue(values[index])] as const);
    return { ...data, ...Object.fromEntries(own) };
  });
  return { rows: whole };
}

function computedValue(computed: CelComputed | undefined) {
  return computed !== undefined && "value" in computed ? computed.value : null;
}

/** The rows of a set for which an expression holds, as a new set. */
export const filterKind: StepKind<"filter"> = {
  needs: "rows",
  set: "ok",
  advance: byChunk({ make: chooseRows }),
  retried: "anew",
  answer: undefined,
};

async function chooseRows(
  { state, step }: StepAt<"filter">,
  { rows }: SetChunk,
  effects: StepEffects,
): Promise<MadeOfChunk> {
  const outcomes = await effects.testRows(state, step.where, rows, () => effects.mustPause(state));
  const rowNumbers: number[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    const { ordinal = 0, rowNumber = 0 } = rows[index] ?? {};
    if ("error" in outcome) {
      const where = `, at the row of ordinal ${ordinal}`;
      return { failed: expressionFailed(step.id, outcome, { what: "where", where }) };
    }
    if (outcome.value) rowNumbers.push(rowNumber);
  }
  const looked = outcomes.length;
  return { edits: [{ kind: "chosen", setId: step.id, rowNumbers, looked }], looked };
}

/** Values over a set. */
export const reduceKind: StepKind<"reduce"> = {
  needs: "rows",
  set: undefined,
  advance: byChunk({ make: addChunk }),
  retried: "anew",
  answer: undefined,
};

async function addChunk(
  { state, step, progress }: StepAt<"reduce">,
  { rows, next }: SetChunk,
  effects: StepEffects,
): Promise<MadeOfChunk> {
  const totals = step.as.map(([name]) => runningTotal(progress?.totals?.[name]));
  const fault = await effects.inTurns(addRows(totals, step.as, rows, state.scope));
  if (fault !== undefined) return { failed: { kind: "fail", stepId: step.id, ...fault } };
  const counts = state.steps.get(step.id)?.receipt.rows ?? noRows;
  const looked = rows.length;
  const counted: Edit = {
    kind: "receipt",
    stepId: step.id,
    rows: { ...counts, in: counts.in + looked, ok: counts.ok + looked },
  };
  if (next === undefined) {
    return { edits: [counted, { kind: "value", stepId: step.id, value: valuesOf(totals, step.as) }], looked };
  }
  const kept = step.as.map(([name], index) => [name, storedTotal(totals[index] ?? runningTotal())] as const);
  return { edits: [counted], looked, kept: { totals: Object.fromEntries(kept) } };
}

type ChunkedKind = "filter" | "compute" | "reduce";

/** What a step makes of a chunk of its rows, or why it fails at one of them. */
type MadeOfChunk =
  | { readonly failed: Next }
  | {
      readonly edits: readonly Edit[];
      /** How many of the rows it came to: of a chunk that takes long the rest is read again. */
      readonly looked: number;
      /** What is to be known of the step, beside the place, where it goes on. */
      readonly kept?: Omit<ProgressOf<"reduce">, "kind" | "stepId" | "next">;
    };

/** How a kind takes the rows of its set: a chunk an act. */
type Chunked<Kind extends ChunkedKind> = {
  make(at: StepAt<Kind>, chunk: SetChunk, effects: StepEffects): Promise<MadeOfChunk>;
};

/** The acts of a kind that goes through a set: a chunk an act, or less of it where the rows take long. */
function byChunk<Kind extends ChunkedKind>(chunked: Chunked<Kind>): StepKind<Kind>["advance"] {
  return (at, effects) => advanceByChunk(at, effects, chunked);
}

/** `given`: the chunk, where there was to be room for it first. */
async function advanceByChunk<Kind extends ChunkedKind>(
  at: StepAt<Kind>,
  effects: StepEffects,
  chunked: Chunked<Kind>,
  given?: SetChunk,
): Promise<Change> {
  const { state, step, instruction, progress } = at;
  const begun: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  const { source: setId, states } = step;
  const done: ProgressOf<ChunkedKind> | undefined = progress;
  const range = { setId, states, fromOrdinal: done?.next ?? 0, withData: needsFields(step) };
  const chunk = given ?? (await effects.readChunk(state, range));
  const { rows, next, bytes } = chunk;
  if (given === undefined && bytes > passingBytesMax) {
    const act = () => advanceByChunk(at, effects, chunked, chunk);
    return SetMemory.whilePassing(at, effects, { bytes, begun, act });
  }
  const made = await chunked.make(at, chunk, effects);
  if ("failed" in made) return { edits: begun, next: made.failed };
  const from = made.looked === rows.length ? next : rows[made.looked]?.ordinal;
  if (from === undefined) {
    const finish: Edit = { kind: "finish", stepId: step.id, state: "completed", to: instruction.next };
    return { edits: [...begun, ...made.edits, finish], next: { kind: "on" } };
  }
  return {
    edits: [
      ...begun,
      ...made.edits,
      { kind: "progress", progress: { kind: step.kind, stepId: step.id, next: from, ...made.kept } },
      { kind: "logProgress", stepId: step.id },
    ],
    next: { kind: "commit" },
  };
}

/** Of rows that are only counted the fields stay sealed. */
function needsFields(step: StepAt<ChunkedKind>["step"]): boolean {
  return step.kind !== "reduce" || step.as.some(([, { kind }]) => kind !== "count");
}

/** A value as it is kept between two acts. */
function storedTotal({ count, sum, best, text, list, bytes }: RunningTotal): Total {
  return {
    count,
    sum,
    best,
    ...(text !== "" && { text }),
    ...(list.length > 0 && { list }),
    ...(bytes > 0 && { bytes }),
  };
}
