import postgres from "postgres";

const portDefault = 5432;

/**
 * Opens postgres.js. It uses the Unix socket in the folder named by `?host=` of the URL (as in libpq), otherwise host and port. Connects on
 * the first query.
 */
export function openDriver<Types extends Record<string, postgres.PostgresType>>(
  url: string,
  options: postgres.Options<Types>,
): postgres.Sql {
  const { rest, path } = socketOf(url);
  return postgres(rest, path === undefined ? options : { ...options, path }) as unknown as postgres.Sql;
}

/** Returns the path of a server's Unix socket in a folder. */
export function socketPath(folder: string, port: number): string {
  return `${folder}/.s.PGSQL.${port}`;
}

/** Removes the socket's folder from a URL's query, because the driver would send it to the server as a setting. */
function socketOf(text: string): { readonly rest: string; readonly path: string | undefined } {
  // A URL with several hosts does not parse; it names no socket folder.
  const url = URL.parse(text);
  const folder = url?.searchParams.get("host");
  if (url === null || folder?.startsWith("/") !== true) return { rest: text, path: undefined };
  url.searchParams.delete("host");
  return { rest: url.href, path: socketPath(folder, url.port === "" ? portDefault : Number(url.port)) };
}

/** True if an error is PostgreSQL's unique violation (23505). If `constraint` is given, only for that constraint or unique index. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return someCause(
    error,
    (cause) => cause.code === "23505" && (constraint === undefined || cause.constraint_name === constraint),
  );
}

/** True if an error is PostgreSQL's foreign key violation (23503): a row is still referenced, or references a missing row. */
export function isForeignKeyViolation(error: unknown): boolean {
  return someCause(error, ({ code }) => code === "23503");
}

/**
 * True if an error means that the database is unavailable: a refused or lost connection, or a server that starts, stops, or accepts no more
 * connections. The work may or may not have been committed.
 */
export function isUnavailable(error: unknown): boolean {
  return someCause(
    error,
    ({ code, severity }) =>
      typeof code === "string" && (unavailableCodes.test(code) || (code === takesNone && severity === "FATAL")),
  );
}

// The database accepts no connections (`allow_connections`), for example during a restore. If a statement fails with this code, the error
// is permanent: an object is not in the required state.
const takesNone = "55000";

// 08: connection exceptions; 57P0x: the server ends sessions; 53: no connections, memory or disk left; 58030: I/O error; 25006: a standby;
// 40001, 40P01, 55P03, 57014: conflict with another transaction, or too slow. All are temporary and say nothing about the request itself.
// The words come from postgres.js, the rest from the operating system.
const unavailableCodes =
  /^(08...|57P0.|53...|58030|25006|40001|40P01|55P03|57014|CONNECTION_(CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|E(HOST|NET)UNREACH|ENOTFOUND|EAI_AGAIN)$/;

type DriverError = { code?: unknown; severity?: unknown; constraint_name?: unknown; cause?: unknown };

/** drizzle wraps the driver's error, so the code may be several causes deep. */
function someCause(error: unknown, matches: (cause: DriverError) => boolean): boolean {
  for (let cause = error, depth = 0; typeof cause === "object" && cause !== null && depth < 8; depth++) {
    if (matches(cause)) return true;
    cause = (cause as DriverError).cause;
  }
  return false;
}
