import type { Executor } from "../../src/connect.ts";
import type { Statistics } from "./seed.ts";

/** Sends the statements whose plan is recorded. It may also send other statements. */
type Run = (executor: Executor) => Promise<unknown>;

/** Requirements for a query plan that are checked in addition to the comparison with its recorded text (plans.snap). */
type PlanOptions = {
  /** States of the statistics for which the plan must be good. Default: all. Pages that only people request need only fresh statistics. */
  readonly statistics?: readonly Statistics[];
  /** Table name and the maximum number of rows that the statement may read from it, when it runs with fresh statistics. */
  readonly rowsMax?: Readonly<Record<string, number>>;
  /** True if the statement takes seconds on tables without statistics. Then it is planned and not executed. */
  readonly isSlow?: boolean;
  /** Tables that the statement of this query plan may read completely, in addition to small tables. */
  readonly wholeReads?: readonly string[];
};

/**
 * Rules for the query plans that PostgreSQL makes for some statements. `names`: the names of the statements. `run`: a function that sends
 * them, so that their plans can be checked.
 */
export type Plan = PlanOptions & { readonly names: readonly string[]; readonly run: Run };

/** The expected query plans that the imported files have declared by calling `plan`. */
export const plans: Plan[] = [];

/**
 * Declares the expected query plan of the statements that `run` sends. A name is that of a statement, with an optional remark after a
 * comma. A name that no statement has covers all queries that the query builder sends in `run`.
 */
export function plan(names: string | readonly string[], run: Run, options: PlanOptions = {}): void {
  plans.push({ names: [names].flat(), run, ...options });
}
