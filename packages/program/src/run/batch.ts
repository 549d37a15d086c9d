import { parseExactJson } from "@svc/core/exact-json";
import type { JsonObject } from "../json.ts";
import { type CelBindings, type CelOutcome, type CompiledExpression, compileSource } from "./expression.ts";

/** A row, or null for the one evaluation of a condition, which has none. */
export type BatchRow = JsonObject | null;

/**
 * An expression and the rows that a thread evaluates it for, on its way there as JSON text: that keeps integers which only a text
 * holds exactly, and a structured clone does not.
 */
export type Batch = {
  readonly source: string;
  readonly bindings: Omit<CelBindings, "row">;
  readonly rows: readonly BatchRow[];
};

// It was written by JSON.stringify: its depth is bounded already.
const unbounded = { depthMax: Number.POSITIVE_INFINITY };

const sourcesMax = 200;
const sources = new Map<string, CompiledExpression>();

/** What a thread does with a batch: outcomes up to the first that is no answer. Imports little: a thread is to start quickly. */
export function testBatch(message: unknown): readonly CelOutcome[] {
  if (typeof message !== "string") throw new Error("a thread was sent something that is no batch");
  const { source, bindings, rows } = parseExactJson(message, unbounded) as Batch;
  const compiled = sources.get(source) ?? compileSource(source);
  if (sources.size >= sourcesMax) sources.clear();
  sources.set(source, compiled);
  const outcomes: CelOutcome[] = [];
  for (const row of rows) {
    const outcome = compiled.evaluate(row === null ? bindings : { ...bindings, row });
    outcomes.push(outcome);
    if ("error" in outcome) break;
  }
  return outcomes;
}
