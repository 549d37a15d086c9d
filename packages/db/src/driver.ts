import postgres from "postgres";

const portDefault = 5432;

/**
 * Opens postgres.js, by the Unix socket in the folder that `?host=` of the URL names, as libpq has it, or else by its host and port.
 * Connects on the first query.
 */
export function openDriver<Types extends Record<string, postgres.PostgresType>>(
  url: string,
  options: postgres.Options<Types>,
): postgres.Sql {
  const { rest, path } = socketOf(url);
  return postgres(rest, path === undefined ? options : { ...options, path }) as unknown as postgres.Sql;
}

/** The path of a server's Unix socket in a folder. */
export function socketPath(folder: string, port: number): string {
  return `${folder}/.s.PGSQL.${port}`;
}

/** Takes the folder out of a URL's query: the driver would send it to the server as a setting. */
function socketOf(text: string): { readonly rest: string; readonly path: string | undefined } {
  // A URL of several hosts does not parse, and has no such folder.
  const url = URL.parse(text);
  const folder = url?.searchParams.get("host");
  if (url === null || folder?.startsWith("/") !== true) return { rest: text, path: undefined };
  url.searchParams.delete("host");
  return { rest: url.href, path: socketPath(folder, url.port === "" ? portDefault : Number(url.port)) };
}

/** Whether an error is PostgreSQL's unique violation (23505), of `constraint` (or unique index) when one is named. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return someCause(
    error,
    (cause) => cause.code === "23505" && (constraint === undefined || cause.constraint_name === constraint),
  );
}

/** Whether an error is PostgreSQL's violation of a foreign key (23503): a row is referred to, or refers to one that is gone. */
export function isForeignKeyViolation(error: unknown): boolean {
  return someCause(error, ({ code }) => code === "23503");
}

/**
 * Whether an error means that the database could not be reached or went away: refused or lost connections, a server that
 * starts, stops or has no connection left, a database that takes none. What was asked may or may not have been committed.
 */
export function isUnavailable(error: unknown): boolean {
  return someCause(
    error,
    ({ code, severity }) =>
      typeof code === "string" && (unavailableCodes.test(code) || (code === takesNone && severity === "FATAL")),
  );
}

// A database that accepts no connections (`allow_connections`), as while somebody restores it. Of a statement the same code says
// that what it names is not as it must be, which does not pass.
const takesNone = "55000";

// 08: connection exceptions; 57P0x: the server ends sessions; 53: no connection, memory or disk left; 58030: input or output
// failed; 25006: a standby; 40001, 40P01, 55P03, 57014: in the way of another, or too slow. All pass, none says anything of
// what was asked. The words are postgres.js's own, the rest are the operating system's.
const unavailableCodes =
  /^(08...|57P0.|53...|58030|25006|40001|40P01|55P03|57014|CONNECTION_(CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|E(HOST|NET)UNREACH|ENOTFOUND|EAI_AGAIN)$/;

type DriverError = { code?: unknown; severity?: unknown; constraint_name?: unknown; cause?: unknown };

/** drizzle wraps the driver's error, so the code may be some causes down. */
function someCause(error: unknown, matches: (cause: DriverError) => boolean): boolean {
  for (let cause = error, depth = 0; typeof cause === "object" && cause !== null && depth < 8; depth++) {
    if (matches(cause)) return true;
    cause = (cause as DriverError).cause;
  }
  return false;
}
