import type { Level } from "./level.ts";
import { type Row, readStore, readTables, type Store, type Tables, writeStore } from "./store.ts";

/**
 * Brings recorded stores to the present schema by the service's own migrations: their rows are put into one database of the
 * recorded level, which is migrated and read. The stores are of projects of their own, so that they do not meet.
 */
export async function migrateStores(level: Level, stores: readonly Store[]): Promise<Store[]> {
  if (level.isPresent) return [...stores];
  const database = await level.create();
  try {
    await writeStore(database.db, level.tables, merged(stores));
    await database.migrate();
    const present = await readStore(database.db, await readTables(database.db));
    return stores.map((store, index) => partOf(present, idsOf(store), stores.toSpliced(index, 1).map(idsOf)));
  } finally {
    await database.drop();
  }
}

function merged(stores: readonly Store[]): Store {
  const tables = new Map<string, Map<string, Row>>();
  for (const store of stores) {
    for (const [name, rows] of store) {
      const all = tables.get(name) ?? new Map<string, Row>();
      for (const [key, row] of rows) all.set(key, row);
      tables.set(name, all);
    }
  }
  return tables;
}

/** What the rows of a store name: its project and its jobs. */
function idsOf(store: Store): ReadonlySet<unknown> {
  return new Set(["projects", "jobs"].flatMap((name) => [...(store.get(name)?.values() ?? [])].map(({ id }) => id)));
}

/** The rows that name a project or a job of one store, and those that name none of any: they are the deployment's. */
function partOf(present: Store, own: ReadonlySet<unknown>, others: readonly ReadonlySet<unknown>[]): Store {
  const isForeign = (row: Row) => Object.values(row).some((value) => others.some((ids) => ids.has(value)));
  const belongs = (row: Row) => Object.values(row).some((value) => own.has(value)) || !isForeign(row);
  return new Map([...present].map(([name, rows]) => [name, new Map([...rows].filter(([, row]) => belongs(row)))]));
}

/** The tables of the present schema, on a database that stays for a test file's whole run. */
export async function createPresent(level: Level): Promise<Present> {
  const database = await level.create();
  await database.migrate();
  return { ...database, tables: await readTables(database.db) };
}

/** A database of the present schema, which one store after the other is put into. */
export type Present = Awaited<ReturnType<Level["create"]>> & { readonly tables: Tables };
