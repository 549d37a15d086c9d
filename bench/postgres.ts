import postgres from "postgres";

/** The PostgreSQL every variant of a run uses, each with a database of its own. */
export type BenchPostgres = {
  /** Version and the settings that decide durability and speed, as the server reports them. */
  readonly settings: Readonly<Record<string, string>>;
  /** Process id of the postmaster when it runs on this machine, else undefined. */
  readonly postmasterPid: number | undefined;
  /** An empty database and the way to drop it. */
  createDatabase(name: string): Promise<BenchDatabase>;
  stop(): Promise<void>;
};

/** One fresh database. */
export type BenchDatabase = { readonly url: string; drop(): Promise<void> };

const shownSettings = ["server_version", "fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "wal_sync_method", "max_connections"];

/** Connects to the server of BENCH_DATABASE_URL, or starts one of its own with the settings the service's default store has. */
export async function openBenchPostgres(): Promise<BenchPostgres> {
  const own = process.env["BENCH_DATABASE_URL"];
  const server = own ? { url: own, stop: async () => {} } : await startOwnServer();
  const sql = postgres(server.url, { max: 1, onnotice: () => {} });
  const settings: Record<string, string> = {};
  for (const name of shownSettings) {
    const [row] = await sql.unsafe<{ value: string }[]>(`select current_setting('${name}') as value`);
    settings[name] = row?.value ?? "";
  }
  return {
    settings,
    postmasterPid: undefined,
    createDatabase: async (name) => {
      await sql.unsafe(`drop database if exists ${name} with (force)`);
      await sql.unsafe(`create database ${name}`);
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      return { url: url.href, drop: async () => void (await sql.unsafe(`drop database if exists ${name} with (force)`)) };
    },
    stop: async () => {
      await sql.end();
      await server.stop();
    },
  };
}

async function startOwnServer(): Promise<{ url: string; stop(): Promise<void> }> {
  throw new Error("set BENCH_DATABASE_URL");
}
