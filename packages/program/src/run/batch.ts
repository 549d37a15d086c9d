import type { CelBindings, CelRow } from "./expression.ts";

/**
 * Message to a thread that evaluates an expression for several rows. The message and the answer contain JSON text, because a structured
 * clone would lose digits of large integers. `asks`: says if the expression is a condition (`truth`) or computes a value.
 */
export type RowBatch = {
  readonly source: string;
  readonly asks: "truth" | "value";
  readonly bindings: CelBindings;
  readonly rows: readonly CelRow[];
};
