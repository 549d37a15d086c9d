import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { migrationsFolder } from "../../migrate.ts";

/**
 * Returns the dangerous objects in a database that no version of svc created, such as functions, triggers, settings and other superusers.
 * Each object is a text such as `the extension NAME`.
 */
export async function findForeignObjects(url: string): Promise<string[]> {
  const sql = postgres(url, {
    ...{ max: 1, fetch_types: false, onnotice: () => {} },
    // Settings of the connection take precedence over settings of the database or the role.
    connection: { event_triggers: "off", session_preload_libraries: "", local_preload_libraries: "" },
  });
  try {
    const rows = await sql<{ name: string }[]>`
      select 'the function ' || p.oid::regprocedure::text as name from pg_proc p join pg_language l on l.oid = p.prolang
      where p.oid >= ${firstOfUsers} and not (l.lanname in ('plpgsql', 'sql') and p.prosrc in (select jsonb_array_elements_text(${JSON.stringify(ownBodies())}::text::jsonb)))
      union all
      select 'the trigger ' || quote_ident(tgname) || ' on ' || tgrelid::regclass::text from pg_trigger
      where not tgisinternal and tgfoid < ${firstOfUsers}
      union all
      select 'the event trigger ' || quote_ident(evtname) from pg_event_trigger
      union all
      select 'the rule ' || quote_ident(rulename) || ' on ' || ev_class::regclass::text from pg_rewrite
      where ev_class >= ${firstOfUsers} and rulename <> '_RETURN'
      union all
      select 'the extension ' || quote_ident(extname) from pg_extension where extname <> 'plpgsql'
      union all
      select 'settings of ' || coalesce('the role ' || r.rolname, 'the database ' || d.datname, 'all roles')
      from pg_db_role_setting s left join pg_roles r on r.oid = s.setrole left join pg_database d on d.oid = s.setdatabase
      union all
      select 'the superuser ' || quote_ident(rolname) from pg_roles where rolsuper and oid >= ${firstOfUsers}
      order by name`;
    return rows.map(({ name }) => name);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Lowest number (OID) of objects that users created. PostgreSQL's own objects have lower numbers. */
const firstOfUsers = 16_384;

/** Returns the bodies of all functions that svc's migrations create. */
function ownBodies(): string[] {
  const files = readdirSync(migrationsFolder).filter((name) => name.endsWith(".sql"));
  return files.flatMap((name) =>
    [...readFileSync(join(migrationsFolder, name), "utf8").matchAll(/\$(\w*)\$([\s\S]*?)\$\1\$/g)].map(
      ([, , body = ""]) => body,
    ),
  );
}
