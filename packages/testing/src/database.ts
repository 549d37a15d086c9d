import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { type Database, openDatabase } from "@svc/db/connect";
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from "@svc/db/embedded/postgres";
import { migrateDatabase } from "@svc/db/migrate";
import { createTestDataDir } from "./data-dir.ts";
import { onceARun } from "./once-a-run.ts";
import { createStoredDataDir } from "./stored-data-dir.ts";

type Durability = EmbeddedPostgresOptions["durability"];

/** A database for one test file, with the server's schema and no rows. */
export type TestDatabase = {
  /**
   * URL that contains the server's Unix socket. svc also uses a socket for its own database, because loopback takes a third more processor
   * time.
   */
  readonly url: string;
  /** URL with the loopback address instead of the socket. */
  readonly tcpUrl: string;
  readonly db: Database;
  /**
   * Closes `db` and removes the database, even if other clients are connected. If SVC_TEST_KEEP is set, the database is kept and its URL is
   * printed.
   */
  drop(): Promise<void>;
};

/** The PostgreSQL server of the test databases, for one run of the tests. */
export type DatabaseServer = { readonly url: string; stop(): Promise<void> };

/**
 * Prepares a server for `createTestDatabase`, in the global setup of the tests. If SVC_TEST_DATABASE_URL is set, uses the server at that
 * URL and replaces its database `svc_template`. Otherwise starts an embedded server for this run. The caller must store the returned URL in
 * this variable.
 */
export async function startDatabaseServer(): Promise<DatabaseServer> {
  const given = process.env["SVC_TEST_DATABASE_URL"];
  const server = given === undefined ? await startTestPostgresOn(await createTestDataDir(), "none") : undefined;
  const url = server?.socketUrl ?? given ?? "";
  try {
    await administer(url, async (sql) => {
      await sql`drop database if exists ${sql(templateDatabase)} with (force)`;
      await sql`create database ${sql(templateDatabase)}`;
    });
    const template = databaseUrl(url, templateDatabase);
    await migrateDatabase(template);
    // The first connection after a change of the schema writes files to the database's folder. This connection is made before the folder is
    // copied, so that the copies already contain these files.
    await administer(template, (sql) => sql`select 1`);
  } catch (error) {
    await server?.stop();
    throw error;
  }
  return { url, stop: async () => server?.stop() };
}

/** Options of `createTestDatabase`. */
export type TestDatabaseOptions = {
  /** Maximum number of connections of `db`. Default 10. */
  connectionsMax?: number;
  /** True to omit the server's schema, for tests of the code that creates it. */
  isEmpty?: boolean;
  /** Rows with which several test files start. Only the first file of a run makes the rows; the other files copy its database. */
  filled?: { readonly name: string; fill(db: Database): Promise<void> };
};

/** Creates a database on the test server (SVC_TEST_DATABASE_URL) as a copy of a template database. This takes about 20 ms. */
export async function createTestDatabase({
  isEmpty = false,
  filled,
  ...options
}: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const name = `t_${randomBytes(6).toString("hex")}`;
  const serverUrl = testServerUrl();
  const copied = isEmpty ? "template1" : filled === undefined ? templateDatabase : await filledDatabase(filled);
  await copyDatabase(serverUrl, copied, name);
  const url = databaseUrl(serverUrl, name);
  const db = openDatabase({ url, applicationName: name, ...options });
  const drop = async () => {
    await db.close();
    if (process.env["SVC_TEST_KEEP"]) process.stderr.write(`kept ${url}\n`);
    else await administer(serverUrl, (sql) => sql`drop database if exists ${sql(name)} with (force)`);
  };
  return { url, tcpUrl: tcpUrlOf(url), db, drop };
}

/**
 * Returns the name of the test database that the function `fill` has filled with data. Creates the database at the first call in a test
 * run. All connections to it are then closed, so that it can be copied.
 */
async function filledDatabase({ name, fill }: Required<TestDatabaseOptions>["filled"]): Promise<string> {
  const database = `svc_${name}`;
  const make = async () => {
    const serverUrl = testServerUrl();
    // A database server that is used for several runs may still have this database from an earlier run.
    await administer(serverUrl, (sql) => sql`drop database if exists ${sql(database)} with (force)`);
    await copyDatabase(serverUrl, templateDatabase, database);
    const db = openDatabase({ url: databaseUrl(serverUrl, database), applicationName: database });
    await fill(db).finally(() => db.close());
  };
  const made = await onceARun(database, async (folder) => {
    await make();
    await mkdir(folder);
  });
  if (made === undefined) throw new Error("only a run of the tests has databases that are made once");
  return database;
}

function copyDatabase(serverUrl: string, from: string, to: string): Promise<void> {
  return administer(serverUrl, (sql) => sql`create database ${sql(to)} template ${sql(from)} strategy file_copy`);
}

/** A PostgreSQL server for one test. Its data folder is deleted when the server stops. */
export type TestPostgres = EmbeddedPostgres & {
  /** Stops the server and starts it again with the same data, on another port. */
  restart(): Promise<TestPostgres>;
};

/**
 * Starts a PostgreSQL with the server's schema, for tests that stop or kill it. `durability` is "full" by default, because such tests check
 * which data survives. `stop` removes the data.
 */
export async function startTestPostgres(options: { durability?: Durability } = {}): Promise<TestPostgres> {
  return startTestPostgresOn(await createStoredDataDir(), options.durability ?? "full");
}

/** Returns the URL of another database on the same server. */
export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Returns the URL of the same database over the loopback address instead of the socket. */
function tcpUrlOf(socketUrl: string): string {
  const url = new URL(socketUrl);
  url.searchParams.delete("host");
  return url.href;
}

async function startTestPostgresOn(dataDir: string, durability: Durability): Promise<TestPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, durability });
  const stop = async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  const restart = async () => {
    await server.stop();
    return startTestPostgresOn(dataDir, durability);
  };
  return { ...server, stop, restart };
}

/** Runs statements on the database at this URL, over one connection that is then closed. */
async function administer(serverUrl: string, run: (sql: Database["sql"]) => Promise<unknown>): Promise<void> {
  const db = openDatabase({ url: serverUrl, connectionsMax: 1 });
  try {
    await run(db.sql);
  } finally {
    await db.close();
  }
}

/** Name of the database that every test database is copied from. */
const templateDatabase = "svc_template";

function testServerUrl(): string {
  const url = process.env["SVC_TEST_DATABASE_URL"];
  if (url === undefined)
    throw new Error("SVC_TEST_DATABASE_URL is not set: run the test through vitest, whose global setup sets it");
  return url;
}
