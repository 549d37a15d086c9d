import { parseExactJson, type ThreadPool, ThreadStoppedError, type Work } from "@svc/core";
import type { JsonValue } from "../json.ts";
import type { Expression } from "../template.ts";
import type { RowBatch } from "./batch.ts";
import type { CelFailure, CelOutcome } from "./evaluation.ts";
import { type CelBindings, type CelRow, type CompiledExpression, compileSource } from "./expression.ts";
import { extentOf } from "./extent.ts";

/** Evaluates the expressions of checked programs. All such evaluations go through this type. */
export type Evaluator = {
  /** Evaluates a condition and returns its outcome. `row`: the current row, if the condition may use it. */
  test(expression: Expression, bindings: CelBindings, work: Work, row?: CelRow): Promise<CelOutcome>;
  /**
   * Evaluates a condition for rows and returns the outcomes in order. Stops after the first failure. Also stops, but not before the first
   * outcome, when `isDue` returns true because the caller wants the outcomes now.
   */
  testRows(
    expression: Expression,
    rows: readonly CelRow[],
    bindings: CelBindings,
    run: { readonly work: Work; readonly isDue: () => boolean },
  ): Promise<readonly CelOutcome[]>;
  /** Evaluates an expression and returns its value. `row`: the current row, if the expression may use it. */
  compute(expression: Expression, bindings: CelBindings, row: CelRow, work: Work): Promise<CelComputed>;
  /**
   * Returns the values of an expression for the rows, in order. Stops after the first failure. Also stops, but not before the first value,
   * when `isDue` returns true because the caller wants the values now.
   */
  computeRows(
    expression: Expression,
    rows: readonly CelRow[],
    bindings: CelBindings,
    run: { readonly work: Work; readonly isDue: () => boolean },
  ): Promise<readonly CelComputed[]>;
};

/** A computed value, or the reason why the expression has no value. */
export type CelComputed = { readonly value: JsonValue } | CelFailure;

/**
 * Maximum evaluation steps (units of work) of an expression that runs on the event loop: 5 ms at worst. Comparisons and lists of some
 * hundred items need far fewer steps, and sending them to a thread would take longer than running them.
 */
export const inlineStepsMax = 500_000;

/** Number of rows for which one function call computes the cost of an evaluation. One call for each row would take longer. */
const rowsAtOnce = 20;

/**
 * Approximate limits of one message with rows to a worker thread that evaluates expressions. `rows`: number of rows. `total`: their size
 * (see `Extent`). `steps`: their evaluation steps (units of work).
 */
const batchMax = { rows: 100, total: 50_000, steps: 50_000_000 };

/** Address of the module that each evaluation thread runs. */
export const evaluationThread = new URL("./evaluation-thread.ts", import.meta.url);

/**
 * Maximum CPU time of a thread for one batch of rows, in milliseconds. A batch within its limit of evaluation steps needs only a fraction
 * of this time.
 */
const batchCpuMsMax = 5_000;

/**
 * Creates an evaluator of expressions. An expression that needs few evaluation steps (units of work) runs on the event loop, in short time
 * slices. Any other expression runs in a thread of the pool, where it can be stopped. Without a pool, all expressions run on the event
 * loop, and only the limit on evaluation steps stops them.
 */
export function createEvaluator(pool: ThreadPool | undefined): Evaluator {
  const compiled = new WeakMap<Expression, CompiledExpression>();
  const compile = (expression: Expression): CompiledExpression => {
    const known = compiled.get(expression);
    if (known !== undefined) return known;
    const made = compileSource(expression.source);
    compiled.set(expression, made);
    return made;
  };
  /**
   * Evaluates an expression for several rows. Cheap rows are evaluated on the event loop. Expensive rows are evaluated in a thread of the
   * pool, if there is one. Returns the results in the order of the rows.
   */
  const runRows = async <T extends object>(
    { expression, rows, bindings, asks }: Asked,
    run: (compiled: CompiledExpression) => Running<T>,
    { work, isDue }: { readonly work: Work; readonly isDue: () => boolean },
  ): Promise<readonly (T | CelFailure)[]> => {
    const compiledExpression = compile(expression);
    const { bound } = compiledExpression;
    const evaluate = run(compiledExpression);
    const outcomes: (T | CelFailure)[] = [];
    let isLast = rows.length === 0;
    /**
     * Evaluates rows on the event loop as long as they are cheap. Returns the rows from the first expensive one on, which must be evaluated
     * in a separate thread. Returns an empty list if all rows are cheap.
     */
    const slice = (): readonly CelRow[] => {
      do {
        const some = rows.slice(outcomes.length, outcomes.length + rowsAtOnce);
        const stepsOfAny = bound(bindings, some);
        // The cost of these rows together is high, so at least one is expensive. The cost of the first row is now computed by itself, to
        // find out if it is the expensive one.
        const next = stepsOfAny > inlineStepsMax ? some.slice(0, 1) : some;
        const steps = next.length === some.length ? stepsOfAny : bound(bindings, next);
        if (steps > inlineStepsMax && pool !== undefined) return batchOf(rows, outcomes.length, steps);
        const answered = evaluate(bindings, next, work.isSliceOver);
        work.charge({ steps: answered.length * Math.min(steps, inlineStepsMax) });
        outcomes.push(...answered);
        isLast = outcomes.length === rows.length || "error" in (outcomes.at(-1) ?? {});
      } while (!isLast && !work.isSliceOver());
      return [];
    };
    while (!isLast) {
      const batch = work.run(slice);
      if (batch.length > 0 && pool !== undefined) {
        const sent: RowBatch = { source: expression.source, asks, bindings: bindingsOf(bindings), rows: batch };
        outcomes.push(...((await runInThread(pool, sent, work)) as readonly (T | CelFailure)[]));
        isLast = outcomes.length === rows.length || "error" in (outcomes.at(-1) ?? {});
      }
      if (isLast || (outcomes.length > 0 && isDue())) break;
      if (work.isSliceOver()) await work.turn();
    }
    return outcomes;
  };
  const testRows: Evaluator["testRows"] = (expression, rows, bindings, run) =>
    runRows({ expression, rows, bindings, asks: "truth" }, ({ evaluate }) => evaluate, run);
  const computeRows: Evaluator["computeRows"] = async (expression, rows, bindings, run) => {
    const texts = await runRows({ expression, rows, bindings, asks: "value" }, ({ compute }) => compute, run);
    return texts.map((computed) =>
      "text" in computed ? { value: parseExactJson(computed.text) as JsonValue } : computed,
    );
  };
  return {
    testRows,
    computeRows,
    async test(expression, bindings, work, row = null) {
      const [outcome] = await testRows(expression, [row], bindings, { work, isDue: () => false });
      return outcome ?? notEvaluated;
    },
    async compute(expression, bindings, row, work) {
      const [outcome] = await computeRows(expression, [row], bindings, { work, isDue: () => false });
      return outcome ?? notEvaluated;
    },
  };
}

const notEvaluated: CelFailure = { error: "was not evaluated" };

type Asked = Pick<RowBatch, "rows" | "bindings" | "asks"> & { readonly expression: Expression };

type Running<T> = (
  bindings: CelBindings,
  rows: readonly CelRow[],
  isOver: () => boolean,
) => readonly (T | CelFailure)[];

/**
 * Returns the rows for one message to a thread, from index `from` on. It takes as many rows as the limits of number, size and steps allow,
 * at least one.
 */
function batchOf(rows: readonly CelRow[], from: number, stepsOfOne: number): readonly CelRow[] {
  const countMax = Math.max(1, Math.min(batchMax.rows, Math.floor(batchMax.steps / stepsOfOne)));
  let total = 0;
  let count = 0;
  while (count < countMax && from + count < rows.length && total < batchMax.total) {
    total += extentOf(rows[from + count]).total;
    count++;
  }
  return rows.slice(from, from + Math.max(1, count));
}

const stopped: readonly CelFailure[] = [
  { error: "took more time or memory than an evaluation may use", isTooExpensive: true },
];

/** Sends a batch of rows to a thread. Returns outcomes of a condition or computed values, as the batch requests. */
async function runInThread(pool: ThreadPool, batch: RowBatch, { owner, run }: Work): Promise<unknown> {
  const message = run(() => JSON.stringify(batch));
  try {
    return await pool.run({ projectId: owner.projectId, message, cpuMsMax: batchCpuMsMax });
  } catch (error) {
    if (error instanceof ThreadStoppedError && error.reason !== "closed") return stopped;
    throw error;
  }
}

/** Returns a copy that has only the values that expressions may use. Other fields of the caller's object are left out. */
function bindingsOf({ params, input, rows, steps, calls, output, fire, event, now }: CelBindings): CelBindings {
  return { params, input, rows, steps, calls, output, fire, event, now };
}
