import type { CelBindings, CelRow } from "./expression.ts";

/**
 * Message that asks a thread to evaluate one expression for several rows. It contains JSON text, because a structured clone would lose
 * digits of large integers. `asks`: `truth` for a condition, `value` for an expression that computes a value.
 */
export type RowBatch = {
  readonly source: string;
  readonly asks: "truth" | "value";
  readonly bindings: CelBindings;
  readonly rows: readonly CelRow[];
};
