import type postgres from "postgres";

/** Returns the columns of a table that a written row has. Empty if there is no such table. */
export async function columnsOf(sql: postgres.Sql, table: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`;
  return rows.map(({ name }) => name);
}
