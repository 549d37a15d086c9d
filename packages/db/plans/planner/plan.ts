import type { Executor } from "../../src/connect.ts";
import type { Statistics } from "./seed.ts";

/** Sends the statements of a plan; others may be sent with them. */
type Run = (executor: Executor) => Promise<unknown>;

/** Rules of a plan that its recording does not hold. */
type PlanOptions = {
  /**
   * The statistics it must be planned well with, by default all of them. What only people ask for, a page at a time, needs fresh
   * ones.
   */
  readonly statistics?: readonly Statistics[];
  /** By table: maximum rows that are read, when it is run with fresh statistics. */
  readonly rowsMax?: Readonly<Record<string, number>>;
  /** True if it takes seconds on tables without statistics: the run ends with the statement, which is not executed. */
  readonly isSlow?: boolean;
  /** Tables that it may read as a whole, beside those that are small. */
  readonly wholeReads?: readonly string[];
};

/** What a run sends, and how it must be planned. */
export type Plan = PlanOptions & { readonly names: readonly string[]; readonly run: Run };

/** The plans of all files that were imported. */
export const plans: Plan[] = [];

/**
 * Declares the plan of what a run sends. A name of a statement, up to a comma, is of that statement; another name is of all queries
 * of the query builder that the run sends.
 */
export function plan(names: string | readonly string[], run: Run, options: PlanOptions = {}): void {
  plans.push({ names: [names].flat(), run, ...options });
}
