import type { CelValue } from "@bufbuild/cel";
import type { JsonObject, JsonValue } from "../json.ts";
import { parseExpression } from "../read/cel-calls.ts";
import { type CelValues, celRows, celValues, jsonOfCel } from "./cel-values.ts";
import { celTime } from "./conversions.ts";
import { boundOf } from "./cost.ts";
import { type CelFailure, type CelOutcome, type ComputedText, evaluationOf } from "./evaluation.ts";

/** A row, or null for the single evaluation of a condition without a row. */
export type CelRow = JsonObject | null;

/** The names of an expression besides `row`. A name without a value is absent. Nothing in it changes afterwards. */
export type CelBindings = {
  readonly params?: JsonObject | undefined;
  readonly input?: JsonObject | undefined;
  /** Sizes of sets by name. */
  readonly rows?: JsonObject | undefined;
  /** Values of steps by id. Only scalars are used. */
  readonly steps?: JsonObject | undefined;
  /** Answers of earlier calls of the same map's row, by id. */
  readonly calls?: JsonObject | undefined;
  /** The answer of the call to undo. */
  readonly output?: JsonValue | undefined;
  /** The start of a standing program: its time, and an event. */
  readonly fire?: JsonObject | undefined;
  readonly event?: JsonObject | undefined;
  /** Epoch milliseconds. */
  readonly now?: number | undefined;
};

/** An expression that is ready to run. */
export type CompiledExpression = {
  /** Returns the most steps (cost.ts) for any one of these rows, computed in a small part of that time. */
  bound(bindings: CelBindings, rows: readonly CelRow[]): number;
  /** Returns its outcomes for rows, synchronously, up to the first without an answer or until `isOver`: for at least one row. */
  evaluate(bindings: CelBindings, rows: readonly CelRow[], isOver?: () => boolean): readonly CelOutcome[];
  /** Returns its values for rows, in the way of `evaluate`. */
  compute(bindings: CelBindings, rows: readonly CelRow[], isOver?: () => boolean): readonly ComputedText[];
};

/** Compiles the source of an expression. Never throws. */
export function compileSource(source: string): CompiledExpression {
  const parsed = parseExpression(source);
  if ("fault" in parsed) {
    const failed: readonly CelFailure[] = [{ error: parsed.fault }];
    return { bound: () => 0, evaluate: () => failed, compute: () => failed };
  }
  const { tree } = parsed;
  // An expression is a condition or computes a value. Each use is planned when first needed.
  let evaluation: ReturnType<typeof evaluationOf<Exclude<CelOutcome, CelFailure>>> | undefined;
  let computation: ReturnType<typeof evaluationOf<Exclude<ComputedText, CelFailure>>> | undefined;
  return {
    bound: boundOf(tree),
    evaluate(bindings, rows, isOver = () => false) {
      const each = rowsOf(bindings, rows, isOver);
      evaluation ??= evaluationOf(tree, truthOf);
      return evaluation(each, isOver);
    },
    compute(bindings, rows, isOver = () => false) {
      const each = rowsOf(bindings, rows, isOver);
      computation ??= evaluationOf(tree, jsonOfCel);
      return computation(each, isOver);
    },
  };
}

function rowsOf(
  { params, input, rows, steps, calls, output, fire, event, now }: CelBindings,
  each: readonly CelRow[],
  isOver: () => boolean,
): readonly CelValues[] {
  const given = { params, input, rows, steps, calls, output, fire, event };
  const values = celValues(given);
  return celRows(now === undefined ? values : { ...values, now: celTime(now) }, Object.values(given), each, isOver);
}

/** Returns the answer of a condition. */
function truthOf(value: CelValue): CelOutcome {
  return typeof value === "boolean" ? { value } : { error: "is not true or false" };
}
