import { checkExpression } from "../check/expression.ts";
import type { FaultList } from "../faults.ts";
import type { Expression } from "../template.ts";
import type { ValueType } from "../types/schema-type.ts";
import { firstScope } from "../types/scope.ts";

/** What is known of each thing that is given, by name. */
export type GivenTypes = ReadonlyMap<string, ValueType>;

/**
 * Checks a condition over what is given from outside a program, under the rules of a program's own expressions. Records every fault. It is
 * evaluated with bindings of the same names.
 */
export function checkGivenExpression(expression: Expression, given: GivenTypes, faults: FaultList): void {
  const scope = firstScope(
    { inputSchema: {}, input: {}, params: {} },
    { ids: new Set(), hints: { values: "", sets: "", rows: "", expressionRows: "" } },
  );
  checkExpression(expression, { ...scope, given }, faults);
}
