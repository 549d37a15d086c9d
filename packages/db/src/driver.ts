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
