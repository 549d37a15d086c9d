import { type CelEnv, CelScalar, type CelValue, celEnv, celFunc, celMethod, isCelError, plan } from "@bufbuild/cel";
import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { compileLinearRegExp, type LinearRegExp } from "@svc/catalog/patterns";
import { celFuncOf } from "../functions/function.ts";
import { libraryFunctions } from "../functions/index.ts";
import { celLimits } from "../read/cel-calls.ts";
import { childrenOf, type NodePath, pathOfNode } from "../read/cel-tree.ts";
import type { CelValues } from "./cel-values.ts";
import { conversions } from "./conversions.ts";
import { containsSteps, matchesSteps, meteredEach, stepsOf, take } from "./cost-of-text.ts";
import { beginWith } from "./long-numbers.ts";
import { timeParts } from "./time-parts.ts";

/** Maximum number of absent or null fields that an error message about a failed expression names. */
const namedMax = 3;

/**
 * Returns a function for an error message. Given the values of an evaluation, it names the fields that the expression reads and that are
 * absent in these values. It returns only names, never values. It returns "" if no field is absent.
 */
function absentFieldsOf(env: CelEnv, tree: Expr): (values: CelValues) => string {
  let chains: readonly (readonly Field[])[] | undefined;
  return (values) => {
    chains ??= chainsOf(env, tree);
    const absent = chains.flatMap((chain) => chain.find(({ read }) => isCelError(read(values)))?.text ?? []);
    const named = [...new Set(absent)].slice(0, namedMax);
    const [first] = named;
    if (first === undefined) return "";
    const ask = /^[\w.]+\.[A-Za-z_]\w*$/.test(first) ? `; ask has(${first}) first` : "";
    return `: ${named.join(", ")}${ask}`;
  };
}

/**
 * Returns a function that makes the end of an error message. It names the fields of the expression that are null, or returns "" if there
 * are none.
 */
function nullFieldsOf(env: CelEnv, tree: Expr): (values: CelValues) => string {
  let chains: readonly (readonly Field[])[] | undefined;
  return (values) => {
    chains ??= chainsOf(env, tree);
    const nulls = chains.flatMap((chain) => {
      const last = chain.at(-1);
      return last !== undefined && last.read(values) === null ? [last.text] : [];
    });
    const named = [...new Set(nulls)].slice(0, namedMax);
    return named.length === 0 ? "" : `; null here: ${named.join(", ")}`;
  };
}

/**
 * One beginning of a chain of names: `steps.a.value` has the beginnings `steps`, `steps.a` and `steps.a.value`. `text`: the beginning as it
 * is written. `read`: evaluates the expression up to this place and returns the value or the error.
 */
type Field = { readonly text: string; readonly read: (values: CelValues) => CelValue | Error };

/**
 * Returns for every chain of field names in an expression the list of its beginnings. For example, `steps.a.value` gives `steps`, `steps.a`
 * and `steps.a.value`. Loop variables are left out, because they have no value outside of the loop.
 */
function chainsOf(env: CelEnv, tree: Expr, locals: ReadonlySet<string> = new Set()): readonly (readonly Field[])[] {
  const path = pathOfNode(tree);
  if (path !== undefined) {
    if (path.isTest || locals.has(path.root)) return [];
    return [partsOf(tree).map((node) => ({ text: textOf(pathOfNode(node)), read: plan(env, node) }))];
  }
  const { exprKind } = tree;
  const own = exprKind.case === "comprehensionExpr" ? [exprKind.value.iterVar, exprKind.value.accuVar] : [];
  const within = own.length === 0 ? locals : new Set([...locals, ...own]);
  return childrenOf(tree).flatMap((child) => chainsOf(env, child, within));
}

/** Returns the parts of an expression such as `a.b.c`, from the first name to the last. */
function partsOf(node: Expr): Expr[] {
  const [operand] = childrenOf(node);
  return operand === undefined ? [node] : [...partsOf(operand), node];
}

function textOf(path: NodePath | undefined): string {
  if (path === undefined) return "";
  return path.path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return /^[A-Za-z_]\w*$/.test(step) ? `${text}.${step}` : `${text}[${JSON.stringify(step)}]`;
  }, path.root);
}

/** The words that messages use for the kinds of values. */
const kindWords: Readonly<Record<string, string>> = {
  null_type: "null",
  string: "a text",
  double: "a number (double)",
  int: "a whole number (int)",
  uint: "a whole number (uint)",
  bool: "true or false",
  list: "a list",
  map: "an object",
  "google.protobuf.Timestamp": "a timestamp",
  "google.protobuf.Duration": "a duration",
};

/** Hints for operations on values of two different kinds, in either order. Each says what the author probably wants and how to write it. */
const cures: readonly (readonly [one: string, other: string, cure: string])[] = [
  ["a number (double)", "a whole number (int)", "numbers of rows, inputs and answers are doubles: write 100.0 for 100"],
  [
    "a text",
    "a timestamp",
    'convert the text to a time: timestamp(text), or for a date timestamp(text + "T00:00:00Z")',
  ],
  ["a text", "a duration", 'convert the text to a time: timestamp(text), or for a date timestamp(text + "T00:00:00Z")'],
  [
    "a text",
    "a number (double)",
    "convert the number to a text, string(number), or the text to a number, double(text)",
  ],
  [
    "a text",
    "a whole number (int)",
    "convert the number to a text, string(number), or the text to a number, double(text)",
  ],
];

/** The outcome of one evaluation of a condition: true or false, or a failure. */
export type CelOutcome = { readonly value: boolean } | CelFailure;

/**
 * The reason why an evaluation has no result. `error`: the reason, in a sentence that quotes no data. `isTooExpensive`: true if the
 * evaluation was stopped or not begun, because it needs more steps than one evaluation may use.
 */
export type CelFailure = { readonly error: string; readonly isTooExpensive?: boolean };

/** The result of evaluating an expression once: its value as JSON text, or a failure. */
export type ComputedText = { readonly text: string } | CelFailure;

/**
 * Maximum evaluation steps (units of work) of one evaluation. This number of steps usually takes tens of milliseconds, at worst half a
 * second.
 */
const evaluationStepsMax = 50_000_000;

const tooExpensive: CelFailure = {
  error: "takes more time than one evaluation may: long texts, patterns and lists multiply the work",
  isTooExpensive: true,
};

const patternsMax = 500;
const patterns = new Map<string, LinearRegExp>();

function patternOf(pattern: string): LinearRegExp {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  const made = compileLinearRegExp(pattern);
  if (patterns.size >= patternsMax) patterns.clear();
  patterns.set(pattern, made);
  return made;
}

const { BOOL, INT, STRING } = CelScalar;

/**
 * The functions that expressions can call. A function that is slow for long texts first takes its cost from the budget of the evaluation,
 * in steps (units of work). The check of a program computes the cost in the same way (cost.ts). So an expression whose checked cost is
 * within the limit is never stopped. Each regular expression is compiled once.
 */
export const meteredEnv = celEnv({
  funcs: [
    celMethod("matches", STRING, [STRING], BOOL, function (this: string, pattern: string) {
      take(matchesSteps(pattern, this.length));
      return patternOf(pattern).test(this);
    }),
    celMethod("contains", STRING, [STRING], BOOL, function (this: string, sought: string) {
      take(containsSteps(this.length, sought.length));
      return this.includes(sought);
    }),
    celFunc("size", [STRING], INT, (text: string) => countOf(text)),
    celMethod("size", STRING, [], INT, function (this: string) {
      return countOf(this);
    }),
    ...conversions,
    ...timeParts,
    ...libraryFunctions.map(celFuncOf),
  ],
});

/**
 * Returns the number of characters of a text. A character outside the Basic Multilingual Plane (such as an emoji) counts as one, although
 * it has two UTF-16 units.
 */
function countOf(text: string): bigint {
  take(text.length * stepsOf.read);
  let count = 0;
  for (const _character of text) count++;
  return BigInt(count);
}

/**
 * Returns a function that evaluates an expression for several values. It returns their outcomes in order and stops after the first failure,
 * or when `isOver` returns true. An evaluation fails if it visits a list of more than 1,000 items or needs more than `stepsMax` steps
 * (default 50 million). All code that runs for each value is in this file, because there are very many rows.
 */
export function evaluationOf<T extends object>(
  tree: Expr,
  answerOf: (value: CelValue) => T | CelFailure,
  stepsMax = evaluationStepsMax,
): (each: readonly CelValues[], isOver: () => boolean) => readonly (T | CelFailure)[] {
  const run = plan(meteredEnv, tree);
  const ranges = rangesOf(tree).map((range) => plan(meteredEnv, range));
  const absentFields = absentFieldsOf(meteredEnv, tree);
  const nullFields = nullFieldsOf(meteredEnv, tree);
  const evaluate = (values: CelValues): T | CelFailure => {
    beginWith(values);
    for (const range of ranges) {
      const list = range(values);
      if (!isCelError(list) && sizeOf(list) > celLimits.listItems) {
        return { error: `iterates over a list of more than ${celLimits.listItems} items` };
      }
    }
    const value = run(values);
    if (isCelError(value)) {
      const error = describeCelError(value.message, tree);
      if (error.startsWith(misapplied)) return { error: `${error}${nullFields(values)}` };
      return { error: error === absentField ? `${error}${absentFields(values)}` : error };
    }
    return answerOf(value);
  };
  return (each, isOver) => {
    const outcomes: (T | CelFailure)[] = [];
    meteredEach(stepsMax, each, evaluate, (value, isSpent) => {
      const outcome = isSpent ? tooExpensive : value;
      outcomes.push(outcome);
      return !("error" in outcome || isOver());
    });
    return outcomes;
  };
}

/**
 * Returns a message for a failed evaluation. The evaluator's own messages quote values, which may be row data, so only the kind of the
 * failure is reported.
 */
function describeCelError(message: string, tree: Expr): string {
  const [, told] = celErrors.find(([pattern]) => pattern.test(message)) ?? [];
  if (told === misapplied) return `${told}${overloadWords(message)}`;
  if (told !== misfit) return told ?? "cannot be evaluated";
  const conversions = conversionsOf(tree);
  return conversions.length === 0 ? told : `${told}: ${conversions.join("; ")}`;
}

/**
 * Texts for error messages. For each conversion function of CEL, the text says which values the function accepts, and sometimes how to
 * write other values.
 */
const takenBy: Readonly<Record<string, string>> = {
  timestamp: `timestamp takes a text such as 2026-11-24T09:00:00Z; for a date, write timestamp(date + "T00:00:00Z")`,
  duration: "duration takes a text such as 90s or 2h30m",
  int: "int takes a text of digits, such as 12",
  uint: "uint takes a text of digits, such as 12",
  double: "double takes a text such as 12.50",
  bool: "bool takes true or false as a text",
  decode: "base64.decode takes a text in base64",
};

/**
 * Returns one text for each conversion function in an expression: the text says which values the function accepts (for example `bool takes
 * true or false as a text`). One of these conversions failed, but the evaluator does not report which one.
 */
function conversionsOf(tree: Expr): readonly string[] {
  const found = new Set<string>();
  const look = (node: Expr) => {
    const { exprKind } = node;
    const name = exprKind.case === "callExpr" ? exprKind.value.function : "";
    const taken = Object.hasOwn(takenBy, name) ? takenBy[name] : undefined;
    if (taken !== undefined) found.add(taken);
    for (const child of childrenOf(node)) look(child);
  };
  look(tree);
  return [...found];
}

const misfit = "converts a value that has the wrong form";
const misapplied = "applies an operation to values whose types it does not take";
const absentField = "reads a field that is absent";

const celErrors: readonly (readonly [RegExp, string])[] = [
  [/field not found|no such (?:key|field)|undeclared|unknown (?:name|identifier|variable)|not found/i, absentField],
  [/overload/i, misapplied],
  [/convert|parse|invalid|timestamp|duration/i, misfit],
  [/divi|modul/i, "divides by zero"],
  [/overflow|range|out of bounds|index/i, "leaves the range of a number or of a list"],
];

function sizeOf(value: unknown): number {
  const size: unknown = typeof value === "object" && value !== null && "size" in value ? value.size : 0;
  return typeof size === "number" ? size : 0;
}

/**
 * Returns words for an error: an operation and the kinds of values that it does not accept. They come from the evaluator's message. Returns
 * "" if the message does not name them.
 */
function overloadWords(message: string): string {
  const [, name = "", applied] = /overload for '([^']+)' applied to '(.*)'/s.exec(message) ?? [];
  const [, receiver = "", listed] = /^([^(]*)\((.*)\)$/s.exec(applied ?? "") ?? [];
  if (listed === undefined) return "";
  const types = [receiver.replace(/\.$/, ""), ...listed.split(", ")].filter((type) => type !== "");
  const kinds = types.map((type) => kindWords[type] ?? kindWords[type.replace(/[(<].*/s, "")] ?? "another value");
  const given = `: ${name.replaceAll("_", "") || name} of ${kinds.join(" and ")}`;
  const cure = kinds.includes("null")
    ? "check that it is not null first, with != null"
    : cures.find(([one, other]) => kinds.includes(one) && kinds.includes(other))?.[2];
  return cure === undefined ? given : `${given}; ${cure}`;
}

/** Returns the lists over which the macros of an expression (such as `filter`) run. */
function rangesOf(tree: Expr): Expr[] {
  const own = tree.exprKind.case === "comprehensionExpr" ? tree.exprKind.value.iterRange : undefined;
  return [...(own === undefined ? [] : [own]), ...childrenOf(tree).flatMap(rangesOf)];
}
