import { repeats } from "@svc/testing/sample";
import type { Database, Executor } from "../../src/connect.ts";
import { explainAll, type PlanMode, type SentStatement, sentBy } from "./explain.ts";

/** A list that may be narrowed: what each of its filters is given. A filter that is added without values fails to compile. */
export type NarrowedList<Filter extends object> = {
  readonly name: string;
  /** Narrows nothing. */
  readonly every: Filter;
  readonly values: { readonly [Name in keyof Filter]-?: readonly Filter[Name][] };
  readonly list: (db: Executor, filter: Filter) => Promise<readonly unknown[]>;
  /** What no list has to be quick with. */
  readonly isLeftOut?: (filter: Filter) => boolean;
};

/** Rows that a list reads at most where none is what is asked for. */
const readMax = 500;

/** Every combination of filters that finds nothing, and how many rows it reads where that is more than it may. */
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
 * How statements are planned: as nodes do, for any value, whatever is sent (`connect.ts`), on flash; whole, also for the values given, and
 * as a server has it that nobody told of its disk.
 */
const ways: readonly (readonly [mode: PlanMode, randomPageCost: number])[] = [
  ["generic", 1.1],
  ["generic", 4],
  ["custom", 1.1],
  ["custom", 4],
];
const waysTried = ways.slice(0, repeats({ sample: 1, whole: 4 }));

/** Rows that each reads at most, over the ways it may be planned. */
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
