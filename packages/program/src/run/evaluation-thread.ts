import { parseExactJson } from "@svc/core/exact-json";
import { serveTasks } from "@svc/core/thread";
import type { RowBatch } from "./batch.ts";
import type { CelOutcome, ComputedText } from "./evaluation.ts";
import { type CompiledExpression, compileSource } from "./expression.ts";

// No depth limit is needed: JSON.stringify wrote the text from values whose depth is already limited.
const unbounded = { depthMax: Number.POSITIVE_INFINITY };

const sourcesMax = 200;

const sources = new Map<string, CompiledExpression>();

// Serves the evaluator's thread pool: each message is one batch.
serveTasks(testBatch);

/**
 * Evaluates one batch in a thread. Returns the outcomes in the order of the rows. After the first failure, no more rows are evaluated. This
 * file imports little, so that a thread starts quickly.
 */
function testBatch(message: unknown): readonly (CelOutcome | ComputedText)[] {
  if (typeof message !== "string") throw new Error("a thread received a message that is not a batch");
  const { source, asks, bindings, rows } = parseExactJson(message, unbounded) as RowBatch;
  const compiled = sources.get(source) ?? compileSource(source);
  if (sources.size >= sourcesMax) sources.clear();
  sources.set(source, compiled);
  return asks === "truth" ? compiled.evaluate(bindings, rows) : compiled.compute(bindings, rows);
}
