import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { type CelFunction, textExtent } from "../functions/function.ts";
import { functionsNamed } from "../functions/index.ts";
import { celLimits } from "../read/cel-calls.ts";
import { calledOf, childrenOf, pathOfNode } from "../read/cel-tree.ts";
import { containsSteps, matchesSteps, stepsOf } from "./cost-of-text.ts";
import {
  type Chain,
  type Extent,
  endlessly,
  itemOf,
  literal,
  nothingReached,
  type PathExtent,
  reachAll,
  scalar,
} from "./extent.ts";

type Cost = { readonly steps: number; readonly extent: Extent };
type Values = Readonly<Record<string, unknown>>;
type Scope = {
  /** The sizes of the values that the expression's paths lead to, in the order of the paths. */
  readonly reached: readonly PathExtent[];
  readonly locals: ReadonlyMap<string, Extent>;
  /** True if the evaluator reads fields of objects in place. Default false: it copies each object on a path, which costs steps. */
  readonly isReadInPlace?: boolean;
};
/** Returns the cost (evaluation steps and size of the result) of a part of an expression for given values. */
type CostFunction = (scope: Scope) => Cost;

const noLocals: ReadonlyMap<string, Extent> = new Map();

/**
 * Returns a function that computes the maximum evaluation steps (units of work) of an expression. `values`: the values that the expression
 * uses, by name. The maximum is valid for each of the `rows`. It is about 1e15 if a value is too large to be measured. Computing the
 * maximum takes much less time than the evaluation.
 */
export function boundOf(tree: Expr): (values: Values, rows: readonly unknown[]) => number {
  const paths: Chain[] = [];
  const costing = costingOf(tree, paths);
  return (values, rows) => {
    const { steps, extent } = costing({ reached: reachAll(paths, values, rows), locals: noLocals });
    // The result of the expression is written as JSON afterwards, so the steps for writing it are added to the cost.
    const written = extent.total * stepsOf.value * (1 + extent.depth);
    return stepsOf.evaluation + steps + written;
  };
}

/**
 * Returns a function that computes the maximum evaluation steps (units of work) of a condition, such as an event filter, that reads its
 * values without copying them. `extentAt`: returns the size of the value at a path.
 */
export function boundInPlaceOf(tree: Expr): (extentAt: (path: Chain) => Extent) => number {
  const paths: Chain[] = [];
  const costing = costingOf(tree, paths);
  return (extentAt) => {
    const reached = paths.map((path) => ({ extent: extentAt(path), items: 0 }));
    return stepsOf.evaluation + costing({ reached, locals: noLocals, isReadInPlace: true }).steps;
  };
}

/**
 * Returns a function that computes the cost of a part of an expression. `paths`: a list to which the function adds each path in that part
 * (for example `row.amount`).
 */
function costingOf(node: Expr | undefined, paths: Chain[]): CostFunction {
  const { exprKind } = node ?? { exprKind: { case: undefined } };
  switch (exprKind.case) {
    case "constExpr": {
      const cost = { steps: stepsOf.node, extent: literal(exprKind.value.constantKind.value) };
      return () => cost;
    }
    case "identExpr":
    case "selectExpr":
      return costingOfPath(node, paths);
    case "callExpr":
      return exprKind.value.function === "_[_]" ? costingOfPath(node, paths) : costingOfCall(node, paths);
    case "listExpr":
    case "structExpr":
      return costingOfParts(childrenOf(node as Expr), stepsOf.node, paths);
    case "comprehensionExpr":
      return costingOfComprehension(node, paths);
    default:
      return () => ({ steps: stepsOf.node, extent: scalar });
  }
}

/** Returns a function that computes the cost of a value that consists of parts: a list, a map, or a field of a computed value. */
function costingOfParts(children: readonly Expr[], steps: number, paths: Chain[]): CostFunction {
  const costings = children.map((child) => costingOf(child, paths));
  return (scope) => {
    const parts = costings.map((costing) => costing(scope));
    const extent = together(parts.map((part) => part.extent));
    return { steps: steps + sumOf(parts) + extent.items * stepsOf.value, extent };
  };
}

/**
 * Returns a function that computes the cost of a chain of names (`row.a.b`). The cost includes that the evaluator converts each object in
 * the chain to a map of its fields.
 */
function costingOfPath(node: Expr | undefined, paths: Chain[]): CostFunction {
  const path = pathOfNode(node);
  if (path === undefined) return costingOfParts(node === undefined ? [] : childrenOf(node), stepsOf.call, paths);
  const { root, isTest } = path;
  const place = paths.push(path) - 1;
  const own = (path.path.length + 1) * stepsOf.node;
  return ({ reached, locals, isReadInPlace }) => {
    const local = locals.get(root);
    if (local !== undefined) {
      const steps = own + (isReadInPlace === true ? 0 : path.path.length * local.items * stepsOf.value);
      return { steps, extent: isTest ? scalar : local };
    }
    const { extent, items } = reached[place] ?? nothingReached;
    return { steps: own + items * stepsOf.value, extent: isTest ? scalar : extent };
  };
}

/** Returns a function that computes the cost of a macro such as `filter` or `map`. */
function costingOfComprehension(node: Expr | undefined, paths: Chain[]): CostFunction {
  if (node?.exprKind.case !== "comprehensionExpr") return () => ({ steps: 0, extent: scalar });
  const { iterVar, accuVar, ...parts } = node.exprKind.value;
  const [iterRange, accuInit, loopCondition, loopStep, result] = [
    ...[parts.iterRange, parts.accuInit, parts.loopCondition, parts.loopStep, parts.result].map((part) =>
      costingOf(part, paths),
    ),
  ] as [CostFunction, CostFunction, CostFunction, CostFunction, CostFunction];
  return (scope) => {
    const range = iterRange(scope);
    const rounds = Math.min(range.extent.items, celLimits.listItems);
    const isShared = scope.isReadInPlace === true;
    const item = isShared ? { ...range.extent, depth: 0 } : itemOf(range.extent);
    const within = (accu: Extent, of = item): Scope => ({
      ...scope,
      locals: new Map([...scope.locals, [iterVar, of] as const, [accuVar, accu] as const]),
    });
    const first = accuInit(scope);
    const once = loopStep(within(first.extent)).extent;
    // A result list is built by joining one list for each item, so its nesting depth is its length.
    // A loop may join a value to its result in each round (for example `a + b` for lists). Then the result grows with the number of rounds.
    // A result that is a boolean or a number does not grow.
    const made: Extent =
      once.depth === 0
        ? once
        : {
            items: Math.max(rounds, once.items),
            text: once.text,
            total: first.extent.total + rounds * once.total,
            depth: rounds + once.depth,
          };
    const inner = within(made);
    const stepsOfRound = (of: Scope) => loopCondition(of).steps + loopStep(of).steps;
    const round = stepsOfRound(inner);
    const values = isShared ? rounds : range.extent.total;
    const walked = 2 * range.steps + values * stepsOf.value * (1 + range.extent.depth);
    // Every cost grows at least as fast as the size of an item. So if the items share one total size, the cost is highest if one item has
    // all of it.
    const all = isShared ? round + Math.max(0, rounds - 1) * stepsOfRound(within(made, scalar)) : rounds * round;
    return {
      steps: stepsOf.call + walked + first.steps + all + result(inner).steps,
      extent: made,
    };
  };
}

function costingOfCall(node: Expr | undefined, paths: Chain[]): CostFunction {
  if (node?.exprKind.case !== "callExpr") return () => ({ steps: 0, extent: scalar });
  const { args } = node.exprKind.value;
  const costingsOfArgs = args.map((arg) => costingOf(arg, paths));
  const { name, receiver } = calledOf(node.exprKind.value, isLibraryFunction);
  const costings = receiver === undefined ? costingsOfArgs : [costingOf(receiver, paths), ...costingsOfArgs];
  const library = functionsNamed(name).find(({ count, isMethod }) => {
    return count === args.length && isMethod === (receiver !== undefined);
  });
  if (library !== undefined) {
    return (scope) => {
      const given = costings.map((costing) => costing(scope));
      const extents = given.map(({ extent }) => extent);
      return { steps: sumOf(given) + stepsOf.call + wholeSteps(library, extents), extent: library.extent(extents) };
    };
  }
  const own = ownSteps(name, args);
  const isLogic = logic.has(name);
  return (scope) => {
    const given = costings.map((costing) => costing(scope));
    const [left = scalar, right = scalar] = given.map(({ extent }) => extent);
    const steps = sumOf(given) + (isLogic ? stepsOf.node : stepsOf.call + own(left, right));
    return { steps, extent: extentOfCall(name, given, left, right) };
  };
}

function isLibraryFunction(name: string): boolean {
  return functionsNamed(name).length > 0;
}

const logic: ReadonlySet<string> = new Set(["_&&_", "_||_", "!_", "_?_:_", "@not_strictly_false"]);

/** Maximum number of characters of a number or time that is written as text. */
const numberText = 400;

function extentOfCall(name: string, given: readonly Cost[], left: Extent, right: Extent): Extent {
  switch (name) {
    case "_?_:_":
      return together(given.map(({ extent }) => extent));
    case "_+_":
      return joined(left, right);
    case "string":
      return textExtent(Math.max(left.text, numberText));
    case "bytes":
      return { ...left, text: left.text * 3, total: 1 + (left.text * 3) / 16 };
    case "dyn":
      return left;
    default:
      return scalar;
  }
}

/**
 * Returns a function that computes how many steps (units of work) a CEL function needs for its own work. It takes the sizes of the first
 * two arguments.
 */
function ownSteps(name: string, args: readonly Expr[]): (left: Extent, right: Extent) => number {
  switch (name) {
    case "_==_":
    case "_!=_":
      return (a, b) => Math.min(a.total, b.total) * stepsOf.value * (1 + Math.max(a.depth, b.depth));
    case "@in":
      return (a, b) => (a.total + b.total * (1 + b.depth)) * stepsOf.value;
    case "size":
      return ({ text }) => text * stepsOf.read;
    case "contains":
      return (a, b) => containsSteps(a.text, b.text);
    case "matches": {
      const pattern = patternIn(args[0]);
      return ({ text }) => (pattern === undefined ? endlessly : matchesSteps(pattern, text));
    }
    case "int":
    case "uint":
      return ({ text }) => text * (stepsOf.read + text / 1_000);
    case "timestamp":
    case "duration":
      return ({ text }) => stepsOf.time + text * stepsOf.read;
    case "double":
    case "bool":
    case "string":
      return ({ text }) => text * stepsOf.read;
    default: {
      const fixed = name.startsWith("get") && args.length > 0 ? stepsOf.zone : 0;
      return (a, b) => fixed + (a.text + b.text) * stepsOf.character;
    }
  }
}

function patternIn(node: Expr | undefined): string | undefined {
  const constant = node?.exprKind.case === "constExpr" ? node.exprKind.value.constantKind : undefined;
  return constant?.case === "stringValue" ? constant.value : undefined;
}

function sumOf(parts: readonly Cost[]): number {
  let steps = 0;
  for (const part of parts) steps += part.steps;
  return steps;
}

/** Returns the evaluation steps (units of work) of a function, with the steps of reading its arguments. */
function wholeSteps({ steps }: CelFunction, of: readonly Extent[]): number {
  let looked = 0;
  for (const { total, depth } of of) looked += total * (1 + depth) * stepsOf.value;
  return looked + steps(of);
}

/** Returns the extent (size) of a list or map with these parts. It is also large enough for each single part. */
function together(parts: readonly Extent[]): Extent {
  let { items, text, total, depth } = { ...scalar, items: parts.length };
  for (const part of parts) {
    items = Math.max(items, part.items);
    text = Math.max(text, part.text);
    depth = Math.max(depth, part.depth);
    total += part.total;
  }
  return { items, text, total, depth };
}

/** Returns the extent (size) of two texts or two lists that are joined. */
function joined(left: Extent, right: Extent): Extent {
  return {
    items: left.items + right.items,
    text: left.text + right.text,
    total: left.total + right.total,
    depth: Math.max(left.depth, right.depth) + 1,
  };
}
