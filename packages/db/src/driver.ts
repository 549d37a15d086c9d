import postgres from "postgres";

const portDefault = 5432;

/**
 * Returns a postgres.js client for a URL. If the URL has `?host=` with a folder (as in libpq), the client uses the Unix socket in this
 * folder. Otherwise it uses host and port. It connects at the first query.
 */
export function openDriver<Types extends Record<string, postgres.PostgresType>>(
  url: string,
  options: postgres.Options<Types>,
): postgres.Sql {
  const { rest, path } = socketOf(url);
  return postgres(rest, path === undefined ? options : { ...options, path }) as unknown as postgres.Sql;
}

/**
 * Setting that svc gives each of its database sessions, to detect a connection pooler. It has no effect in PostgreSQL, which only returns
 * it. A pooler that does not pass settings on refuses or drops it.
 */
export const sessionMark = { "svc.session": "kept" } as const;

/**
 * Error text for a database address at which a connection pooler such as PgBouncer answers and does not pass the session settings of svc on
 * to PostgreSQL.
 */
export const poolerText =
  "SVC_DATABASE_URL: a connection pooler, such as PgBouncer, answers at this address and does not pass on the settings of sessions. " +
  "Write the address of PostgreSQL itself: each process of svc has its own pool of at most 20 connections";

/** Returns true if a connection pooler (such as PgBouncer) refused the settings with which svc opened a database session. */
export function isPoolerRefusal(error: unknown): boolean {
  return someCause(
    error,
    ({ code, message }) => code === "08P01" && String(message).startsWith("unsupported startup parameter"),
  );
}

/** Returns the path of a server's Unix socket in a folder. */
export function socketPath(folder: string, port: number): string {
  return `${folder}/.s.PGSQL.${port}`;
}

/**
 * Returns the URL without the folder of the socket, and the path of the socket. If the folder stayed in the query, the PostgreSQL driver
 * would send it to the server as a setting.
 */
function socketOf(text: string): { readonly rest: string; readonly path: string | undefined } {
  // A URL with several hosts cannot be parsed. Such a URL names no socket folder.
  const url = URL.parse(text);
  const folder = url?.searchParams.get("host");
  if (url === null || folder?.startsWith("/") !== true) return { rest: text, path: undefined };
  url.searchParams.delete("host");
  return { rest: url.href, path: socketPath(folder, url.port === "" ? portDefault : Number(url.port)) };
}

/**
 * Returns true if an error is PostgreSQL's unique violation (23505). If `constraint` is given, the violation must be of this constraint or
 * unique index.
 */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return someCause(
    error,
    (cause) => cause.code === "23505" && (constraint === undefined || cause.constraint_name === constraint),
  );
}

/**
 * Returns true if an error is PostgreSQL's foreign key violation (23503): other rows still reference a row, or a row references a missing
 * row.
 */
export function isForeignKeyViolation(error: unknown): boolean {
  return someCause(error, ({ code }) => code === "23503");
}

/**
 * Returns true if an error means that the database is unavailable. The connection was refused or lost, or the server starts, stops, or
 * accepts no more connections. The statement's work may still have been committed.
 */
export function isUnavailable(error: unknown): boolean {
  return someCause(
    error,
    ({ code, severity }) =>
      typeof code === "string" && (unavailableCodes.test(code) || (code === takesNone && severity === "FATAL")),
  );
}

// Code of an error when svc connects: the database accepts no connections (`allow_connections`), for example during a restore. If a
// statement fails with the same code, the error is permanent, because an object is not in the required state.
const takesNone = "55000";

// Codes of temporary errors, which say nothing about the request itself. 08: connection exceptions. 57P0x: the server ends sessions. 53: no
// connections, memory or disk left. 58030: I/O error. 25006: the server is a standby. 40001, 40P01, 55P03, 57014: a conflict with another
// transaction, or too slow. `CONNECTION_` and `CONNECT_TIMEOUT` are codes of postgres.js. The codes after these are codes of the operating
// system.
const unavailableCodes =
  /^(08...|57P0.|53...|58030|25006|40001|40P01|55P03|57014|CONNECTION_(CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|E(HOST|NET)UNREACH|ENOTFOUND|EAI_AGAIN)$/;

type DriverError = {
  code?: unknown;
  message?: unknown;
  severity?: unknown;
  constraint_name?: unknown;
  cause?: unknown;
};

/**
 * Returns true if `matches` returns true for the error or for one of its causes. drizzle wraps the driver's error, so the code may be
 * several causes deep.
 */
function someCause(error: unknown, matches: (cause: DriverError) => boolean): boolean {
  for (let cause = error, depth = 0; typeof cause === "object" && cause !== null && depth < 8; depth++) {
    if (matches(cause)) return true;
    cause = (cause as DriverError).cause;
  }
  return false;
}
