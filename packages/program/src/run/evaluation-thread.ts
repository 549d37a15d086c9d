import { parseExactJson } from "@svc/core/exact-json";
import { serveTasks } from "@svc/core/thread";
import type { RowBatch } from "./batch.ts";
import type { CelOutcome, ComputedText } from "./evaluation.ts";
import { type CompiledExpression, compileSource } from "./expression.ts";

// The depth of the JSON need not be limited here, because the text was written from values whose depth is already limited.
const unbounded = { depthMax: Number.POSITIVE_INFINITY };

const sourcesMax = 200;

const sources = new Map<string, CompiledExpression>();

// Receives the messages of the evaluator's thread pool. Each message is one batch of rows.
serveTasks(testBatch);

/**
 * Evaluates one batch of rows in a thread. Returns the outcomes in the order of the rows. No more rows are evaluated after the first
 * failure. This file has few imports, so that a thread starts quickly.
 */
function testBatch(message: unknown): readonly (CelOutcome | ComputedText)[] {
  if (typeof message !== "string") throw new Error("a thread received a message that is not a batch");
  const { source, asks, bindings, rows } = parseExactJson(message, unbounded) as RowBatch;
  const compiled = sources.get(source) ?? compileSource(source);
  if (sources.size >= sourcesMax) sources.clear();
  sources.set(source, compiled);
  return asks === "truth" ? compiled.evaluate(bindings, rows) : compiled.compute(bindings, rows);
}
