import type { Executor } from "./connect.ts";
import { statement } from "./sql/statement.ts";

const selectTime = statement<{ ms: number }>(
  "database_time",
  "select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms",
);

/** The database's own clock, epoch milliseconds with a fraction. Also the cheapest question whether the store answers. */
export async function readDatabaseTime(db: Executor): Promise<number> {
  const [row] = await selectTime(db, []);
  if (row === undefined) throw new Error("the database told no time");
  return row.ms;
}
