import { type CelInput, celEnv, isCelError, parse, plan } from "@bufbuild/cel";
import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";

/** Most characters of an expression, nodes and levels of its syntax tree (macros expanded), items walked through; bounds of patterns. */
export const celLimits = {
  characters: 1024,
  nodes: 200,
  depth: 24,
  listItems: 1000,
  patternCharacters: 200,
  patternRepeats: 20,
};

const env = celEnv();

/** Parses an expression; `fault` says why it cannot be. Never throws: what nests too deep for the parser is a fault too. */
export function parseExpression(source: string): { readonly tree: Expr } | { readonly fault: string } {
  if (source.length > celLimits.characters) {
    return { fault: `has ${source.length} characters; at most ${celLimits.characters} are allowed` };
  }
  try {
    return { tree: parse(source).expr };
  } catch (error) {
    if (error instanceof RangeError)
      return { fault: `is nested too deep; at most ${celLimits.depth} levels are allowed` };
    return { fault: error instanceof Error ? error.message.replace("<input>:", "") : "does not parse" };
  }
}

/**
 * Why a pattern cannot stand in matches(); undefined when it can. It is compiled at each evaluation, in time that grows with what
 * its counted repetitions unfold to: a class repeated 900 times took 30 ms, 20 times under 1.
 */
export function faultOfPattern(pattern: string): string | undefined {
  const { patternCharacters, patternRepeats } = celLimits;
  if (pattern.length > patternCharacters) return `has a pattern of more than ${patternCharacters} characters`;
  const counts = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].flatMap(([, least, most]) => [
    Number(least),
    Number(most ?? 0),
  ]);
  if (counts.some((count) => count > patternRepeats))
    return `repeats a part of its pattern more than ${patternRepeats} times`;
  const tried = plan(env, parse("text.matches(pattern)"))({ text: "", pattern } as Record<string, CelInput>);
  return isCelError(tried) ? "has a pattern that is not an RE2 expression" : undefined;
}

/** The nodes directly below a node. */
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

/** What the comprehensions of a tree walk through. */
export function rangesOf(tree: Expr): Expr[] {
  const own = tree.exprKind.case === "comprehensionExpr" ? tree.exprKind.value.iterRange : undefined;
  return [...(own === undefined ? [] : [own]), ...childrenOf(tree).flatMap(rangesOf)];
}

type CallNode = Extract<Expr["exprKind"], { case: "callExpr" }>["value"];

/** What a call calls, with its namespace where `isFunction` knows the whole, and on what: undefined where on nothing. */
export function calledOf(
  { function: name, target }: CallNode,
  isFunction: (name: string) => boolean,
): { readonly name: string; readonly receiver: Expr | undefined } {
  if (target?.exprKind.case !== "identExpr") return { name, receiver: target };
  const whole = `${target.exprKind.value.name}.${name}`;
  return isFunction(whole) ? { name: whole, receiver: undefined } : { name, receiver: target };
}

/** A chain of names: `row.items[0].id`. `isTest`: it stands in has(). */
export type NodePath = { readonly root: string; readonly path: (string | number)[]; readonly isTest: boolean };

/** The path that a chain of selections and constant indexes makes; undefined when it is none. */
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
