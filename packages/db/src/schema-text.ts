import type postgres from "postgres";

/**
 * Returns the schema of a migrated database as SQL, read from PostgreSQL's catalogs. The text lists every table with its columns, storage
 * parameters, constraints and indexes. Then it lists sequences, functions and triggers. All are sorted by name. Throws an error if it finds
 * an object of an unknown kind.
 */
export async function readSchemaText(sql: postgres.Sql): Promise<string> {
  await assertKnownKinds(sql);
  const [tables, columns, constraints, indexes, others] = await Promise.all([
    readTables(sql),
    readColumns(sql),
    readConstraints(sql),
    readIndexes(sql),
    readOthers(sql),
  ]);
  const ofTable = (entries: readonly Entry[], name: string) =>
    entries.filter(({ table }) => table === name).map(({ text }) => text);
  const texts = tables.map(({ name, options }) => {
    const body = [...ofTable(columns, name), ...ofTable(constraints, name)].map((line) => `  ${line}`).join(",\n");
    const parameters = options === "" ? "" : ` with (${options})`;
    return [`create table ${name} (\n${body}\n)${parameters};`, ...ofTable(indexes, name)].join("\n");
  });
  return `${[header, ...texts, ...others].join("\n\n")}\n`;
}

const header =
  "-- The schema after all migrations, written by scripts/schema.mjs; nothing reads it but people and a test.";

type Entry = { readonly table: string; readonly text: string };

/**
 * Throws an error if the database schema has an object that the recorded text of the schema would omit. Such an object is a relation other
 * than a table, index or sequence, or a custom type.
 */
async function assertKnownKinds(sql: postgres.Sql): Promise<void> {
  const found = await sql<{ what: string }[]>`
    select relname || ', of kind ' || relkind::text as what from pg_class
    where relnamespace = 'public'::regnamespace and relkind not in ('r', 'i', 'S')
    union all
    select typname || ', a type' from pg_type where typnamespace = 'public'::regnamespace and typtype in ('e', 'd', 'r')`;
  if (found.length > 0)
    throw new Error(`the schema has ${found.map(({ what }) => what).join("; ")}: teach schema-text.ts`);
}

function readTables(sql: postgres.Sql) {
  return sql<{ name: string; options: string }[]>`
    select relname as name, coalesce(array_to_string(array(select one from unnest(reloptions) as one order by one collate "C"), ', '), '') as options
    from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`;
}

function readColumns(sql: postgres.Sql) {
  return sql<Entry[]>`
    select c.relname as "table", quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
      || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') || case when a.attnotnull then ' not null' else '' end as text
    from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
    order by c.relname, a.attnum`;
}

/** Returns the constraints of all tables. Leaves out `not null`, which the text of the column contains. */
function readConstraints(sql: postgres.Sql) {
  return sql<Entry[]>`
    select c.relname as "table", 'constraint ' || quote_ident(o.conname) || ' ' || pg_get_constraintdef(o.oid) as text
    from pg_constraint o join pg_class c on c.oid = o.conrelid
    where c.relnamespace = 'public'::regnamespace and o.contype <> 'n' order by c.relname, o.contype desc, o.conname`;
}

/** Returns all indexes except those that constraints create. */
function readIndexes(sql: postgres.Sql) {
  return sql<Entry[]>`
    select t.relname as "table", pg_get_indexdef(i.indexrelid) || ';' as text
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
    where c.relnamespace = 'public'::regnamespace and not exists (select from pg_constraint o where o.conindid = i.indexrelid)
    order by t.relname, c.relname`;
}

async function readOthers(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ text: string }[]>`
    (select 'create sequence ' || c.relname || ' as ' || format_type(s.seqtypid, null) || ' start ' || s.seqstart
       || ' increment ' || s.seqincrement || ';' as text
     from pg_sequence s join pg_class c on c.oid = s.seqrelid where c.relnamespace = 'public'::regnamespace order by c.relname)
    union all
    (select pg_get_functiondef(oid) || ';' from pg_proc where pronamespace = 'public'::regnamespace order by proname)
    union all
    (select pg_get_triggerdef(g.oid) || ';' from pg_trigger g join pg_class c on c.oid = g.tgrelid
     where c.relnamespace = 'public'::regnamespace and not g.tgisinternal order by c.relname, g.tgname)`;
  return rows.map(({ text }) => text);
}
