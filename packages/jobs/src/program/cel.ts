import { type CelInput, celEnv, isCelError, parse, plan } from "@bufbuild/cel";
import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import type { Expression, JsonObject } from "./program.ts";

/** What an expression may name; absent where a name has no value at its place. */
export type CelBindings = {
  readonly row?: JsonObject;
  readonly params?: JsonObject;
  readonly input?: JsonObject;
  /** Sizes of sets by name. */
  readonly rows?: JsonObject;
  /** Values of steps by id; only scalars are ever taken. */
  readonly steps?: JsonObject;
};

/** The outcome of one evaluation: the answer, or why there is none, as a sentence without values. */
export type CelOutcome = { readonly value: boolean } | { readonly error: string };

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

const compiled = new WeakMap<Expression, (bindings: CelBindings) => CelOutcome>();

/**
 * An expression of a checked program, ready to run; compiled once for each Expression object. An evaluation takes bounded time:
 * a list that is walked through has at most 1,000 items, else the outcome is an error.
 */
export function compileExpression(expression: Expression): (bindings: CelBindings) => CelOutcome {
  const known = compiled.get(expression);
  if (known !== undefined) return known;
  const made = compile(expression.source);
  compiled.set(expression, made);
  return made;
}

function compile(source: string): (bindings: CelBindings) => CelOutcome {
  const parsed = parseExpression(source);
  if ("fault" in parsed) return () => ({ error: parsed.fault });
  const evaluate = plan(env, parsed.tree);
  const ranges = rangesOf(parsed.tree).map((range) => plan(env, range));
  return (bindings) => {
    const values = bindings as Readonly<Record<string, CelInput>>;
    for (const range of ranges) {
      const list = range(values);
      if (!isCelError(list) && sizeOf(list) > celLimits.listItems) {
        return { error: `walks through a list of more than ${celLimits.listItems} items` };
      }
    }
    const value = evaluate(values);
    if (isCelError(value)) return { error: describeCelError(value.message) };
    if (typeof value !== "boolean") return { error: "is not true or false" };
    return { value };
  };
}

/** The evaluator's messages quote values, which may be row data: what is told is the kind of the fault. */
function describeCelError(message: string): string {
  const [, told] = celErrors.find(([pattern]) => pattern.test(message)) ?? [];
  return told ?? "cannot be evaluated";
}

const celErrors: readonly (readonly [RegExp, string])[] = [
  [
    /field not found|no such (?:key|field)|undeclared|unknown (?:name|identifier|variable)|not found/i,
    "reads a field that is absent",
  ],
  [/overload/i, "applies an operation to values of types that it does not take"],
  [/convert|parse|invalid|timestamp|duration/i, "converts a value that has not the form for it"],
  [/divi|modul/i, "divides by zero"],
  [/overflow|range|out of bounds|index/i, "leaves the range of a number or of a list"],
];

function sizeOf(value: unknown): number {
  const size: unknown = typeof value === "object" && value !== null && "size" in value ? value.size : 0;
  return typeof size === "number" ? size : 0;
}

/** What the comprehensions of a tree walk through. */
function rangesOf(tree: Expr): Expr[] {
  const own = tree.exprKind.case === "comprehensionExpr" ? tree.exprKind.value.iterRange : undefined;
  return [...(own === undefined ? [] : [own]), ...childrenOf(tree).flatMap(rangesOf)];
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
