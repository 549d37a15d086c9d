import type postgres from "postgres";

/**
 * Fills tables by `fill` without their indexes and keys, and creates those afterwards. One sort of all rows is faster than an index update
 * for each. Throws if rows violate a key; the tables then stay without it.
 */
export async function withoutIndexes(
  sql: postgres.Sql,
  tables: readonly string[],
  fill: () => Promise<void>,
): Promise<void> {
  const found = await sql<{ drop: string; create: string }[]>`
    select case when c.conname is null then format('drop index %I', x.relname)
        else format('alter table %I drop constraint %I', t.relname, c.conname) end as drop,
      case when c.conname is null then pg_get_indexdef(x.oid)
        else format('alter table %I add constraint %I %s', t.relname, c.conname, pg_get_constraintdef(c.oid)) end as create
    from pg_index i join pg_class x on x.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
      left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u')
    where t.relname = any(${[...tables]}) and t.relnamespace = current_schema()::regnamespace order by t.relname, x.relname`;
  for (const { drop } of found) await sql.unsafe(drop);
  await fill();
  await Promise.all(found.map(({ create }) => sql.unsafe(create)));
}
