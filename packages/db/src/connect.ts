import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type postgres from "postgres";
import { openDriver } from "./driver.ts";

/**
 * The query builder, on the pool or on one transaction of it. Tables are named in each query: with a schema, drizzle would build its
 * relational queries, which nothing uses, again for each transaction.
 */
export type Orm = PostgresJsDatabase;

/** Runs repositories and `statement`s: the pool (`Database`) or one open transaction. */
export type Executor = {
  /** The driver: `statement` runs here. */
  readonly sql: postgres.ISql;
  /** The query builder over the same connection or pool. */
  readonly orm: Orm;
};

/** A pool of connections to one PostgreSQL. */
export type Database = Executor & {
  readonly sql: postgres.Sql;
  /** Lets running queries finish for up to 5 seconds, then closes every connection. */
  close(): Promise<void>;
};

/** Options of `openDatabase`. */
export type DatabaseOptions = {
  /**
   * `postgres://user:password@host:port/database`. Its query may hold `sslmode`, server settings, and `host` with the folder of a Unix
   * socket (as in libpq).
   */
  url: string;
  /** Maximum connections; they are opened on demand. Default 10. */
  connectionsMax?: number;
  /** Application name in pg_stat_activity. Default "svc". */
  applicationName?: string;
};

/**
 * Opens a pool of postgres.js, patched (patches/README.md). It connects on the first query, so this call does not fail. Sessions use UTC,
 * end a statement after 30 seconds, and end an idle transaction after 15 seconds. Timestamps and int8 arrive as text, bytea as Buffer,
 * arrays of texts and of int4 as arrays, other arrays as text.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const sql = openDriver(options.url, driverOptions(options));
  const orm = drizzle(sql);
  return { sql, orm, close: () => sql.end({ timeout: 5 }) };
}

/**
 * Runs `fn` in one transaction: commits when it resolves, rolls back when it rejects. If `db` is already a transaction, `fn` joins it, and
 * the outer caller commits or rolls back.
 */
export async function withTransaction<T>(db: Executor, fn: (tx: Executor) => Promise<T>): Promise<T> {
  if (!("begin" in db.sql)) return fn(db);
  const then: (() => void)[] = [];
  const result = await db.orm.transaction((orm) => {
    const sql = transactionClient(orm);
    afterwards.set(sql, then);
    return fn({ sql, orm });
  });
  for (const tell of then) tell();
  return result;
}

/** Functions to run after a transaction commits, by its client. */
const afterwards = new WeakMap<postgres.ISql, (() => void)[]>();

/**
 * Calls `tell` once the writes on `db` are committed. On a pool that is now. In a transaction it is after the commit, and never if the
 * transaction rolls back. Use it for hints to others: before the commit they would find nothing. `tell` must not throw, because the
 * committed write would then look failed.
 */
export function afterCommit<Given extends readonly unknown[]>(
  { sql }: Executor,
  tell: (...given: Given) => void,
  ...given: Given
): void {
  const then = afterwards.get(sql);
  if (then === undefined) tell(...given);
  else then.push(() => tell(...given));
}

/** The driver's handle of the transaction that drizzle opened; its types hide the property. */
function transactionClient(tx: unknown): postgres.ISql {
  return (tx as { session: { client: postgres.TransactionSql } }).session.client;
}

function driverOptions({ connectionsMax = 10, applicationName = "svc" }: DatabaseOptions) {
  return {
    max: connectionsMax,
    prepare: true,
    onnotice: () => {},
    connect_timeout: 10,
    idle_timeout: 120,
    // Seconds before a reconnect. The driver's own delay grows to 20 seconds, longer than a server's restart.
    backoff: (attempt: number) => Math.min(0.02 * 2 ** attempt, 1),
    // The driver would ask each new connection for the types of all arrays. These two are all that svc reads as arrays.
    fetch_types: false,
    types: {
      bool: booleanType,
      bytea: byteaType,
      texts: arrayType(1009, (text) => text),
      numbers: arrayType(1007, Number),
    },
    connection: {
      application_name: applicationName,
      TimeZone: "UTC",
      statement_timeout: 30_000,
      // A node that hangs inside a transaction keeps its locks. They block the node that takes over its work, and then that node's other
      // work. This limit is half a lease.
      idle_in_transaction_session_timeout: 15_000,
      // A queue table is empty when its statistics are collected and full when its plans run. With sequential scans enabled, the planner
      // would scan all of delivery_tasks, dead rows included, instead of one index lookup per row. Every query of svc has an index.
      enable_seqscan: "off",
      // Plans once per connection. No plan of svc depends on the values (`plans.test.ts` records what both kinds read). Planning a small
      // statement again would cost as much as running it.
      plan_cache_mode: "force_generic_plan",
      // Without sequential scans, an unavoidable one (one row of routing_state) has a huge estimated cost. PostgreSQL 15 would then compile
      // each such query for 70 ms.
      jit: "off",
    },
  };
}

// After a schema change ("cached plan must not change result type") the driver repeats the statement and serializes its parameters a second
// time. Its own serializers then turn true into false and encode bytes twice. These two do not.
const booleanType = {
  to: 16,
  from: [16],
  serialize: (value: unknown) => (typeof value === "string" ? value : value === true ? "t" : "f"),
  parse: (text: string) => text === "t",
};

const byteaType = {
  to: 17,
  from: [17],
  serialize: (value: string | Uint8Array) => (typeof value === "string" ? value : byteaText(value)),
  parse: (text: string) => Buffer.from(text.slice(2), "hex"),
};

/** Elements of a one-dimensional array's text: quoted ones with escapes, and plain ones. */
const arrayElements = /"((?:[^"\\]|\\.)*)"|[^,{}]+/gs;

/** Returns the type of a one-dimensional array, which is written as text. `id`: its object id in PostgreSQL. `read`: reads an element. */
function arrayType<Element>(id: number, read: (text: string) => Element) {
  return {
    to: id,
    from: [id],
    serialize: (literal: string) => literal,
    parse: (text: string) =>
      [...text.matchAll(arrayElements)].map(([plain, quoted]) => {
        if (quoted !== undefined) return read(quoted.replace(/\\(.)/gs, "$1"));
        return plain === "NULL" ? null : read(plain);
      }),
  };
}

function byteaText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`;
}
