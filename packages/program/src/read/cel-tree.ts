import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";

/** Returns the nodes directly below a node in the syntax tree of an expression. */
export function childrenOf({ exprKind }: Expr): Expr[] {
  const nodes = (...candidates: (Expr | undefined)[]) => candidates.filter((node) => node !== undefined);
  switch (exprKind.case) {
    case "selectExpr":
      return nodes(exprKind.value.operand);
    case "callExpr":
      return nodes(exprKind.value.target, ...exprKind.value.args);
    case "listExpr":
      return exprKind.value.elements;
    case "structExpr":
      return exprKind.value.entries.flatMap(({ keyKind, value }) => {
        return nodes(keyKind.case === "mapKey" ? keyKind.value : undefined, value);
      });
    case "comprehensionExpr": {
      const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
      return nodes(iterRange, accuInit, loopCondition, loopStep, result);
    }
    default:
      return [];
  }
}

type CallNode = Extract<Expr["exprKind"], { case: "callExpr" }>["value"];

/**
 * Returns the name of the function that a node of an expression calls, and the value on which it is called, if any. For a function with a
 * namespace, such as `math.abs`, the name includes the namespace. `isFunction`: true if a function with this name exists.
 */
export function calledOf(
  { function: name, target }: CallNode,
  isFunction: (name: string) => boolean,
): { readonly name: string; readonly receiver: Expr | undefined } {
  if (target?.exprKind.case !== "identExpr") return { name, receiver: target };
  const whole = `${target.exprKind.value.name}.${name}`;
  return isFunction(whole) ? { name: whole, receiver: undefined } : { name, receiver: target };
}

/** A chain of names, such as `row.items[0].id`. `isTest`: true if the chain is the argument of has(), which tests if a value exists. */
export type NodePath = { readonly root: string; readonly path: (string | number)[]; readonly isTest: boolean };

/** Returns the path of a chain of names and constant indexes, or undefined for any other node. */
export function pathOfNode(node: Expr | undefined): NodePath | undefined {
  const { exprKind } = node ?? { exprKind: { case: undefined } };
  if (exprKind.case === "identExpr") return { root: exprKind.value.name.replace(/^\./, ""), path: [], isTest: false };
  if (exprKind.case === "selectExpr") {
    const { operand, field, testOnly } = exprKind.value;
    const before = pathOfNode(operand);
    return before && { ...before, path: [...before.path, field], isTest: testOnly };
  }
  if (exprKind.case !== "callExpr" || exprKind.value.function !== "_[_]") return undefined;
  const [operand, index] = exprKind.value.args;
  const before = pathOfNode(operand);
  const constant = index?.exprKind.case === "constExpr" ? index.exprKind.value.constantKind : undefined;
  if (constant?.case === "stringValue") return before && { ...before, path: [...before.path, constant.value] };
  if (constant?.case === "int64Value") return before && { ...before, path: [...before.path, Number(constant.value)] };
  return undefined;
}
