/** `full`: what was committed survives a crash and a power failure. `none`: for tests; a crash may corrupt the data. */
export type Durability = "full" | "none";

/** Settings of PostgreSQL by their names. */
export type ServerSettings = Readonly<Record<string, string>>;

/** What `serverArguments` makes a command line of. */
export type ServerArguments = {
  readonly cluster: string;
  readonly port: number;
  /** Where it makes its Unix socket, beside loopback; undefined: nowhere. */
  readonly socketFolder: string | undefined;
  readonly durability: Durability;
  /** Over those of the service. */
  readonly settings: ServerSettings | undefined;
};

/** The command line of a server on `cluster` that listens on this machine only. */
export function serverArguments(server: ServerArguments): string[] {
  const { cluster, port, durability, socketFolder = "", settings: given } = server;
  const own = { port: String(port), unix_socket_directories: socketFolder };
  const settings = { ...common, ...(durability === "full" ? full : none), ...given, ...own };
  return ["-D", cluster, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}

const common = {
  listen_addresses: "127.0.0.1",
  max_connections: "100",
  timezone: "UTC",
  log_timezone: "UTC",
  // Nothing here replicates.
  max_wal_senders: "0",
  max_logical_replication_workers: "0",
  // Statements are short and repeated: compiling them costs more than it saves, and workers more than they bring.
  jit: "off",
  max_parallel_workers_per_gather: "0",
  // The working set is in memory; PostgreSQL 18's own I/O workers would be three idle processes.
  io_method: "sync",
  // Queue tables change quickly: a minute between looks lets dead rows pile up.
  autovacuum_naptime: "10s",
  // Errors are the client's to report; their statements and details hold values.
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
  log_checkpoints: "off",
};

const full = {
  // A backup is taken while the server runs: everything is in its log.
  wal_level: "replica",
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "128MB",
  wal_buffers: "16MB",
  // Fewer checkpoints, fewer full pages in the log; recovery reads at most about this much.
  max_wal_size: "1GB",
  checkpoint_timeout: "15min",
  // The data are on a disk of this machine, most likely flash.
  random_page_cost: "1.1",
};

const none = {
  wal_level: "minimal",
  // Several test files run at once, each with the pools of several nodes.
  max_connections: "300",
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  shared_buffers: "64MB",
  autovacuum: "off",
};
