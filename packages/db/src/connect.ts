import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type postgres from "postgres";
import { openDriver } from "./driver.ts";
import * as schema from "./schema/index.ts";

/** The query builder over the service's tables, on the pool or on one transaction of it. */
export type Orm = PostgresJsDatabase<typeof schema>;

/** What a repository and a `statement` run on: the pool (`Database`) or one open transaction. */
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
   * postgres://user:password@host:port/database; `?sslmode=` and server settings in its query are honoured, and `?host=` with the folder
   * of a Unix socket, as libpq has it.
   */
  url: string;
  /** Connections at most; they are opened on demand. Default 10. */
  connectionsMax?: number;
  /** Shown in pg_stat_activity. Default "svc". */
  applicationName?: string;
};

/**
 * Opens a pool of postgres.js, patched (patches/README.md). It connects on the first query, so this does not
 * fail. Sessions are in UTC, end a statement after 30 seconds and an idle transaction after 15. Timestamps and int8 arrive
 * as text, bytea as Buffer.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const sql = openDriver(options.url, driverOptions(options));
  const orm = drizzle(sql, { schema });
  return { sql, orm, close: () => sql.end({ timeout: 5 }) };
}

/**
 * Runs `fn` in one transaction: committed when it resolves, rolled back when it rejects. Given a transaction it joins it,
 * and then the caller's end decides.
 */
export async function withTransaction<T>(db: Executor, fn: (tx: Executor) => Promise<T>): Promise<T> {
  if (!("begin" in db.sql)) return fn(db);
  const then: (() => void)[] = [];
  const result = await db.orm.transaction((orm) => {
    const sql = transactionClient(orm);
    afterwards.set(sql, then);
    return fn({ sql, orm: orm as unknown as Orm });
  });
  for (const tell of then) tell();
  return result;
}

/** What is to be done once a transaction is committed, by its client. */
const afterwards = new WeakMap<postgres.ISql, (() => void)[]>();

/**
 * Tells `tell` of something once what was written on `db` is committed: now on a pool, whose statements are; after its end within a transaction, and
 * never where that is rolled back. For hints to others: who looks before the commit finds nothing. `tell` must not throw, since what is
 * committed would look as if it were not.
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
    // Seconds before a reconnect. The driver's own grows to 20, which would outlast a server's restart.
    backoff: (attempt: number) => Math.min(0.02 * 2 ** attempt, 1),
    types: { bool: booleanType, bytea: byteaType },
    connection: {
      application_name: applicationName,
      TimeZone: "UTC",
      statement_timeout: 30_000,
      // A node that stands still in the middle of a transaction keeps what it locked from whoever takes its work over, and after it
      // those of its own that wait behind that: no longer than half a lease each.
      idle_in_transaction_session_timeout: 15_000,
      // A queue table is empty when its statistics are made and full when its plans run: left to itself the planner scans
      // delivery_tasks, dead rows and all, where one probe a row is asked for. Every query of ours has its index.
      enable_seqscan: "off",
      // Planned once a connection: no plan of ours depends on the values (`plans.test.ts` records what both kinds read), and to
      // plan again costs a small statement as much as to run it.
      plan_cache_mode: "force_generic_plan",
      // The cost of a scan that cannot be avoided (one row of routing_state) is then beyond any bound, and PostgreSQL 15
      // would compile each such query for 70 ms.
      jit: "off",
    },
  };
}

// The driver serializes the parameters of a statement again when it repeats it after a change of schema ("cached plan
// must not change result type"); its own serializers turn true into false and encode bytes twice then. These do not.
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

function byteaText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`;
}
