import type postgres from "postgres";

/** The columns of a table that rows are written with; none where there is no such table. */
export async function columnsOf(sql: postgres.Sql, table: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`;
  return rows.map(({ name }) => name);
}
