import type { Executor } from "./connect.ts";
import { statement } from "./sql/statement.ts";

const selectTime = statement<{ ms: number }>(
  "database_time",
  "select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms",
);

/**
 * Returns the current time of the database's clock, in epoch milliseconds with a fraction. This is also the cheapest check that the
 * database answers.
 */
export async function readDatabaseTime(db: Executor): Promise<number> {
  const [row] = await selectTime(db, []);
  if (row === undefined) throw new Error("the database returned no time");
  return row.ms;
}
