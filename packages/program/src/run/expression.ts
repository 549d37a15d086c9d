import type { JsonObject } from "../json.ts";
import { parseExpression } from "../read/cel-syntax.ts";
import { celRows, celValues } from "./cel-values.ts";
import { boundOf } from "./cost.ts";
import { type CelOutcome, evaluationOf } from "./evaluation.ts";

/** A row, or null for the one evaluation of a condition, which has none. */
export type CelRow = JsonObject | null;

/** What an expression may name beside `row`; absent where a name has no value at its place. */
export type CelBindings = {
  readonly params?: JsonObject | undefined;
  readonly input?: JsonObject | undefined;
  /** Sizes of sets by name. */
  readonly rows?: JsonObject | undefined;
  /** Values of steps by id; only scalars are ever taken. */
  readonly steps?: JsonObject | undefined;
  /** Answers of the earlier calls of a map's row, by id. */
  readonly calls?: JsonObject | undefined;
};

/** An expression, ready to run. */
export type CompiledExpression = {
  /** The most steps (cost.ts) that evaluating it for any one of these rows takes, found in a small part of that time. */
  bound(bindings: CelBindings, rows: readonly CelRow[]): number;
  /** Its outcomes for rows, synchronously, up to the first that is no answer or after which `isOver`: for one row at least. */
  evaluate(bindings: CelBindings, rows: readonly CelRow[], isOver?: () => boolean): readonly CelOutcome[];
};

/** An expression by its source. Never throws. */
export function compileSource(source: string): CompiledExpression {
  const parsed = parseExpression(source);
  if ("fault" in parsed) return { bound: () => 0, evaluate: () => [{ error: parsed.fault }] };
  const { tree } = parsed;
  const evaluation = evaluationOf(tree);
  return {
    bound: boundOf(tree),
    evaluate(bindings, rows, isOver = () => false) {
      return evaluation(celRows(celValues(bindings), rows, isOver), isOver);
    },
  };
}
