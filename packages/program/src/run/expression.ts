import type { CelValue } from "@bufbuild/cel";
import type { JsonObject, JsonValue } from "../json.ts";
import { parseExpression } from "../read/cel-calls.ts";
import { type CelValues, celRows, celValues, jsonOfCel } from "./cel-values.ts";
import { celTime } from "./conversions.ts";
import { boundOf } from "./cost.ts";
import { type CelFailure, type CelOutcome, type ComputedText, evaluationOf } from "./evaluation.ts";

/** The row for which an expression is evaluated. Null if the expression is evaluated only once, and not for each row. */
export type CelRow = JsonObject | null;

/** The values that an expression can use, except `row`. A name without a value is absent. The values must not change afterwards. */
export type CelBindings = {
  readonly params?: JsonObject | undefined;
  readonly input?: JsonObject | undefined;
  /** Number of rows that each step has made, by the step's id. */
  readonly rows?: JsonObject | undefined;
  /**
   * Values of the finished steps, by step id. An expression can use only those texts, numbers and booleans that are inside these values.
   */
  readonly steps?: JsonObject | undefined;
  /** Answers of earlier calls for the same row of a `map` step, by the id of the call. */
  readonly calls?: JsonObject | undefined;
  /** The answer of the call that is being undone. Only expressions in undo calls can use it. */
  readonly output?: JsonValue | undefined;
  /** The event or time that started a standing program (which starts jobs on a schedule or event). */
  readonly fire?: JsonObject | undefined;
  readonly event?: JsonObject | undefined;
  /** The time that `now` means in expressions, in milliseconds since 1970. */
  readonly now?: number | undefined;
};

/** A compiled expression, ready to be evaluated. */
export type CompiledExpression = {
  /**
   * Returns an upper bound of the evaluation steps (units of work, see cost.ts) that the expression needs for any one of these rows.
   * Computing the bound is much faster than the evaluation.
   */
  bound(bindings: CelBindings, rows: readonly CelRow[]): number;
  /**
   * Evaluates a condition for rows, synchronously and in order, and returns the outcomes. No more rows are evaluated after a failure.
   * Evaluates at least one row, and stops when `isOver` returns true.
   */
  evaluate(bindings: CelBindings, rows: readonly CelRow[], isOver?: () => boolean): readonly CelOutcome[];
  /**
   * Computes the expression's values for rows, and returns each as text. Like `evaluate`, it computes at least one row, and stops when
   * `isOver` returns true.
   */
  compute(bindings: CelBindings, rows: readonly CelRow[], isOver?: () => boolean): readonly ComputedText[];
};

/** Compiles an expression. Never throws; a compiled expression with a syntax error fails when it is evaluated. */
export function compileSource(source: string): CompiledExpression {
  const parsed = parseExpression(source);
  if ("fault" in parsed) {
    const failed: readonly CelFailure[] = [{ error: parsed.fault }];
    return { bound: () => 0, evaluate: () => failed, compute: () => failed };
  }
  const { tree } = parsed;
  // An expression is used as a condition or to compute a value. Each use needs its own evaluation function, which is created at its first
  // use.
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

/** Converts the value of a condition to its outcome. Returns an error if the value is not true or false. */
export function truthOf(value: CelValue): CelOutcome {
  return typeof value === "boolean" ? { value } : { error: "is not true or false" };
}
