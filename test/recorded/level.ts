import { randomBytes } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "@svc/db/connect";
import { migrateDatabase, migrationsFolder } from "@svc/db/migrate";
import { databaseUrl } from "@svc/testing/database";
import { readTables, type Tables } from "./store.ts";

/** Where a recorded version left its databases: the migrations up to a tag are applied, and no others. */
export type Level = {
  readonly tables: Tables;
  /** No migration has come since. */
  readonly isPresent: boolean;
  /** A new database at the level, without a row of a project's. */
  create(): Promise<LevelDatabase>;
  drop(): Promise<void>;
};

/** One database, at a recorded level until `migrate` brings it to the present one, as a node that starts does. */
export type LevelDatabase = {
  readonly url: string;
  readonly db: Database;
  migrate(): Promise<void>;
  drop(): Promise<void>;
};

/** The tag of the newest migration. */
export async function newestMigration(): Promise<string> {
  const { entries } = await readJournal();
  const newest = entries.at(-1)?.tag;
  if (newest === undefined) throw new Error("there are no migrations");
  return newest;
}

/** Readies a level on the tests' server: a template that every database of it is a copy of. */
export async function createLevel(tag: string): Promise<Level> {
  const serverUrl = process.env["SVC_TEST_DATABASE_URL"];
  if (serverUrl === undefined) throw new Error("SVC_TEST_DATABASE_URL is not set");
  const server = openDatabase({ url: serverUrl, connectionsMax: 2, applicationName: "recorded" });
  const template = newName();
  await server.sql.unsafe(`create database ${template}`);
  await migrateTo(tag, databaseUrl(serverUrl, template));
  const open = async (): Promise<LevelDatabase> => {
    const name = newName();
    // Copying files takes a third of the time of writing them to the log, which is the default.
    await server.sql.unsafe(`create database ${name} template ${template} strategy file_copy`);
    const url = databaseUrl(serverUrl, name);
    const db = openDatabase({ url, connectionsMax: 8, applicationName: name });
    return {
      url,
      db,
      migrate: () => migrateDatabase(url),
      async drop() {
        await db.close();
        await server.sql.unsafe(`drop database ${name} with (force)`);
      },
    };
  };
  const first = await open();
  const tables = await readTables(first.db);
  await first.drop();
  return {
    tables,
    isPresent: (await newestMigration()) === tag,
    create: open,
    async drop() {
      await server.sql.unsafe(`drop database ${template} with (force)`);
      await server.close();
    },
  };
}

function newName(): string {
  return `r_${randomBytes(6).toString("hex")}`;
}

type Journal = { readonly entries: readonly { readonly tag: string }[] };

async function readJournal(): Promise<Journal> {
  return JSON.parse(await readFile(join(migrationsFolder, "meta", "_journal.json"), "utf8")) as Journal;
}

/** Applies the migrations up to a tag by the code that applies all of them, from a folder that holds no others. */
async function migrateTo(tag: string, url: string): Promise<void> {
  const journal = await readJournal();
  const last = journal.entries.findIndex((entry) => entry.tag === tag);
  if (last < 0) throw new Error(`there is no migration ${tag}: a released one is never removed`);
  const folder = await mkdtemp(join(tmpdir(), "svc-level-"));
  try {
    await cp(migrationsFolder, folder, { recursive: true });
    const entries = journal.entries.slice(0, last + 1);
    await writeFile(join(folder, "meta", "_journal.json"), JSON.stringify({ ...journal, entries }));
    await migrateDatabase(url, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
