import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type postgres from "postgres";
import { openDriver, sessionMark } from "./driver.ts";

/**
 * The query builder, on the pool or on one transaction of the pool. Each query names its tables. svc gives drizzle no schema: with one,
 * drizzle would build its relational queries for each transaction, and svc does not use them.
 */
export type Orm = PostgresJsDatabase;

/** An object on which database functions run their statements: the connection pool (`Database`), or one open transaction. */
export type Executor = {
  /** Client of the library postgres.js. The SQL of each `statement` runs on it. */
  readonly sql: postgres.ISql;
  /** Query builder of the library drizzle-orm. It runs its queries on the same connection or pool as `sql`. */
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
   * URL of the database: `postgres://user:password@host:port/database`. Its query part may contain `sslmode`, server settings, and `host`
   * with the folder of a Unix socket (as in libpq).
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
 * Runs `fn` in one transaction, and returns its result. Commits when the promise of `fn` resolves, and rolls back when it rejects. If `db`
 * is already a transaction, `fn` is part of it, and the outer caller commits or rolls back.
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

/** Functions to run after the commit of a transaction. The key is the transaction's database client. */
const afterwards = new WeakMap<postgres.ISql, (() => void)[]>();

/**
 * Calls `tell` with `given` when the writes on `db` are committed. Use it to notify other nodes, because they cannot see the writes before
 * the commit. `tell` must not throw: the caller would then think that the committed write failed.
 * - If `db` is a pool, calls it now.
 * - If `db` is a transaction, calls it after the commit, and never after a rollback.
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

/**
 * Returns the PostgreSQL driver's client inside drizzle's transaction object `tx`. The client is in the property `session.client`, which
 * drizzle's types do not declare.
 */
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
    // Returns the seconds to wait before the driver connects again, at most 1. The driver's own waits grow to 20 seconds, which is longer
    // than a restart of the server.
    backoff: (attempt: number) => Math.min(0.02 * 2 ** attempt, 1),
    // Without this setting, the driver would ask each new connection for the types of all arrays. svc reads only two kinds of arrays (texts
    // and 32-bit numbers), and `types` defines both. With this setting `reserve()` of the driver never resolves for a new connection: do
    // not call it.
    fetch_types: false,
    types: {
      bool: booleanType,
      bytea: byteaType,
      texts: arrayType(1009, (text) => text),
      numbers: arrayType(1007, Number),
    },
    connection: {
      application_name: applicationName,
      ...sessionMark,
      TimeZone: "UTC",
      statement_timeout: 30_000,
      // Milliseconds after which PostgreSQL ends an idle transaction. A node that hangs in a transaction keeps its locks. Another node that
      // takes over its work then waits for them. 15 seconds is half of a lease's time.
      idle_in_transaction_session_timeout: 15_000,
      // With sequential scans, the planner would read all of delivery_tasks, including dead rows, instead of one index lookup for each row.
      // The reason is that a queue table is often empty when its statistics are collected. Every query of svc has an index.
      enable_seqscan: "off",
      // PostgreSQL then plans each statement only once per connection. This is safe, because no plan of svc depends on parameter values
      // (`plans.test.ts` records how both kinds of plans read). To plan a small statement costs as much as to run it.
      plan_cache_mode: "force_generic_plan",
      // Compiling (JIT) would cost more than it saves. A few queries need a sequential scan (one row of routing_state). With
      // `enable_seqscan` off, their estimated cost is huge, so PostgreSQL 15 would compile each of them for 70 ms.
      jit: "off",
    },
  };
}

// These two types also accept values that are already serialized. After a schema change ("cached plan must not change result type") the
// driver repeats the statement and serializes its parameters a second time. The driver's own serializers then turn true into false and
// encode bytes twice.
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

/**
 * Matches one element in PostgreSQL's text form of a one-dimensional array. An element is either a text in quotes, which may contain
 * escapes, or a text without quotes.
 */
const arrayElements = /"((?:[^"\\]|\\.)*)"|[^,{}]+/gs;

/**
 * Returns how the database driver writes and reads arrays of one type. `id`: PostgreSQL's id of the array type. `read`: reads one element.
 */
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
