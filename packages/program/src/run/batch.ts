import type { CelBindings, CelRow } from "./expression.ts";

/**
 * An expression and the rows that a thread evaluates it for, on its way there as JSON text: that keeps integers which only a text
 * holds exactly, and a structured clone does not. What it computes comes back as JSON text for the same reason.
 */
export type RowBatch = {
  readonly source: string;
  readonly asks: "truth" | "value";
  readonly bindings: CelBindings;
  readonly rows: readonly CelRow[];
};
