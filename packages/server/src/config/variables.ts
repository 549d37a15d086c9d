/** One environment variable of the service. `default` is what an unset or empty one means, in words where it is not a value. */
export type ConfigVariable = { readonly name: VariableName; readonly default: string; readonly meaning: string };

/** Names of the variables that `loadConfig` reads. */
export type VariableName = keyof typeof table;

const table = {
  SVC_HOST: ["127.0.0.1", "address to listen on"],
  SVC_PORT: ["8080", "port to listen on; 0 takes a free one"],
  SVC_DATABASE_URL: [
    "empty: the embedded PostgreSQL",
    "postgres://user:password@host:5432/database, PostgreSQL 15 or newer",
  ],
  SVC_DATA_DIR: [
    ".svc in the checkout; as root /var/lib/svc/<checkout>",
    "folder of the embedded database, the vault key and the first key",
  ],
  SVC_TOOLKITS: ["toolkits in the checkout", "folders of toolkit definitions, comma separated"],
  SVC_DEPLOYMENT: ["empty", "YAML file that binds toolkits to real hosts and sets who receives their events"],
  SVC_VAULT_KEY: [
    "generated into the data folder when embedded; else required",
    "id:base64 keys of 32 bytes, space separated: the first seals, all open",
  ],
  SVC_ENV_FILE: [
    "empty",
    "file of variables, read at start and at SIGHUP; what the environment sets as well wins over it",
  ],
  SVC_ADMIN_TOKEN: [
    "empty: AdminService refuses every call",
    "bearer token of the deployment's administrator, at least 32 characters",
  ],
  SVC_BOOTSTRAP_KEY: [
    "empty",
    "approver key of the project `default`, stored once, at least 32 characters; once revoked it stays revoked",
  ],
  SVC_SANDBOX: [
    "on when embedded and without SVC_DEPLOYMENT, else off",
    "on: an emulator inside the process answers tool calls; beside a database or a deployment it takes force",
  ],
  SVC_ROLE: ["all", "all, api (calls and webhooks) or worker (deliveries, jobs)"],
  SVC_ENDPOINT_CIDRS: ["empty", "address ranges beyond global unicast that deliveries may dial, comma separated"],
  SVC_PROVIDER_CIDRS: ["empty", "address ranges beyond global unicast that tool calls may dial, comma separated"],
  SVC_ENDPOINT_CONCURRENCY: ["16", "deliveries in flight per subscription and node"],
  SVC_RETRY_SCHEDULE: ["5s,30s,2m,10m,30m,2h,6h,12h,24h", "waits between the attempts of a delivery, comma separated"],
  SVC_MAX_BODY_BYTES: ["1048576", "largest body of a request or webhook post, in bytes"],
  SVC_DRAIN: ["35s", "time that work in flight gets at SIGTERM"],
  SVC_EVENT_RETENTION: ["P30D", "how long settled events, their deliveries and attempts are kept"],
  SVC_CALL_RETENTION: ["P7D", "how long the ledger keeps tool calls"],
  SVC_JOB_ROW_RETENTION: ["P7D", "how long the rows of a job are kept after its end"],
  SVC_LOG_LEVEL: ["info", "trace, debug, info, warn, error, fatal or silent"],
  SVC_PUBLIC_URL: ["http://HOST:PORT", "address under which callers and providers reach the service"],
} as const;

/** Every variable the service reads, in the order of its help; toolkits name further ones for their webhook secrets. */
export const configVariables: readonly ConfigVariable[] = Object.entries(table).map(([name, [fallback, meaning]]) => ({
  name: name as VariableName,
  default: fallback,
  meaning,
}));

/** The text of a variable's default, for those whose default is a value. */
export function defaultOf(name: VariableName): string {
  return table[name][0];
}
