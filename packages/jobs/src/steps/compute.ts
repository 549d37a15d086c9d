import type { CelComputed, JsonObject } from "@svc/program";
import { byChunk, type MadeOfChunk } from "./by-chunk.ts";
import type { ReadRow, SetChunk, StepEffects } from "./effects.ts";
import { expressionFailed } from "./expression-fault.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

/** Runs steps of kind `compute`: adds computed fields to the rows of a set (list of rows that an earlier step made). */
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
    const where = `, at the row with position ${rows[computed.index]?.ordinal ?? 0}`;
    return { failed: expressionFailed(id, computed, { what: computed.name, where }) };
  }
  const looked = computed.rows.length;
  return { edits: [{ kind: "made", setId: id, rows: computed.rows, looked }], looked };
}

type Computed =
  | { readonly rows: readonly JsonObject[] }
  | (Extract<CelComputed, { error: string }> & { readonly name: string; readonly index: number });

/**
 * Returns the rows with their computed fields. If the job must pause before all rows are done, returns only the rows at the beginning for
 * which every expression was evaluated.
 */
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
