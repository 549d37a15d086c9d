import { repeats } from "@svc/testing/sample";
import type { Database, Executor } from "../../src/connect.ts";
import { explainAll, type PlanMode, type SentStatement, sentBy } from "./explain.ts";

/** A list with optional filters, and test values for each filter. TypeScript requires values for every filter, including a new one. */
export type NarrowedList<Filter extends object> = {
  readonly name: string;
  /** The filter that matches every row. */
  readonly every: Filter;
  readonly values: { readonly [Name in keyof Filter]-?: readonly Filter[Name][] };
  readonly list: (db: Executor, filter: Filter) => Promise<readonly unknown[]>;
  /** Returns true for combinations of filters that may be slow and are not tested. */
  readonly isLeftOut?: (filter: Filter) => boolean;
};

/** Maximum rows that a list may read if no row matches its filters. */
const readMax = 500;

/**
 * Returns the combinations of filters that match no row and still read more rows than the maximum, with the number of rows that each reads.
 */
export async function farReads<Filter extends object>(
  db: Database,
  { name, every, values, list, isLeftOut = () => false }: NarrowedList<Filter>,
): Promise<{ readonly empty: number; readonly far: readonly string[] }> {
  const filters = combinationsOf(every, values).filter((filter) => !isLeftOut(filter));
  const sent: { readonly name: string; readonly statement: SentStatement }[] = [];
  for (const filter of filters) {
    const found: number[] = [];
    const [statement] = await sentBy(db, async (tx) => found.push((await list(tx, filter)).length));
    const given = Object.entries(filter).filter(([key, value]) => value !== every[key as keyof Filter]);
    if (found[0] === 0 && statement !== undefined) {
      sent.push({ name: `${name} ${JSON.stringify(Object.fromEntries(given))}`, statement });
    }
  }
  const counts = await readCounts(
    db,
    sent.map(({ statement }) => statement),
  );
  const far = sent.flatMap((one, place) => {
    const count = counts[place] ?? 0;
    return count < readMax ? [] : [`${one.name} reads ${count} rows`];
  });
  return { empty: sent.length, far };
}

/**
 * Ways to plan each statement: the kind of plan, and the value of the setting `random_page_cost`. The full test tries all ways; the short
 * test tries the first.
 */
const ways: readonly (readonly [mode: PlanMode, randomPageCost: number])[] = [
  // 1.1 is for flash disks. Nodes use a generic plan with this value (`connect.ts`). 4 is PostgreSQL's default.
  ["generic", 1.1],
  ["generic", 4],
  ["custom", 1.1],
  ["custom", 4],
];
const waysTried = ways.slice(0, repeats({ sample: 1, whole: 4 }));

/** Returns the number of rows that each statement reads. It is the highest number over all ways to plan the statement. */
async function readCounts(db: Database, statements: readonly SentStatement[]): Promise<number[]> {
  const most = statements.map(() => 0);
  for (const [mode, randomPageCost] of waysTried) {
    const plans = await explainAll(db, statements, { mode, isRun: true, randomPageCost });
    for (const [place, { rows }] of plans.entries()) {
      const count = Object.values(rows).reduce((sum, one) => sum + one, 0);
      most[place] = Math.max(most[place] ?? 0, count);
    }
  }
  return most;
}

function combinationsOf<Filter extends object>(
  every: Filter,
  values: { readonly [Name in keyof Filter]-?: readonly Filter[Name][] },
): Filter[] {
  const names = Object.keys(values) as (keyof Filter)[];
  return names.reduce<Filter[]>(
    (filters, name) =>
      filters.flatMap((filter) => [filter, ...values[name].map((value) => ({ ...filter, [name]: value }))]),
    [every],
  );
}
