import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { createFaultList, type FaultList } from "../faults.ts";
import { pathOf } from "../json.ts";
import { breaksText, quotedText, translated } from "../read/cel-advice.ts";
import { celLimits, parseExpression } from "../read/cel-calls.ts";
import { syntaxMistake } from "../read/cel-mistakes.ts";
import { childrenOf } from "../read/cel-tree.ts";
import type { Expression } from "../template.ts";
import type { CelKind } from "../types/cel-signature.ts";
import { timestampType, type ValueType } from "../types/schema-type.ts";
import type { Scope } from "../types/scope.ts";
import { constantFault } from "./constants.ts";
import { type ExpressionWalk, type TypedPart, typeOf } from "./expression-types.ts";

/** Hint for a text in quotes that has a line break in it. */
const lineBreaks = String.raw`write a line break in a text as \n (in JSON: \\n), as in 'one\ntwo'`;

/** Hint for a faulty expression. It is used if no more specific hint fits the fault. */
const celWords =
  'write CEL: && || ! == != < > in, texts in quotes, size(x), x.contains("a"), list.exists(x, x == "a"), condition ? a : b';

/** Checks an expression that is a condition, so its value must be true or false. Records every fault. */
export function checkExpression(expression: Expression, scope: Scope, faults: FaultList): void {
  const typed = typeOfExpression(expression, scope, faults);
  if (typed === undefined || typed.kind === "bool" || typed.kind === "dyn") return;
  const message = `is of type ${typed.kind}, not bool`;
  const hint = "compare it with a value, so that the result is true or false";
  faults.add("PROGRAM_EXPRESSION_INVALID", pathOf(expression.pointer), message, hint);
}

/**
 * Checks the condition of a step. Reports a fault if the condition can never be true. In an error handler, this is the case if the
 * condition requires that the failed step succeeded.
 */
export function checkCondition(expression: Expression, scope: Scope, faults: FaultList): void {
  checkExpression(expression, scope, faults);
  const id = ruledOut(scope, expression);
  if (id === undefined) return;
  const message = `is never true: step ${id} has failed when its onError runs`;
  const hint = "leave it out; to test if a set exists, use has(rows.<set>)";
  faults.addYounger("PROGRAM_EXPRESSION_INVALID", pathOf(expression.pointer), message, hint);
}

/** Checks an expression that computes a value, such as a sum of fields, and returns the type of the value. Records every fault. */
export function checkComputed(expression: Expression, scope: Scope, faults: FaultList): ValueType {
  const typed = typeOfExpression(expression, scope, faults);
  return typed && (typed.type ?? jsonType[typed.kind]);
}

/** Returns the type of a computed value. Records no faults, because the check of the template that contains the expression records them. */
export function computedType(expression: Expression, scope: Scope): ValueType {
  // The faults of this expression are recorded elsewhere, so they are dropped here. Without constants in the scope, nothing is evaluated a
  // second time.
  return checkComputed(expression, { ...scope, constants: undefined }, createFaultList(undefined));
}

/** The JSON type for each kind of value in expressions. Undefined if the kind has no known JSON type. */
const jsonType: Readonly<Record<CelKind, ValueType>> = {
  dyn: undefined,
  null: { type: "null" },
  bool: { type: "boolean" },
  int: { type: "integer" },
  uint: { type: "integer", minimum: 0 },
  double: { type: "number" },
  string: { type: "string" },
  bytes: { type: "string" },
  list: { type: "array" },
  map: { type: "object" },
  timestamp: timestampType,
  duration: { type: "string" },
};

/** Returns the type of an expression. Returns undefined if the expression cannot be checked, for example because of its syntax. */
function typeOfExpression(expression: Expression, scope: Scope, faults: FaultList): TypedPart | undefined {
  const path = pathOf(expression.pointer);
  const sets = [...scope.ended].flatMap(([id, { set }]) => (set === undefined ? [] : [id]));
  const meant = lazily(() => {
    const written = translated(expression.source, sets) ?? expression.source;
    const named = withRow(written, scope);
    return named === expression.source || "fault" in parseExpression(named) ? undefined : named;
  });
  const hintOf = (message: string, hint: string) => {
    if (meant() === undefined) return hint;
    return /not a function here|not exist here/.test(message)
      ? `write ${meant()}`
      : `${hint}; the whole expression in CEL is ${meant()}`;
  };
  const fault = (message: string, hint: string) =>
    faults.add("PROGRAM_EXPRESSION_INVALID", path, message, hintOf(message, hint));
  const parsed = parseExpression(expression.source);
  if ("fault" in parsed) {
    const source = meant();
    const hint = breaksText(expression.source) ? lineBreaks : source === undefined ? celWords : `write ${source}`;
    faults.add("PROGRAM_EXPRESSION_INVALID", path, syntaxMistake(expression.source, parsed.fault), hint);
    return undefined;
  }
  const { tree } = parsed;
  if (!checkSize(tree, fault)) return undefined;
  let isFaulty = false;
  const noted = (add: (message: string, hint: string) => void) => (message: string, hint: string) => {
    isFaulty = true;
    add(message, hint);
  };
  const youngerFault = noted((message, hint) =>
    faults.addYounger("PROGRAM_EXPRESSION_INVALID", path, message, hintOf(message, hint)),
  );
  const typed = typeOf(tree, {
    scope,
    locals: new Map(),
    guarded: guardsOf(tree),
    fault: noted(fault),
    youngerFault,
    note: (message, hint) => faults.note("VALUE_UNLISTED", path, message, hint),
    noName: noted((message, hint) => faults.add("PROGRAM_REFERENCE_INVALID", path, message, hintOf(message, hint))),
  });
  const failing = isFaulty ? undefined : constantFault(tree, scope);
  if (failing !== undefined) youngerFault(failing.message, failing.hint);
  return typed;
}

/** Returns the expression with `row.` added before each unknown name that is a field of the row. Used in hints. */
function withRow(source: string, { row }: Scope): string {
  if (row === undefined || row === "any" || source.length > celLimits.characters) return source;
  const fields = row.fields;
  return source.replaceAll(
    new RegExp(String.raw`${quotedText}|(?<![\w.])\.?([A-Za-z_]\w*)(?!\w|\s*\()`, "g"),
    (found, name) => {
      return typeof name === "string" && fields.has(name) && !givenNames.has(name) ? `row.${name}` : found;
    },
  );
}

const givenNames: ReadonlySet<string> = new Set(["row", "params", "input", "rows", "steps", "calls", "output", "now"]);

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function checkSize(tree: Expr, fault: ExpressionWalk["fault"]): boolean {
  const { nodes, depth, comprehensions } = measure(tree);
  if (nodes > celLimits.nodes) fault(`has ${nodes} nodes; at most ${celLimits.nodes} are allowed`, "shorten it");
  if (depth > celLimits.depth) fault(`is ${depth} levels deep; at most ${celLimits.depth} are allowed`, "flatten it");
  if (comprehensions > 1) {
    fault(
      `iterates over ${comprehensions} lists; at most one is allowed`,
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
  const root = identOf(operand);
  if (root === "steps" || root === "calls" || root === "rows") guards.add(`${root}.${field}`);
  const within = operand?.exprKind.case === "selectExpr" ? operand.exprKind.value : undefined;
  if (within !== undefined && identOf(within.operand) === "steps") guards.add(`steps.${within.field}.`);
  return guards;
}

function identOf(node: Expr | undefined): string | undefined {
  return node?.exprKind.case === "identExpr" ? node.exprKind.value.name.replace(/^\./, "") : undefined;
}

/**
 * Finds a condition that can never be true: it is in the error handler of a failed step, but requires that this step has no error. Returns
 * the id of that step, or undefined if the condition is not of this kind.
 */
function ruledOut({ failed }: Scope, { source }: Pick<Expression, "source">): string | undefined {
  if (failed === undefined || /\|\||\?/.test(source)) return undefined;
  const names = source.split("&&").map((part) => /^[\s(]*!\s*has\(\s*steps\.(\w+)\.error[\s)]*$/.exec(part)?.[1]);
  return names.find((name) => name !== undefined && failed.has(name));
}
