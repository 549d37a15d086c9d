import { parseExactJson } from "@svc/core/exact-json";
import { serveTasks } from "@svc/core/thread";
import type { RowBatch } from "./batch.ts";
import type { CelOutcome, ComputedText } from "./evaluation.ts";
import { type CompiledExpression, compileSource } from "./expression.ts";

// JSON.stringify wrote it, so its depth is limited already.
const unbounded = { depthMax: Number.POSITIVE_INFINITY };

const sourcesMax = 200;

const sources = new Map<string, CompiledExpression>();

// The function that a thread of the evaluator's pool runs.
serveTasks(testBatch);

/**
 * Evaluates a batch in a thread: returns outcomes up to the first without an answer. It imports little, so that a thread starts quickly.
 */
function testBatch(message: unknown): readonly (CelOutcome | ComputedText)[] {
  if (typeof message !== "string") throw new Error("a thread was sent something that is no batch");
  const { source, asks, bindings, rows } = parseExactJson(message, unbounded) as RowBatch;
  const compiled = sources.get(source) ?? compileSource(source);
  if (sources.size >= sourcesMax) sources.clear();
  sources.set(source, compiled);
  return asks === "truth" ? compiled.evaluate(bindings, rows) : compiled.compute(bindings, rows);
}
