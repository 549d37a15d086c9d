import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { formatValue } from "@svc/core";
import { calledOf, childrenOf, type NodePath, pathOfNode } from "../read/cel-tree.ts";
import { hintOfSetField } from "../read/value-advice.ts";
import type { ReferenceRoot } from "../template.ts";
import { type CelResult, functionNames, isFunction, kindOfCall } from "../types/cel-kinds.ts";
import type { CelKind } from "../types/cel-signature.ts";
import { fieldType, timestampType, typesOf, type ValueType } from "../types/schema-type.ts";
import { resolveType, type Scope } from "../types/scope.ts";
import {
  faultOfFormat,
  faultOfMatches,
  faultOfTime,
  faultOfZone,
  takesZone,
  textOfNode,
} from "./constant-arguments.ts";
import { faultOfMember, hintOfMember, hintOfName, hintOfNoScalar, roots, textOfPath } from "./expression-hints.ts";

/** Hint on how to use a set of rows. Expressions cannot read the rows of a set. */
const useOfSets =
  "rows.<set> is a number, the size of the set: choose rows with filter, sort and limit, and read their fields with reduce";

/** Names before the dot in the names of functions, such as `math` in math.abs. */
const functionNamespaces: ReadonlySet<string> = new Set(
  functionNames.flatMap((name) => (name.includes(".") ? [name.slice(0, name.indexOf("."))] : [])),
);

/** The type of a part of an expression: `kind` is its type in the expression language, `type` its JSON type if it has one. */
export type TypedPart = { readonly kind: CelKind; readonly type: ValueType };

/**
 * The data and functions that the check of one expression passes to all of its parts: the usable names, the types of loop variables, and
 * functions that record faults.
 */
export type ExpressionWalk = {
  readonly scope: Scope;
  readonly locals: ReadonlyMap<string, TypedPart>;
  /** The names and paths that a condition of the same expression tests with `has`. Reading them is safe, even if they may be absent. */
  readonly guarded: ReadonlySet<string>;
  fault(message: string, hint: string): void;
  /** Records a fault of a rule that did not exist in version 0.1. Such a fault is ignored for programs that are already stored. */
  youngerFault(message: string, hint: string): void;
  noName(message: string, hint: string): void;
  /** Adds a note on a comparison that may never be true. */
  note(message: string, hint: string): void;
};

const dynamic: TypedPart = { kind: "dyn", type: undefined };

const constants: Readonly<Record<string, CelKind>> = {
  nullValue: "null",
  boolValue: "bool",
  int64Value: "int",
  uint64Value: "uint",
  doubleValue: "double",
  stringValue: "string",
  bytesValue: "bytes",
};

/** Returns the type of a part of an expression. Records the faults of the part and of all parts in it. */
export function typeOf(node: Expr, walk: ExpressionWalk): TypedPart {
  const { exprKind } = node;
  switch (exprKind.case) {
    case "constExpr":
      return { kind: constants[exprKind.value.constantKind.case ?? ""] ?? "dyn", type: undefined };
    case "identExpr":
    case "selectExpr":
      return typeOfPath(node, walk);
    case "callExpr":
      return exprKind.value.function === "_[_]" ? typeOfPath(node, walk) : typeOfCall(node, walk);
    case "listExpr":
      for (const child of childrenOf(node)) typeOf(child, walk);
      return { kind: "list", type: undefined };
    case "structExpr":
      if (exprKind.value.messageName !== "")
        walk.fault(`makes a message ${exprKind.value.messageName}`, "use maps: {'name': value}");
      for (const child of childrenOf(node)) typeOf(child, walk);
      return { kind: "map", type: undefined };
    case "comprehensionExpr":
      return typeOfComprehension(node, walk);
    default:
      return dynamic;
  }
}

function typeOfComprehension(node: Expr, walk: ExpressionWalk): TypedPart {
  if (node.exprKind.case !== "comprehensionExpr") return dynamic;
  const { iterRange, iterVar, accuVar, accuInit, loopStep } = node.exprKind.value;
  const range = iterRange === undefined ? dynamic : rangeType(iterRange, walk);
  if (range.kind !== "list" && range.kind !== "map" && range.kind !== "dyn") {
    walk.fault(`iterates over ${range.kind}`, "iterate over a list");
  }
  const item = range.kind === "list" ? fieldType(range.type, 0) : { type: undefined };
  const itemType = "type" in item ? item.type : undefined;
  const local: TypedPart =
    range.kind === "map" ? { kind: "string", type: undefined } : { kind: kindOfType(itemType), type: itemType };
  const locals = new Map([...walk.locals, [iterVar, local] as const, [accuVar, dynamic] as const]);
  if (loopStep !== undefined) typeOf(loopStep, { ...walk, locals });
  return { kind: accuInit?.exprKind.case === "listExpr" ? "list" : "bool", type: undefined };
}

function rangeType(range: Expr, walk: ExpressionWalk): TypedPart {
  const path = pathOfNode(range);
  if (path?.root !== "rows" || walk.locals.has("rows")) return typeOf(range, walk);
  walk.fault(
    "iterates over a row set",
    "use rows.<set> for its size, a filter to choose rows, and a reduce for numbers, lists and texts",
  );
  return dynamic;
}

function typeOfCall(node: Expr, walk: ExpressionWalk): TypedPart {
  if (node.exprKind.case !== "callExpr") return dynamic;
  const { args } = node.exprKind.value;
  const { name, receiver: target } = calledOf(node.exprKind.value, (whole) => isNamed(whole, walk));
  const receiver = target && typeOf(target, walk);
  const typed = args.map((argument) => typeOf(argument, walk));
  const set = name === "@in" && isSet(args[1], walk) ? pathOfNode(args[1])?.path[0] : undefined;
  if (set !== undefined) {
    walk.fault(`searches the set ${set}`, hintOfMember(args[0], String(set)));
    return { kind: "bool", type: undefined };
  }
  if ([target, ...args].some((part) => isFieldOfSet(part, walk))) return dynamic;
  if (name === "timestamp" && isDate(typed[0])) {
    const named = textOfPath(args[0]);
    walk.youngerFault(
      "makes a timestamp of a date without a time",
      `write timestamp(${named} + "T00:00:00Z"), the start of the day in UTC`,
    );
  }
  checkConstants(name, target, args, walk);
  const found = kindOfCall(
    name,
    receiver?.kind,
    typed.map(({ kind }) => kind),
  );
  if ("kind" in found) {
    const [left, right] = args.map((node, index) => ({ node, type: typed[index]?.type }));
    const member = left && right && faultOfMember(name, left, right, walk.scope);
    if (member !== undefined) (member.isNote === true ? walk.note : walk.youngerFault)(member.message, member.hint);
    return { kind: found.kind, type: typeOfResult(name, found, receiver ?? typed[0]) };
  }
  const isOfSet = !isFunction(name) && [target, ...args].some((part) => isSet(part, walk));
  (found.isYounger === true ? walk.youngerFault : walk.fault)(found.fault, isOfSet ? useOfSets : found.hint);
  return found.gives === undefined ? dynamic : { kind: found.gives, type: undefined };
}

/**
 * True if a name with a dot is the name of a function, such as `math.abs`. Also true for a function that does not exist, such as
 * `math.pow`, if `math` is not the name of a value here.
 */
function isNamed(whole: string, { locals, scope }: ExpressionWalk): boolean {
  const [first = ""] = whole.split(".");
  const isTaken = locals.has(first) || scope.given?.has(first) === true;
  return isFunction(whole) || (!isTaken && functionNamespaces.has(first));
}

function isSet(node: Expr | undefined, { locals }: ExpressionWalk): boolean {
  return pathOfNode(node)?.root === "rows" && !locals.has("rows");
}

/**
 * True if this part of an expression reads a field of a set of rows (for example `rows.open.id`). This is an error, because only single
 * rows have fields.
 */
function isFieldOfSet(node: Expr | undefined, walk: ExpressionWalk): boolean {
  return isSet(node, walk) && (pathOfNode(node)?.path.length ?? 0) > 1;
}

function isDate(typed: TypedPart | undefined): boolean {
  return typed?.kind === "string" && typed.type?.["format"] === "date";
}

/**
 * Returns the JSON type of a function's result, or undefined if it is unknown. `first`: the value on which the function is called, or its
 * first argument.
 */
function typeOfResult(name: string, { signature }: CelResult, first: TypedPart | undefined): ValueType {
  if (name === "string" && first?.kind === "timestamp") return timestampType;
  if (signature?.items !== undefined) return { type: "array", items: signature.items };
  return signature?.gives === "first" ? first?.type : undefined;
}

/**
 * Checks constants that must be a time, a time zone, a pattern or a format. A wrong constant is reported here once, instead of failing for
 * every row at run time.
 */
function checkConstants(name: string, target: Expr | undefined, args: readonly Expr[], walk: ExpressionWalk): void {
  const pattern = name === "matches" ? faultOfMatches(args[0]) : undefined;
  if (pattern !== undefined) walk.fault(pattern.message, pattern.hint);
  const younger = target === undefined ? faultOfTime(name, args[0]) : faultOfMethod(name, target, args, walk);
  if (younger !== undefined) walk.youngerFault(younger.message, younger.hint);
}

function faultOfMethod(name: string, target: Expr, args: readonly Expr[], walk: ExpressionWalk) {
  const [first] = args;
  const zone = takesZone(name, args.length) ? textOfNode(first) : undefined;
  if (zone !== undefined) return faultOfZone(zone);
  const format = name === "format" ? textOfNode(target) : undefined;
  if (format === undefined) return undefined;
  const silent: ExpressionWalk = { ...walk, fault: ignored, youngerFault: ignored, noName: ignored, note: ignored };
  const items = first?.exprKind.case === "listExpr" ? first.exprKind.value.elements : undefined;
  return faultOfFormat(
    format,
    items?.map((item) => typeOf(item, silent).kind),
  );
}

const ignored = () => {};

function typeOfPath(node: Expr, walk: ExpressionWalk): TypedPart {
  const path = pathOfNode(node);
  if (path === undefined) {
    // An index may be computed, or a field may belong to a computed value. Then the parts are checked, but the type of the whole is
    // unknown.
    for (const child of childrenOf(node)) typeOf(child, walk);
    return dynamic;
  }
  const local = walk.locals.get(path.root);
  if (local !== undefined) return typeOfLocal(local, path, walk);
  if (walk.scope.given !== undefined) return typeOfGiven(walk.scope.given, path, walk);
  if (path.root === "now") {
    if (path.path.length > 0)
      walk.noName("now is a time, and has no fields", 'calculate with it: now - duration("24h")');
    return { kind: "timestamp", type: undefined };
  }
  if (!roots.includes(path.root)) {
    const whole = [path.root, ...path.path.filter((step) => typeof step === "string")].join(".");
    walk.fault(`names ${formatValue(path.root)}, which does not exist here`, hintOfName(path.root, whole, walk.scope));
    return dynamic;
  }
  return typeOfReference(path, walk);
}

/** Returns the type of a value from outside the program, for example of a field of the event that starts it (`fire`). */
function typeOfGiven(given: ReadonlyMap<string, ValueType>, path: NodePath, walk: ExpressionWalk): TypedPart {
  if (given.has(path.root)) {
    const type = given.get(path.root);
    return typeOfLocal({ kind: kindOfType(type), type }, path, walk);
  }
  walk.fault(
    `names ${formatValue(path.root)}, which does not exist here`,
    `start with ${[...given.keys()].join(", ")}`,
  );
  return dynamic;
}

function typeOfLocal(local: TypedPart, { root, path, isTest }: NodePath, walk: ExpressionWalk): TypedPart {
  let { type } = local;
  for (const [index, step] of path.entries()) {
    const field = fieldType(type, step);
    if ("fault" in field) {
      walk.noName(
        `${[root, ...path.slice(0, index)].join(".")} ${field.fault}; it has no ${step}`,
        walk.scope.given?.has(root) === true ? "name a field that exists" : "name a field of the list's items",
      );
      return dynamic;
    }
    type = field.type;
  }
  if (isTest) return { kind: "bool", type: undefined };
  return path.length === 0 ? local : { kind: kindOfType(type), type };
}

function typeOfReference({ root, path, isTest }: NodePath, walk: ExpressionWalk): TypedPart {
  if (path.length === 0 && (root === "rows" || root === "steps" || root === "calls")) {
    walk.fault(`takes ${root} as a whole`, root === "rows" ? "write rows.<set>" : `write ${root}.<id>.<field>`);
    return dynamic;
  }
  if (path.length === 0 && root === "row") {
    if (walk.scope.row === undefined) walk.noName("row is used where no row exists", walk.scope.hints.expressionRows);
    return { kind: "map", type: undefined };
  }
  const text = `${root}.${path.join(".")}`;
  if (root === "rows" && path.length > 1 && walk.scope.ended.has(String(path[0]))) {
    const field = path.find((step, index) => index > 0 && typeof step === "string");
    walk.youngerFault(`takes ${text}, but rows.<set> is a number`, hintOfSetField(String(path[0]), field as string));
    return dynamic;
  }
  const found = resolveType(walk.scope, { root: root as ReferenceRoot, path, text });
  if ("fault" in found) {
    walk.noName(found.fault, found.hint);
    return isTest ? { kind: "bool", type: undefined } : dynamic;
  }
  if (isTest) return { kind: "bool", type: undefined };
  const source = `${root}.${path[0]}`;
  if (found.mayFail === true && !walk.guarded.has(`${source}.`)) {
    const ask = `has(${source}.${path[1] ?? "error"})`;
    walk.noName(`${text} exists only if ${path[0]} ended with that result`, `ask ${ask} first: ${ask} && …`);
  }
  if (found.maySkip && !walk.guarded.has(source)) {
    walk.noName(`${text} may be skipped`, `check has(${source}) first: has(${source}) && …`);
  }
  const types = typesOf(found.type);
  if (root === "steps" && types !== undefined && [...types].every((type) => type === "object" || type === "array")) {
    walk.fault(`takes ${text}, which is not a text, number or boolean`, hintOfNoScalar(path, found.type));
  }
  return { kind: kindOfType(found.type), type: found.type };
}

/** Returns the kind that values of a JSON type have in expressions. There, all JSON numbers are doubles. */
function kindOfType(type: ValueType): CelKind {
  const [only, ...others] = typesOf(type) ?? [];
  if (others.length > 0) return "dyn";
  switch (only) {
    case undefined:
      return "dyn";
    case "boolean":
      return "bool";
    case "number":
      return "double";
    case "array":
      return "list";
    case "object":
      return "map";
    default:
      return only;
  }
}
