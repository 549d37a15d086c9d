import type { CelBindings, CelRow } from "./expression.ts";

/**
 * An expression and the rows that a thread evaluates, sent as JSON text: unlike a structured clone it keeps integers that only a text holds
 * exactly. Computed values come back as JSON text for the same reason.
 */
export type RowBatch = {
  readonly source: string;
  readonly asks: "truth" | "value";
  readonly bindings: CelBindings;
  readonly rows: readonly CelRow[];
};
