import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import type { FaultList } from "../faults.ts";
import { pathOf } from "../json.ts";
import { celLimits, childrenOf, parseExpression } from "../read/cel-syntax.ts";
import type { Expression } from "../template.ts";
import type { Scope } from "../types/scope.ts";
import { type ExpressionWalk, typeOf } from "./expression-types.ts";

/** Checks one expression where it stands: syntax, limits, names, functions, types as far as they are known. Records every fault. */
export function checkExpression(expression: Expression, scope: Scope, faults: FaultList): void {
  const path = pathOf(expression.pointer);
  const fault = (message: string, hint: string) => faults.add("PROGRAM_EXPRESSION_INVALID", path, message, hint);
  const parsed = parseExpression(expression.source);
  if ("fault" in parsed) {
    fault(parsed.fault, "write a CEL expression within the limits, such as size(row.items) > 1.0");
    return;
  }
  const { tree } = parsed;
  if (!checkSize(tree, fault)) return;
  const walk: ExpressionWalk = {
    scope,
    locals: new Map(),
    guarded: guardsOf(tree),
    fault,
    noName: (message, hint) => faults.add("PROGRAM_REFERENCE_INVALID", path, message, hint),
  };
  const { kind } = typeOf(tree, walk);
  if (kind !== "bool" && kind !== "dyn")
    fault(`is of type ${kind}, not bool`, "compare it, so that it is true or false");
}

function checkSize(tree: Expr, fault: ExpressionWalk["fault"]): boolean {
  const { nodes, depth, comprehensions } = measure(tree);
  if (nodes > celLimits.nodes) fault(`has ${nodes} nodes; at most ${celLimits.nodes} are allowed`, "shorten it");
  if (depth > celLimits.depth) fault(`is ${depth} levels deep; at most ${celLimits.depth} are allowed`, "flatten it");
  if (comprehensions > 1) {
    fault(
      `walks through ${comprehensions} lists; at most one is allowed`,
      "use one of all, exists, exists_one, map and filter",
    );
  }
  return nodes <= celLimits.nodes && depth <= celLimits.depth;
}

function measure(tree: Expr): { nodes: number; depth: number; comprehensions: number } {
  const measured = { nodes: 1, depth: 1, comprehensions: tree.exprKind.case === "comprehensionExpr" ? 1 : 0 };
  for (const child of childrenOf(tree)) {
    const { nodes, depth, comprehensions } = measure(child);
    measured.nodes += nodes;
    measured.depth = Math.max(measured.depth, depth + 1);
    measured.comprehensions += comprehensions;
  }
  return measured;
}

function guardsOf(tree: Expr): Set<string> {
  const guards = new Set(childrenOf(tree).flatMap((child) => [...guardsOf(child)]));
  const { exprKind } = tree;
  if (exprKind.case !== "selectExpr" || !exprKind.value.testOnly) return guards;
  const { operand, field } = exprKind.value;
  if (isIdent(operand, "steps")) guards.add(field);
  const within = operand?.exprKind.case === "selectExpr" ? operand.exprKind.value : undefined;
  if (within !== undefined && isIdent(within.operand, "steps")) guards.add(`${within.field}.`);
  return guards;
}

function isIdent(node: Expr | undefined, name: string): boolean {
  return node?.exprKind.case === "identExpr" && node.exprKind.value.name.replace(/^\./, "") === name;
}
