import type { CelBindings, CelRow } from "./expression.ts";

/**
 * Data that is sent to a thread: an expression, and the rows for which it is evaluated. Rows and computed values are sent as JSON text,
 * because a structured clone would lose digits of large integers.
 */
export type RowBatch = {
  readonly source: string;
  readonly asks: "truth" | "value";
  readonly bindings: CelBindings;
  readonly rows: readonly CelRow[];
};
