import { parseExactJson, type ThreadPool, ThreadStoppedError, type Work } from "@svc/core";
import type { JsonValue } from "../json.ts";
import type { Expression } from "../template.ts";
import type { RowBatch } from "./batch.ts";
import type { CelFailure, CelOutcome } from "./evaluation.ts";
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
  /** The value that an expression computes; `row` where it may name one. */
  compute(expression: Expression, bindings: CelBindings, row: CelRow, work: Work): Promise<CelComputed>;
  /** The values that an expression computes for rows, as `testRows` has outcomes. */
  computeRows(
    expression: Expression,
    rows: readonly CelRow[],
    bindings: CelBindings,
    run: { readonly work: Work; readonly isDue: () => boolean },
  ): Promise<readonly CelComputed[]>;
};

/** A value that was computed, or why there is none, as a sentence without values. */
export type CelComputed = { readonly value: JsonValue } | CelFailure;

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
  /** One of the two ways to run an expression, over rows. */
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

const stopped: readonly CelFailure[] = [
  { error: "took more time or memory than an evaluation may", isTooExpensive: true },
];

/** What the thread answers is what the batch asks for. */
async function runInThread(pool: ThreadPool, batch: RowBatch, { owner, run }: Work): Promise<unknown> {
  const message = run(() => JSON.stringify(batch));
  try {
    return await pool.run({ projectId: owner.projectId, message, cpuMsMax: batchCpuMsMax });
  } catch (error) {
    if (error instanceof ThreadStoppedError && error.reason !== "closed") return stopped;
    throw error;
  }
}

/** Those of its values that expressions may name: whoever has more hands none of it on. */
function bindingsOf({ params, input, rows, steps, calls, output, fire, event, now }: CelBindings): CelBindings {
  return { params, input, rows, steps, calls, output, fire, event, now };
}
