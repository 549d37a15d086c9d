import { parseExactJson } from "@svc/core/exact-json";
import { serveTasks } from "@svc/core/thread";
import type { RowBatch } from "./batch.ts";
import type { CelOutcome, ComputedText } from "./evaluation.ts";
import { type CompiledExpression, compileSource } from "./expression.ts";

// It was written by JSON.stringify: its depth is bounded already.
const unbounded = { depthMax: Number.POSITIVE_INFINITY };

const sourcesMax = 200;

const sources = new Map<string, CompiledExpression>();

// What a thread of the evaluator's pool runs.
serveTasks(testBatch);

/** What a thread does with a batch: outcomes up to the first that is no answer. Imports little: a thread is to start quickly. */
function testBatch(message: unknown): readonly (CelOutcome | ComputedText)[] {
  if (typeof message !== "string") throw new Error("a thread was sent something that is no batch");
  const { source, asks, bindings, rows } = parseExactJson(message, unbounded) as RowBatch;
  const compiled = sources.get(source) ?? compileSource(source);
  if (sources.size >= sourcesMax) sources.clear();
  sources.set(source, compiled);
  return asks === "truth" ? compiled.evaluate(bindings, rows) : compiled.compute(bindings, rows);
}
