import { type CelInput, celMap, isCelError, plan } from "@bufbuild/cel";
import type { JsonObject } from "../json.ts";
import { celLimits, parseExpression, rangesOf } from "../read/cel-syntax.ts";
import { withCelNumbers } from "./cel-numbers.ts";
import { boundOf } from "./cost.ts";
import { metered, meteredEnv } from "./metered-env.ts";

/** What an expression may name; absent where a name has no value at its place. */
export type CelBindings = {
  readonly row?: JsonObject | undefined;
  readonly params?: JsonObject | undefined;
  readonly input?: JsonObject | undefined;
  /** Sizes of sets by name. */
  readonly rows?: JsonObject | undefined;
  /** Values of steps by id; only scalars are ever taken. */
  readonly steps?: JsonObject | undefined;
};

/**
 * The outcome of one evaluation: the answer, or why there is none, as a sentence without values. `isTooExpensive`: it was stopped,
 * or not begun, since it takes more than one evaluation may.
 */
export type CelOutcome = { readonly value: boolean } | { readonly error: string; readonly isTooExpensive?: boolean };

/** An expression, ready to run. */
export type CompiledExpression = {
  /** The most steps (cost.ts) that evaluating it with these values takes, found in a small part of that time. */
  bound(bindings: CelBindings): number;
  /** Evaluates it, synchronously. What asks for more than 50 million steps is stopped. */
  evaluate(bindings: CelBindings): CelOutcome;
};

/** Steps that one evaluation may take: half a second at worst, some tens of milliseconds as a rule. */
const evaluationStepsMax = 50_000_000;

const tooExpensive: CelOutcome = {
  error: "takes more than one evaluation may: long texts, patterns and lists multiply",
  isTooExpensive: true,
};

/** An expression by its source. An evaluation fails that walks through a list of more than 1,000 items. Never throws. */
export function compileSource(source: string): CompiledExpression {
  const parsed = parseExpression(source);
  if ("fault" in parsed) return { bound: () => 0, evaluate: () => ({ error: parsed.fault }) };
  const { tree } = parsed;
  const run = plan(meteredEnv, tree);
  const ranges = rangesOf(tree).map((range) => plan(meteredEnv, range));
  const evaluate = (values: Readonly<Record<string, CelInput>>): CelOutcome => {
    for (const range of ranges) {
      const list = range(values);
      if (!isCelError(list) && sizeOf(list) > celLimits.listItems) {
        return { error: `walks through a list of more than ${celLimits.listItems} items` };
      }
    }
    const value = run(values);
    if (isCelError(value)) return { error: describeCelError(value.message) };
    if (typeof value !== "boolean") return { error: "is not true or false" };
    return { value };
  };
  return {
    bound: boundOf(tree),
    evaluate(bindings) {
      const { value, isOver } = metered(evaluationStepsMax, () => evaluate(mapsOf(bindings)));
      return isOver ? tooExpensive : value;
    },
  };
}

const maps = new WeakMap<JsonObject, CelInput>();

const names = ["row", "params", "input", "rows", "steps"] as const satisfies readonly (keyof CelBindings)[];

/** The names as maps: the evaluator would make one of an object each time that it is named. */
function mapsOf(bindings: CelBindings): Readonly<Record<string, CelInput>> {
  const values: Record<string, CelInput> = {};
  for (const name of names) {
    const object = bindings[name];
    if (object !== undefined) values[name] = mapOf(object);
  }
  return values;
}

function mapOf(object: JsonObject): CelInput {
  const known = maps.get(object);
  if (known !== undefined) return known;
  const made = celMap(new Map(Object.entries(withCelNumbers(object))) as ReadonlyMap<string, CelInput>);
  maps.set(object, made);
  return made;
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
