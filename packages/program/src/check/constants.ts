import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { holdsMoreThan, parseExactJson, scalarText } from "@svc/core";
import type { JsonValue } from "../json.ts";
import { parseExpression } from "../read/cel-calls.ts";
import { calledOf, childrenOf, pathOfNode } from "../read/cel-tree.ts";
import { celValues, jsonOfCel } from "../run/cel-values.ts";
import { boundOf } from "../run/cost.ts";
import { evaluationOf } from "../run/evaluation.ts";
import { valueAt } from "../run/resolve.ts";
import { type Expression, objectOf, type Reference, type TextTemplate, type ValueTemplate } from "../template.ts";
import { isFunction } from "../types/cel-kinds.ts";
import type { Constants, Scope } from "../types/scope.ts";
import { type ConstantFault, faultOfZone, takesZone } from "./constant-arguments.ts";

/**
 * Maximum evaluation steps (units of work, see run/cost-of-text.ts) of a constant expression that the check of a program evaluates. So many
 * steps take at most 1 ms.
 */
const stepsMax = 100_000;

/** The value of a constant part of an expression. `error`: the reason why every evaluation of that part fails. */
type ConstantResult = { readonly value: JsonValue } | { readonly error: string };

/**
 * Returns the value of a constant part of an expression, or the reason why its evaluation fails. Returns undefined if the evaluation would
 * take too many steps. Also returns undefined if this check of the program has already used all evaluation steps that it may spend on
 * constants.
 */
function evaluateConstant(node: Expr, constants: Constants): ConstantResult | undefined {
  const { params, budget } = constants;
  if (budget.evaluations <= 0) return undefined;
  budget.evaluations--;
  const bindings = { params };
  const steps = boundOf(node)(bindings, [null]);
  if (steps > Math.min(stepsMax, budget.steps)) return undefined;
  budget.steps -= steps;
  const [outcome] = evaluationOf(node, jsonOfCel)([celValues(bindings)], () => true);
  if (outcome === undefined) return undefined;
  if ("text" in outcome) return { value: parseExactJson(outcome.text) as JsonValue };
  return "isTooExpensive" in outcome ? undefined : outcome;
}

/**
 * Returns the value of a part of an expression that does not depend on data. Returns undefined if the part depends on data or takes too
 * long to compute.
 */
export function constantValue(node: Expr, { constants }: Pick<Scope, "constants">): JsonValue | undefined {
  const constant = node.exprKind.case === "constExpr" ? node.exprKind.value.constantKind : undefined;
  switch (constant?.case) {
    case "stringValue":
    case "boolValue":
    case "doubleValue":
      return constant.value;
    case "int64Value":
    case "uint64Value":
      return Number(constant.value);
    default:
      if (constants === undefined || !isConstant(node, true)) return undefined;
  }
  const found = evaluateConstant(node, constants);
  return found !== undefined && "value" in found ? found.value : undefined;
}

/**
 * True if the value of a part of an expression does not depend on data of the run. `takesParams`: true if the program's params count as
 * constants here.
 */
function isConstant(node: Expr, takesParams: boolean, locals: ReadonlySet<string> = new Set()): boolean {
  const { exprKind } = node;
  switch (exprKind.case) {
    case "constExpr":
      return true;
    case "identExpr":
      return (takesParams && exprKind.value.name === "params") || locals.has(exprKind.value.name);
    case "selectExpr":
    case "listExpr":
    case "structExpr":
      return childrenOf(node).every((child) => isConstant(child, takesParams, locals));
    case "callExpr": {
      const { args } = exprKind.value;
      const { receiver } = calledOf(exprKind.value, isFunction);
      return [receiver, ...args].every((part) => part === undefined || isConstant(part, takesParams, locals));
    }
    case "comprehensionExpr": {
      const { iterVar, accuVar } = exprKind.value;
      const inner = new Set([...locals, iterVar, accuVar]);
      return childrenOf(node).every((child) => isConstant(child, takesParams, inner));
    }
    default:
      return false;
  }
}

/**
 * A template (a value of the program with placeholders) after its constant parts were replaced by their values. `isFilled`: true if the
 * template had constant parts.
 */
export type FilledTemplate = { readonly template: ValueTemplate; readonly isFilled: boolean };

/** Fills in the parts of a template whose values are known before the program runs: constants, and params that no answer can change. */
export function fillConstants(template: ValueTemplate, { constants }: Pick<Scope, "constants">): FilledTemplate {
  let isFilled = false;
  const fill = (part: ValueTemplate): ValueTemplate => {
    if (part.kind === "object") return objectOf(part.entries.map(([name, item]) => [name, fill(item)] as const));
    if (part.kind === "list") return filledList(part.items.map(fill));
    const found = constants === undefined ? part : filledPart(part, constants);
    // A null is not filled in, and only its type is checked, because at run time a null may mean that the argument is left out.
    if (found === part || (found.kind === "literal" && found.value === null)) return part;
    isFilled = true;
    return found;
  };
  return { template: fill(template), isFilled };
}

function filledList(items: readonly ValueTemplate[]): ValueTemplate {
  const values = items.flatMap((item) => (item.kind === "literal" ? [item.value] : []));
  return values.length === items.length ? { kind: "literal", value: values } : { kind: "list", items };
}

function filledPart(part: ValueTemplate, constants: Constants): ValueTemplate {
  switch (part.kind) {
    case "reference": {
      const value = valueOfReference(part.reference, constants);
      if (value !== undefined && value !== null) return { kind: "literal", value };
      // `otherwise` is the replacement for a value that is null. An absent value is reported elsewhere.
      return value === undefined || part.otherwise === undefined ? part : { kind: "literal", ...part.otherwise };
    }
    case "text":
      return filledText(part, constants);
    case "computed": {
      const found = computedConstant(part.expression, constants);
      return found !== undefined && "value" in found ? { kind: "literal", value: found.value } : part;
    }
    default:
      return part;
  }
}

/**
 * Maximum size of a constant with which the check replaces a reference in the program. `values`: number of values inside the constant.
 * `characters`: its length. A reference to a larger constant is replaced only when the program runs, within the limits of the run.
 */
const filledMax = { values: 1_000, characters: 10_000 };

/**
 * Returns the value that a reference in a program points to, and counts the work against the limit of this check of the program. Returns
 * undefined if the value is not known before the job runs, or is too large.
 */
function valueOfReference({ root, path }: Reference, { params, budget }: Constants): JsonValue | undefined {
  const value = root === "params" ? valueAt(params, path) : undefined;
  if (value === undefined || value === null) return value;
  const charge = typeof value === "object" ? filledMax.characters : String(value).length;
  if (charge > budget.characters || holdsMoreThan(value, filledMax)) return undefined;
  budget.characters -= charge;
  return value;
}

/**
 * Returns a text with its constant parts filled in, or a literal if all its parts are constant. Returns the text unchanged if a constant is
 * not a scalar.
 */
function filledText(text: TextTemplate, constants: Constants): ValueTemplate {
  const parts: (string | Reference)[] = [];
  let length = 0;
  for (const part of text.parts) {
    const value = typeof part === "string" ? part : valueOfReference(part, constants);
    if (value === null && text.otherwise !== undefined) return { kind: "literal", ...text.otherwise };
    const written = value === undefined || value === null ? undefined : scalarText(value);
    const last = parts.at(-1);
    length += written?.length ?? 0;
    if (length > filledMax.characters) return text;
    if (written === undefined) parts.push(part);
    else if (typeof last === "string") parts.splice(-1, 1, last + written);
    else parts.push(written);
  }
  const [first = ""] = parts;
  if (parts.length <= 1 && typeof first === "string") return { kind: "literal", value: first };
  return { ...text, parts };
}

const computed = new WeakMap<Expression, { readonly found: ConstantResult | undefined }>();

/** Returns the value of an expression that contains only constants, or undefined for any other expression. */
function computedConstant(expression: Expression, constants: Constants): ConstantResult | undefined {
  const known = computed.get(expression);
  if (known !== undefined) return known.found;
  const parsed = parseExpression(expression.source);
  const isKnown = "tree" in parsed && isConstant(parsed.tree, true);
  const found = isKnown ? evaluateConstant(parsed.tree, constants) : undefined;
  computed.set(expression, { found });
  return found;
}

/**
 * Returns the reason why every evaluation of an expression fails because of a constant in it. Only parts that every evaluation reaches are
 * checked. Returns undefined if there is no such constant.
 */
export function constantFault(node: Expr, { constants }: Pick<Scope, "constants">): ConstantFault | undefined {
  if (constants === undefined || node.exprKind.case === "constExpr") return undefined;
  if (isConstant(node, true)) {
    const found = evaluateConstant(node, constants);
    if (found === undefined || !("error" in found)) return undefined;
    const hint = "it contains only constants: change them, or use the input of the job";
    return { message: `fails whenever it is evaluated: ${found.error}`, hint };
  }
  if (node.exprKind.case === "callExpr") {
    const { args } = node.exprKind.value;
    const { name } = calledOf(node.exprKind.value, isFunction);
    const zone = takesZone(name, args.length) ? textOfParam(args[0], constants) : undefined;
    const fault = zone === undefined ? undefined : faultOfZone(zone);
    if (fault !== undefined) return fault;
  }
  for (const part of certainParts(node)) {
    const fault = constantFault(part, { constants });
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/**
 * Returns the parts of an expression that are always evaluated. Parts that depend on a condition, or on an operand of `&&` or `||`, may be
 * left out in an evaluation and are not returned.
 */
function certainParts(node: Expr): readonly Expr[] {
  const { exprKind } = node;
  if (exprKind.case === "comprehensionExpr")
    return exprKind.value.iterRange === undefined ? [] : [exprKind.value.iterRange];
  if (exprKind.case === "selectExpr" && exprKind.value.testOnly) return [];
  const name = exprKind.case === "callExpr" ? exprKind.value.function : "";
  if (name === "_&&_" || name === "_||_") return [];
  return name === "_?_:_" ? childrenOf(node).slice(0, 1) : childrenOf(node);
}

function textOfParam(node: Expr | undefined, { params }: Constants): string | undefined {
  const path = pathOfNode(node);
  const value = path?.root === "params" && !path.isTest ? valueAt(params, path.path) : undefined;
  return typeof value === "string" ? value : undefined;
}

/**
 * Returns the time between `now` and the value of an expression such as `now + duration("1h")`, in milliseconds. Returns undefined for any
 * other expression.
 */
export function constantSpanMs({ source }: Expression, { constants }: Pick<Scope, "constants">): number | undefined {
  const parsed = parseExpression(source);
  const call = "tree" in parsed && parsed.tree.exprKind.case === "callExpr" ? parsed.tree.exprKind.value : undefined;
  if (constants === undefined || call?.function !== "_+_") return undefined;
  const spans = call.args.filter((part) => !isNow(part));
  const [span] = spans;
  if (spans.length !== 1 || span === undefined || !isConstant(span, true)) return undefined;
  const found = evaluateConstant(span, constants);
  const seconds = found !== undefined && "value" in found ? /^(-?[\d.]+)s$/.exec(String(found.value))?.[1] : undefined;
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

function isNow(node: Expr): boolean {
  return node.exprKind.case === "identExpr" && node.exprKind.value.name === "now";
}
