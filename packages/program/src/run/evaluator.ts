import { type ThreadPool, ThreadStoppedError, type Work } from "@svc/core";
import type { Expression } from "../template.ts";
import type { Batch } from "./batch.ts";
import type { CelOutcome } from "./evaluation.ts";
import { type CelBindings, type CelRow, type CompiledExpression, compileSource } from "./expression.ts";
import { extentOf } from "./extent.ts";

/** Evaluates expressions of checked programs. Everything that evaluates one does it here. */
export type Evaluator = {
  /** The outcome of a condition, of a row where it is about one. */
  test(expression: Expression, bindings: CelBindings, work: Work, row?: CelRow): Promise<CelOutcome>;
  /**
   * The outcomes for rows, in their order, up to the first that is no answer. When it takes long and `isDue` says so, fewer: at
   * least one, the others being for another time.
   */
  testRows(
    expression: Expression,
    rows: readonly CelRow[],
    bindings: CelBindings,
    run: { readonly work: Work; readonly isDue: () => boolean },
  ): Promise<readonly CelOutcome[]>;
};

/**
 * Steps, found before, up to which an expression is evaluated on the event loop: 5 ms at worst. A comparison, a pattern over a short
 * text and a list of some hundred items are far below; a thread costs them more than they take.
 */
export const inlineStepsMax = 500_000;

/** Rows that are bounded and evaluated together on the event loop: what each of them takes is little beside being asked for. */
const rowsAtOnce = 20;

/** What goes to a thread at once: rows, their size as of Extent's total, and steps, about. */
const batchMax = { rows: 100, total: 50_000, steps: 50_000_000 };

/** What the threads of an evaluator's pool run. */
export const evaluationThread = new URL("./evaluation-thread.ts", import.meta.url);

/** CPU time of a thread for one batch: what the steps foresee several times over. */
const batchCpuMsMax = 5_000;

/**
 * Makes an evaluator. An expression whose bound for the values at hand is small runs where it is asked for, in slices; any other
 * runs in a thread of the pool, where it can be stopped. Without a pool all run on the loop, stopped by their steps alone.
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
  const testRows: Evaluator["testRows"] = async (expression, rows, bindings, { work, isDue }) => {
    const { bound, evaluate } = compile(expression);
    const outcomes: CelOutcome[] = [];
    const isLast = () => outcomes.length === rows.length || "error" in (outcomes.at(-1) ?? {});
    /** Evaluates while it is cheap; answers rows for the pool where the next one is not. */
    const slice = (): readonly CelRow[] => {
      do {
        const some = rows.slice(outcomes.length, outcomes.length + rowsAtOnce);
        const stepsOfAny = bound(bindings, some);
        // Where one of them is expensive, the first is looked at alone.
        const next = stepsOfAny > inlineStepsMax ? some.slice(0, 1) : some;
        const steps = next.length === some.length ? stepsOfAny : bound(bindings, next);
        if (steps > inlineStepsMax && pool !== undefined) return batchOf(rows, outcomes.length, steps);
        const answered = evaluate(bindings, next, work.isSliceOver);
        work.charge({ steps: answered.length * Math.min(steps, inlineStepsMax) });
        outcomes.push(...answered);
      } while (!isLast() && !work.isSliceOver());
      return [];
    };
    while (!isLast()) {
      const batch = work.run(slice);
      if (batch.length > 0 && pool !== undefined) {
        outcomes.push(...(await testInThread(pool, { source: expression.source, bindings, rows: batch }, work)));
      }
      if (isLast() || (outcomes.length > 0 && isDue())) break;
      if (work.isSliceOver()) await work.turn();
    }
    return outcomes;
  };
  return {
    testRows,
    async test(expression, bindings, work, row = null) {
      const [outcome] = await testRows(expression, [row], bindings, { work, isDue: () => false });
      return outcome ?? { error: "was not evaluated" };
    },
  };
}

/** Rows from one on that are worth a message together: as far as their number, size and steps allow, at least the one. */
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

const stopped: readonly CelOutcome[] = [
  { error: "took more time or memory than an evaluation may", isTooExpensive: true },
];

async function testInThread(
  pool: ThreadPool,
  { source, bindings: { params, input, rows: sets, steps, calls }, rows }: Batch,
  { owner, run }: Work,
): Promise<readonly CelOutcome[]> {
  const batch: Batch = { source, bindings: { params, input, rows: sets, steps, calls }, rows };
  const message = run(() => JSON.stringify(batch));
  try {
    const task = { projectId: owner.projectId, message, cpuMsMax: batchCpuMsMax };
    return (await pool.run(task)) as readonly CelOutcome[];
  } catch (error) {
    if (error instanceof ThreadStoppedError && error.reason !== "closed") return stopped;
    throw error;
  }
}
