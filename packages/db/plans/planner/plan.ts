import type { Executor } from "../../src/connect.ts";
import type { Statistics } from "./seed.ts";

/**
 * Function that sends the statements whose query plans are recorded. Statements that it sends in addition, for example to prepare data, are
 * ignored.
 */
type Run = (executor: Executor) => Promise<unknown>;

/** Requirements for a query plan that are checked in addition to the comparison with its recorded text (plans.snap). */
type PlanOptions = {
  /** States of the statistics for which the plan must be good. Default: all. Pages that only people request need only fresh statistics. */
  readonly statistics?: readonly Statistics[];
  /** Maximum number of rows that the statement may read from each of these tables, by table name. It is checked with fresh statistics. */
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
 * Declares statements whose query plans are recorded and checked. `run`: sends the statements. `names`: the names of the statements; a
 * remark may follow a name after a comma. A text that is not the name of a statement stands for all unnamed queries that `run` sends.
 */
export function plan(names: string | readonly string[], run: Run, options: PlanOptions = {}): void {
  plans.push({ names: [names].flat(), run, ...options });
}
