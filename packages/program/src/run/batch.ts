import type { CelBindings, CelRow } from "./expression.ts";

/**
 * A batch for a thread: an expression, and the rows with which to evaluate it. Rows and computed values are sent as JSON text, because a
 * structured clone would lose digits of large integers.
 */
export type RowBatch = {
  readonly source: string;
  readonly asks: "truth" | "value";
  readonly bindings: CelBindings;
  readonly rows: readonly CelRow[];
};
