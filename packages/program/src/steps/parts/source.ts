import type { JsonSchema } from "@svc/catalog";
import type { Check } from "../../check/context.ts";
import { pathOf } from "../../json.ts";
import { nameSchema, readName } from "../../read/name.ts";
import type { ShapeFields, ShapeReader } from "../../read/shape.ts";
import { findSet, type RowSet, type RowState, rowStates, type Scope } from "../../types/scope.ts";

/**
 * The rows that a step reads. `source`: name of a set (rows that an earlier step made). `states`: if a `map` step made the set, only rows
 * that ended in one of these states are read.
 */
export type RowSource = { readonly source: string; readonly states: readonly RowState[] | undefined };

/** Returns the JSON Schema of a field in which a step names its set (the rows of an earlier step). */
export function sourceSchema(example: string, description = "The set."): JsonSchema {
  return nameSchema(description, example);
}

const stateCount = { min: 1, max: rowStates.length };

/** The optional fields of a step that reads a list of rows. `states` selects rows by the state in which they ended. */
export const sourceOptions = {
  states: {
    description:
      "Of a map's rows, only those that ended in these states. Default: all, also failed ones. In a failed row, a field kept from a call that did not end well is null: its value is not known.",
    type: "array",
    minItems: stateCount.min,
    maxItems: stateCount.max,
    items: { description: "A state.", enum: rowStates, examples: ["ok"] },
    examples: [["ok"]],
  },
};

/** Reads a step's field `field`, which names a set (the rows of an earlier step), and the states of the rows that the step reads. */
export function readSource(fields: ShapeFields, field: string, reader: ShapeReader): RowSource | undefined {
  const source = readName(fields.at(field), reader);
  const states = fields.has("states")
    ? reader.items(fields.at("states"), stateCount)?.flatMap((item) => reader.oneOf(item, rowStates) ?? [])
    : undefined;
  return source === undefined ? undefined : { source, states };
}

/** A step that reads rows of an earlier step. `field`: the field of the step that names the earlier step. */
type RowTaker = { readonly step: RowSource & { readonly pointer: string }; readonly field: string };

/** Checks the set (rows of an earlier step) that a step reads. Returns the names and types of the rows' fields. Records every error. */
export function checkSource({ step, field }: RowTaker, scope: Scope, check: Check): RowSet | "any" {
  const set = checkSet({ name: step.source, pointer: step.pointer, field }, scope, check);
  if (set !== "any" && !set.hasStates && step.states !== undefined) {
    const path = [...pathOf(step.pointer), "states"];
    const hint = "leave states out, or name a map";
    check.faults.add(
      "PROGRAM_REFERENCE_INVALID",
      path,
      `${step.source} is not a map, and its rows have no state`,
      hint,
    );
  }
  return set;
}

/** Checks that the set (list of rows) which a step names in a field exists, and returns it. Records every fault. */
export function checkSet(
  { name, pointer, field }: { readonly name: string; readonly pointer: string; readonly field: string },
  scope: Scope,
  { faults }: Pick<Check, "faults">,
): RowSet | "any" {
  const found = findSet(scope, name);
  if ("set" in found) {
    scope.onRead?.("set", [name]);
    const { lostWith } = found;
    if (lostWith !== undefined) {
      const message = `set ${name} does not exist if step ${lostWith} failed and its onError continues`;
      // `lostWith` is the step whose failure can prevent the set from existing. In the error handler of that step, it has always failed, so
      // the suggested condition checks if the set was made before the failure. Elsewhere, the condition checks if the step failed.
      const when = scope.failed?.has(lostWith) ? `has(rows.${name})` : `!has(steps.${lostWith}.error)`;
      const hint = `add a condition: "when": "${when}", at this step or at a block around it`;
      faults.add("PROGRAM_REFERENCE_INVALID", [...pathOf(pointer), field], message, hint);
    }
    return found.set;
  }
  faults.add("PROGRAM_REFERENCE_INVALID", [...pathOf(pointer), field], found.fault, found.hint);
  return "any";
}
