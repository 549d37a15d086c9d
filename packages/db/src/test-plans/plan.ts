import type { Executor } from "../connect.ts";
import type { Statistics } from "./seed.ts";

/** What a statement reads, by which indexes: asserted whatever the statistics say, planned for its values and for any. */
export type Plan = {
  /** The statement's name; of a query of the query builder, what it is for. */
  readonly name: string;
  /** Which of several runs of the same statement. */
  readonly variant?: string;
  /** Of a run that sends several queries of the query builder: what only the one that is meant has in its text. */
  readonly words?: string | RegExp;
  /** Runs it; other statements may run with it. */
  readonly run: (executor: Executor) => Promise<unknown>;
  /**
   * By table: the index and the columns it is searched by, `jobs_pkey(id)`; where there are several, each is one that may be
   * used, and one of them is. A table that is not named is not read.
   */
  readonly reads: Readonly<Record<string, string | readonly string[]>>;
  /** What may be read as well as `reads` with stale statistics, where a shape that rules it out costs more than it is worth. */
  readonly staleReads?: Readonly<Record<string, string>>;
  /** Rows are given in the index's order: none are sorted. */
  readonly isOrdered?: boolean;
  /**
   * The statistics it must be planned well with; all of them where it is not said. What only people ask for, a page at a time,
   * is planned anew each time and needs fresh ones.
   */
  readonly statistics?: readonly Statistics[];
  /** By table: rows that are read at most, when it is run with fresh statistics. */
  readonly rowsMax?: Readonly<Record<string, number>>;
  /** It takes seconds on tables without statistics, and what it answers is nothing to its plan: it is written, and not run. */
  readonly isSlow?: boolean;
};
