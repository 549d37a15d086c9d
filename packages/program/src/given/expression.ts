import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { checkExpression } from "../check/expression.ts";
import type { FaultList } from "../faults.ts";
import { pathOf } from "../json.ts";
import { parseExpression } from "../read/cel-syntax.ts";
import { childrenOf, type NodePath, pathOfNode } from "../read/cel-tree.ts";
import type { Expression } from "../template.ts";
import type { ValueType } from "../types/schema-type.ts";
import { firstScope } from "../types/scope.ts";
import { mayLack } from "./absent.ts";

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
  const parsed = parseExpression(expression.source);
  if ("fault" in parsed) return;
  const paths = pathsOf(parsed.tree);
  const asked = new Set(paths.filter(({ isTest }) => isTest).map(textOf));
  for (const named of paths) {
    const { root, path, isTest } = named;
    // What is asked for and what holds it are there where the question is answered with yes.
    // Which fields the rows of a list always have its tool seldom says.
    const lacked =
      isTest || root === "row"
        ? -1
        : path.findIndex((_step, index) => mayLack(given.get(root), path.slice(0, index + 1)));
    const text = textOf({ ...named, path: path.slice(0, lacked + 1) });
    if (lacked < 0 || [...asked].some((one) => one === text || one.startsWith(`${text}.`))) continue;
    const message = `${text} may be absent, and no run would start where it is`;
    const hint = `ask has(${text}) first: has(${text}) && …`;
    faults.addYounger("PROGRAM_EXPRESSION_INVALID", pathOf(expression.pointer), message, hint);
  }
}

function pathsOf(node: Expr): readonly NodePath[] {
  const path = pathOfNode(node);
  return path === undefined ? childrenOf(node).flatMap(pathsOf) : [path];
}

function textOf({ root, path }: NodePath): string {
  return [root, ...path].join(".");
}
