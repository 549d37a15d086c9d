import type { Executor } from "../../src/connect.ts";
import type { Statistics } from "./seed.ts";

/** Sends the statements of a plan, and possibly others. */
type Run = (executor: Executor) => Promise<unknown>;

/** Rules of a plan that are not in its recording. */
type PlanOptions = {
  /** Statistics with which it must be planned well; by default all. Pages that only people request need fresh ones. */
  readonly statistics?: readonly Statistics[];
  /** By table: maximum rows that are read, when it is run with fresh statistics. */
  readonly rowsMax?: Readonly<Record<string, number>>;
  /** True if it takes seconds on tables without statistics: the run ends with the statement, which is not executed. */
  readonly isSlow?: boolean;
  /** Tables that it may read completely, in addition to small ones. */
  readonly wholeReads?: readonly string[];
};

/** Statements to send, and the rules of their plans. */
export type Plan = PlanOptions & { readonly names: readonly string[]; readonly run: Run };

/** The plans of all imported files. */
export const plans: Plan[] = [];

/**
 * Declares the plan of a run's statements. A name up to its comma names a statement; any other name stands for all queries of the query
 * builder in the run.
 */
export function plan(names: string | readonly string[], run: Run, options: PlanOptions = {}): void {
  plans.push({ names: [names].flat(), run, ...options });
}
