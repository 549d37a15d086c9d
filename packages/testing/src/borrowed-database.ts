import type { Database } from "@svc/db/connect";
import { createTestDatabase, type TestDatabase } from "./database.ts";

const idle: TestDatabase[] = [];
const all: TestDatabase[] = [];

/**
 * Returns a database with the schema and no rows, for one test. Disposing it removes all rows and keeps the database for the next test of
 * the file, because creating and dropping a database takes ten times as long. A file that uses this must end with
 * `afterAll(dropTestDatabases)`.
 */
export async function borrowTestDatabase(): Promise<AsyncDisposable & { readonly db: Database }> {
  let database = idle.pop();
  if (database === undefined) {
    database = await createTestDatabase({ connectionsMax: 6 });
    all.push(database);
  }
  const borrowed = database;
  return {
    db: borrowed.db,
    async [Symbol.asyncDispose]() {
      await borrowed.db.sql.unsafe(emptyEverything);
      idle.push(borrowed);
    },
  };
}

/** Drops the databases that the tests of one file created. Tests of the next file in the same process then create new databases. */
export async function dropTestDatabases(): Promise<void> {
  idle.length = 0;
  await Promise.all(all.splice(0).map((database) => database.drop()));
}

// Tables that are empty after a test, in the order in which their rows are deleted. DELETE is used, because TRUNCATE creates new files for
// each table and index.
const emptyEverything = [
  "delivery_tasks",
  "deliveries",
  "events",
  "quarantined_posts",
  "account_references",
  "subscriptions",
  "routing_shards",
  "grants",
  "api_keys",
  "project_policies",
  "event_types",
  "event_type_versions",
  "event_settings",
  "webhook_secrets",
  "toolkit_sources",
  "toolkit_clients",
  "private_toolkits",
  "contacts",
  "due_tasks",
  "replays",
  "sweep_turns",
  "projects",
]
  .map((table) => `delete from ${table};`)
  .join("\n");
