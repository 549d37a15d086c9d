import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { startEmbeddedPostgres } from "@svc/db/embedded/postgres";
import { migrateDatabase } from "@svc/db/migrate";
import { createTestDataDir } from "./data-dir.ts";
import { onceARun } from "./once-a-run.ts";

/**
 * Creates a folder like `createTestDataDir`, with a database as a service leaves it after a start and a stop: the schema and no rows. For
 * tests that are not about the first start. Creating a database takes more than a second of processor time; copying one takes a tenth of
 * that.
 */
export async function createStoredDataDir(): Promise<string> {
  const [dataDir, made] = await Promise.all([createTestDataDir(), onceARun("store", makeStore)]);
  // If root runs the tests, PostgreSQL runs as another user. That user must stay the owner of the files, so `cp -a` keeps the owner.
  if (made !== undefined) await promisify(execFile)("cp", ["-a", join(made, "postgres"), dataDir]);
  return dataDir;
}

async function makeStore(dataDir: string): Promise<void> {
  await mkdir(dataDir, { mode: 0o711 });
  const server = await startEmbeddedPostgres({ dataDir, durability: "full" });
  await migrateDatabase(server.url);
  await server.stop();
}
