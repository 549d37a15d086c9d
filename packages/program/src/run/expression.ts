import type { CelValue } from "@bufbuild/cel";
import type { JsonObject, JsonValue } from "../json.ts";
import { parseExpression } from "../read/cel-calls.ts";
import { type CelValues, celRows, celValues, jsonOfCel } from "./cel-values.ts";
import { celTime } from "./conversions.ts";
import { boundOf } from "./cost.ts";
import { type CelFailure, type CelOutcome, type ComputedText, evaluationOf } from "./evaluation.ts";

/** A row, or null for the one evaluation of a condition, which has none. */
export type CelRow = JsonObject | null;

/** What an expression may name beside `row`; absent where a name has no value at its place. Nothing of it is changed afterwards. */
export type CelBindings = {
  readonly params?: JsonObject | undefined;
  readonly input?: JsonObject | undefined;
  /** Sizes of sets by name. */
  readonly rows?: JsonObject | undefined;
  /** Values of steps by id; only scalars are ever taken. */
  readonly steps?: JsonObject | undefined;
  /** Answers of the earlier calls of the same map's row, by id. */
  readonly calls?: JsonObject | undefined;
  /** The answer of the call that is undone. */
  readonly output?: JsonValue | undefined;
  /** What starts a standing program: its time, and an event. */
  readonly fire?: JsonObject | undefined;
  readonly event?: JsonObject | undefined;
  /** Epoch milliseconds. */
  readonly now?: number | undefined;
};

/** An expression, ready to run. */
export type CompiledExpression = {
  /** The most steps (cost.ts) that evaluating it for any one of these rows takes, found in a small part of that time. */
  bound(bindings: CelBindings, rows: readonly CelRow[]): number;
  /** Its outcomes for rows, synchronously, up to the first that is no answer or after which `isOver`: for one row at least. */
  evaluate(bindings: CelBindings, rows: readonly CelRow[], isOver?: () => boolean): readonly CelOutcome[];
  /** What it computes for rows, as `evaluate` has it. */
  compute(bindings: CelBindings, rows: readonly CelRow[], isOver?: () => boolean): readonly ComputedText[];
};

/** An expression by its source. Never throws. */
export function compileSource(source: string): CompiledExpression {
  const parsed = parseExpression(source);
  if ("fault" in parsed) {
    const failed: readonly CelFailure[] = [{ error: parsed.fault }];
    return { bound: () => 0, evaluate: () => failed, compute: () => failed };
  }
  const { tree } = parsed;
  // An expression is a condition or computes a value: it is planned for what it is asked for.
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

/** The answer of a condition. */
function truthOf(value: CelValue): CelOutcome {
  return typeof value === "boolean" ? { value } : { error: "is not true or false" };
}
