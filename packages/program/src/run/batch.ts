import { parseExactJson } from "@svc/core/exact-json";
import type { CelOutcome, ComputedText } from "./evaluation.ts";
import { type CelBindings, type CelRow, type CompiledExpression, compileSource } from "./expression.ts";

/**
 * An expression and the rows that a thread evaluates it for, on its way there as JSON text: that keeps integers which only a text
 * holds exactly, and a structured clone does not. What it computes comes back as JSON text for the same reason.
 */
export type Batch = {
  readonly source: string;
  readonly asks: "truth" | "value";
  readonly bindings: CelBindings;
  readonly rows: readonly CelRow[];
};

// It was written by JSON.stringify: its depth is bounded already.
const unbounded = { depthMax: Number.POSITIVE_INFINITY };

const sourcesMax = 200;
const sources = new Map<string, CompiledExpression>();

/** What a thread does with a batch: outcomes up to the first that is no answer. Imports little: a thread is to start quickly. */
export function testBatch(message: unknown): readonly (CelOutcome | ComputedText)[] {
  if (typeof message !== "string") throw new Error("a thread was sent something that is no batch");
  const { source, asks, bindings, rows } = parseExactJson(message, unbounded) as Batch;
  const compiled = sources.get(source) ?? compileSource(source);
  if (sources.size >= sourcesMax) sources.clear();
  sources.set(source, compiled);
  return asks === "truth" ? compiled.evaluate(bindings, rows) : compiled.compute(bindings, rows);
}
