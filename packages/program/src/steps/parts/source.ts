import type { JsonSchema } from "@svc/catalog";
import type { Check } from "../../check/context.ts";
import { pathOf } from "../../json.ts";
import { nameSchema } from "../../read/name.ts";
import { findSet, type RowSet, type Scope } from "../../types/scope.ts";

/** The JSON Schema of the name of a set. */
export function sourceSchema(example: string, description = "The set."): JsonSchema {
  return nameSchema(description, example);
}

/** The step whose rows are asked for, the field that names their set, and whether it may be that of a map. */
type Taking = {
  readonly step: { readonly source: string; readonly pointer: string };
  readonly field: string;
  readonly takesMaps: boolean;
};

/** Finds the set that a step takes its rows from. Records every fault. */
export function checkSource({ step, field, takesMaps }: Taking, scope: Scope, { faults }: Check): RowSet | "any" {
  const found = findSet(scope, step.source, takesMaps);
  const path = [...pathOf(step.pointer), field];
  if ("fault" in found) {
    faults.add("PROGRAM_REFERENCE_INVALID", path, found.fault, found.hint);
    return "any";
  }
  if (found.set !== "any" && found.set.hasStates && !takesMaps) {
    const message = `${step.source} is a map, whose rows only a reduce takes`;
    const hint = "take the set that the map took, or put the calls into one map";
    faults.add("PROGRAM_REFERENCE_INVALID", path, message, hint);
  }
  return found.set;
}
