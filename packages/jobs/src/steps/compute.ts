import type { CelComputed, JsonObject } from "@svc/program";
import type { Change, Edit } from "../state/change.ts";
import type { ReadRow, SetChunk, StepEffects } from "./effects.ts";
import { expressionFailed } from "./expression-fault.ts";
import { passingBytesMax, SetMemory } from "./set-memory.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

/** The rows of a set with fields that expressions compute of each: a chunk an act, or less of it where the rows take long. */
export const computeKind: StepKind<"compute"> = {
  needs: "rows",
  set: "ok",
  advance: (at, effects) => advanceCompute(at, effects),
  retried: "anew",
  answer: undefined,
};

/** `given`: the chunk, where there was to be room for it first. */
async function advanceCompute(at: StepAt<"compute">, effects: StepEffects, given?: SetChunk): Promise<Change> {
  const { state, step, instruction, progress } = at;
  const begun: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  const { source: setId, states } = step;
  const chunk = given ?? (await effects.readChunk(state, { setId, states, fromOrdinal: progress?.next ?? 0 }));
  const { rows, next, bytes } = chunk;
  if (given === undefined && bytes > passingBytesMax) {
    const act = () => advanceCompute(at, effects, chunk);
    return SetMemory.whilePassing(at, effects, { bytes, begun, act });
  }
  const computed = await computeFields(at, rows, effects);
  if ("error" in computed) {
    const where = `, at the row of ordinal ${rows[computed.index]?.ordinal ?? 0}`;
    return { edits: begun, next: expressionFailed(step.id, computed, { what: computed.name, where }) };
  }
  const made: Edit = { kind: "made", setId: step.id, rows: computed.rows, looked: computed.rows.length };
  // Of a chunk that takes long the rest is read again.
  const from = computed.rows.length === rows.length ? next : rows[computed.rows.length]?.ordinal;
  if (from === undefined) {
    const finish: Edit = { kind: "finish", stepId: step.id, state: "completed", to: instruction.next };
    return { edits: [...begun, made, finish], next: { kind: "on" } };
  }
  return {
    edits: [
      ...begun,
      made,
      { kind: "progress", progress: { kind: "compute", stepId: step.id, next: from } },
      { kind: "logProgress", stepId: step.id },
    ],
    next: { kind: "commit" },
  };
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
