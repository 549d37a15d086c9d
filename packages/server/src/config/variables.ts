/**
 * An environment variable of the server. `default`: the value that is used if the variable is unset or empty, or a description of this
 * value.
 */
export type ConfigVariable = { readonly name: VariableName; readonly default: string; readonly meaning: string };

/** Names of the variables that `loadConfig` reads. */
export type VariableName = keyof typeof table;

const table = {
  SVC_HOST: ["127.0.0.1", "address to listen on"],
  SVC_PORT: ["8080", "port to listen on; 0 takes a free one"],
  SVC_HOSTS: [
    "empty: any name if SVC_HOST is not loopback, else none",
    "host names that requests may use, in addition to that of SVC_PUBLIC_URL and loopback, comma separated",
  ],
  SVC_ADMIN_LISTEN: [
    "empty: all on one port",
    "host:port of a separate listener for AdminService, metrics and health; the main listener then does not serve AdminService and metrics",
  ],
  SVC_TLS_CERT: ["empty: plain HTTP", "PEM file of the certificate and its chain; both listeners then accept only TLS"],
  SVC_TLS_KEY: ["empty", "PEM file of that certificate's private key, without a passphrase"],
  SVC_DATABASE_URL: [
    "empty: the embedded PostgreSQL",
    "postgres://user:password@host:5432/database, PostgreSQL 15 or newer",
  ],
  SVC_DATA_DIR: [
    ".svc in the checkout, ~/.local/share/svc of an installed package; as root /var/lib/svc/<checkout>, /var/lib/svc",
    "folder of the embedded database, the vault key and the first key",
  ],
  SVC_TOOLKITS: ["toolkits in the checkout", "folders of toolkit definitions, comma separated"],
  SVC_DEPLOYMENT: ["empty", "YAML file that binds toolkits to real hosts and sets who receives their events"],
  SVC_WEBHOOK_AUDIENCE: [
    "accounts with SVC_DEPLOYMENT or if an earlier start was set to it, else projects",
    "which projects receive an event if the deployment file does not say: accounts (those with the account that a post names) or projects (all)",
  ],
  SVC_VAULT_KEY: [
    "generated into the data folder when embedded; else required",
    "id:base64 keys of 32 bytes, space separated: svc decrypts with all of them, and svc vault rotate puts the first into use",
  ],
  SVC_ENV_FILE: [
    "empty",
    "file of variables, read at start and at SIGHUP; variables of the environment take precedence",
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
    "on: an emulator inside the process answers tool calls of toolkits that are not live; force: of all; off: of none",
  ],
  SVC_ROLE: ["all", "all, api (calls and webhooks) or worker (deliveries, jobs)"],
  SVC_ACTIVITY: ["on", "on or off: whether the node counts events, deliveries, calls and jobs for QuerySeries"],
  SVC_PROCESSES: [
    "1",
    "processes that share the port and the database, each a separate node; more than 1 needs Linux and no sandbox",
  ],
  SVC_PROCESS_ROLES: [
    "on with 4 or more processors, otherwise off",
    "on or off: whether every second process takes no requests, and runs instead the jobs that fetch or map rows",
  ],
  SVC_REUSE_PORT: [
    "off",
    "on or off: whether several nodes on one machine listen on the same port, each started by itself; needs Linux and SVC_DATABASE_URL",
  ],
  SVC_CONSOLE: ["on", "on or off: the pages below /console/, on nodes that take calls"],
  SVC_OIDC_ISSUER: [
    "empty: people sign in with keys",
    "address of the company's OpenID Connect provider: people then sign in to the console with their company accounts",
  ],
  SVC_OIDC_CLIENT_ID: ["empty", "id of svc at that provider"],
  SVC_OIDC_CLIENT_SECRET: [
    "empty: the secret in the vault, if any",
    "secret of svc at that provider; read again at SIGHUP from SVC_ENV_FILE. Better: store it with svc vault put oidc_client_secret",
  ],
  SVC_OIDC_ALLOWED_DOMAINS: ["empty: all", "mail domains of the accounts that may sign in, comma separated"],
  SVC_OIDC_GROUPS: [
    "empty: groups give no role",
    "roles of the provider's groups, separated by semicolons: ops=administrator; dev=member@default; audit=approver@*",
  ],
  SVC_SESSION_MAX: [
    "P7D",
    "how long a console session lasts at most after its sign-in; it ends earlier after 12 idle hours",
  ],
  SVC_DOCS: ["on", "on or off: this documentation below /docs/, on nodes that take calls"],
  SVC_ENDPOINT_CIDRS: ["empty", "address ranges beyond global unicast that deliveries may dial, comma separated"],
  SVC_PROVIDER_CIDRS: ["empty", "address ranges beyond global unicast that tool calls may dial, comma separated"],
  SVC_EMBEDDINGS_URL: [
    "empty: svc finds tools by words alone",
    "OpenAI-compatible embeddings endpoint, such as https://host/v1/embeddings: svc sends it the words of searches, and the texts of tools once",
  ],
  SVC_EMBEDDINGS_MODEL: ["empty", "name of the model to ask that endpoint for; another model has another name"],
  SVC_EMBEDDINGS_KEY: [
    "empty: the token in the vault, if any",
    "bearer token of that endpoint; read again at SIGHUP from SVC_ENV_FILE. Better: store it with svc vault put embeddings_key",
  ],
  SVC_ENDPOINT_CONCURRENCY: ["16", "deliveries in flight per subscription and node"],
  SVC_RETRY_SCHEDULE: ["5s,30s,2m,10m,30m,2h,6h,12h,24h", "waits between the attempts of a delivery, comma separated"],
  SVC_MAX_BODY_BYTES: ["1048576", "largest body of a request or webhook post, in bytes"],
  SVC_CONNECTIONS: [
    "10000",
    "connections open at once; a quarter is reserved for those that have sent a key, and idle ones without a key are closed first",
  ],
  SVC_CONNECTIONS_PER_ADDRESS: [
    "a quarter of SVC_CONNECTIONS",
    "connections open at once from one address; a trusted proxy has no such limit",
  ],
  SVC_TRUSTED_PROXIES: ["empty", "address ranges of proxies whose X-Forwarded-For svc trusts, comma separated"],
  SVC_DRAIN: ["35s", "time that work in progress gets at SIGTERM"],
  SVC_EVENT_RETENTION: ["P30D", "how long settled events, their deliveries and attempts are kept"],
  SVC_CALL_RETENTION: ["P7D", "how long the ledger keeps tool calls"],
  SVC_JOB_ROW_RETENTION: ["P7D", "how long the rows of a job are kept after its end"],
  SVC_JOB_RETENTION: [
    "empty: forever",
    "how long a job is kept after its end, with its receipt and log; a day at least",
  ],
  SVC_TOOLKIT_REFRESH: [
    "PT6H",
    "time after which svc reads the tools of an imported MCP server again; off: it reads no source of a toolkit by itself",
  ],
  SVC_STANDING: [
    "on",
    "on or hold: with hold, no due run of a standing program starts; a later start with on catches up by each program's rules",
  ],
  SVC_RESTORED: [
    "empty",
    "where SVC_DATABASE_URL was restored from a backup of its own: up to when, as RFC 3339; nothing is sent until svc resume",
  ],
  SVC_STANDING_RUNS: ["200", "runs of standing programs that a project may have active at once, without parked ones"],
  SVC_STANDING_MAX: ["10000", "standing programs that a project may have"],
  SVC_STANDING_RUN_RETENTION: ["P30D", "how long runs of standing programs are kept after their end"],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    "empty: no traces",
    "address of an OpenTelemetry receiver, such as http://collector:4318: svc sends its traces there, as protobuf over HTTP",
  ],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ["OTEL_EXPORTER_OTLP_ENDPOINT and /v1/traces", "whole address for traces"],
  OTEL_TRACES_SAMPLER: [
    "parentbased_always_on",
    "which traces are sent: always_on, always_off, traceidratio, or one of these after parentbased_, which lets the caller decide",
  ],
  OTEL_TRACES_SAMPLER_ARG: ["1", "part of the traces that traceidratio sends, from 0 to 1"],
  SVC_EXPORT_TO: [
    "empty: nowhere",
    "where svc sends the audit log and the usage of projects: file:///path, syslog://host:601, syslog+tls://host:6514, or the https address of a collector",
  ],
  SVC_EXPORT_TOKEN: ["empty", "bearer token of that collector, whose address must then begin with https"],
  SVC_TRACE_TOOLKITS: [
    "empty: none",
    "slugs of toolkits whose apps get the header traceparent, comma separated; * for every toolkit",
  ],
  SVC_LOG_LEVEL: ["info", "trace, debug, info, warn, error, fatal or silent"],
  SVC_CELL: [
    "empty: not a cell",
    "name of this deployment among several behind one address, such as c2: new projects, keys, webhook paths and console links carry it, so that a proxy routes by it",
  ],
  SVC_PUBLIC_URL: ["http://HOST:PORT", "address under which callers and providers reach the service"],
} as const;

/**
 * All environment variables of the server, in the order in which help lists them. Toolkits declare more variables for their webhook
 * secrets.
 */
export const configVariables: readonly ConfigVariable[] = Object.entries(table).map(([name, [fallback, meaning]]) => ({
  name: name as VariableName,
  default: fallback,
  meaning,
}));

/** Returns the default of a variable as text. Call it only for variables with a fixed default; for others, it returns a description. */
export function defaultOf(name: VariableName): string {
  return table[name][0];
}
