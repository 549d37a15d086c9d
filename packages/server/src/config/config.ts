import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { availableParallelism, homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Audience, SandboxMode } from "@svc/catalog";
import { createAddressGuard, formatValue, parseVaultKeys, readTime, type VaultKey } from "@svc/core";
import type { EmbeddingsTarget } from "@svc/node";
import type { LevelWithSilent } from "pino";
import { readEmbeddings } from "./embeddings.ts";
import { ConfigError, type ConfigFault, type Environment } from "./environment.ts";
import { type ExportTarget, readExportTarget } from "./export-target.ts";
import { checkApart, type ListenAddress, parseHost, parseListenAddress, readHosts, readTlsFiles } from "./listen.ts";
import { type OidcSettings, readOidc } from "./oidc.ts";
import { type ConfigReader, createConfigReader, parseBoundedDuration } from "./reader.ts";
import type { TlsFiles } from "./tls-pair.ts";
import { readTracing, type TracingSettings } from "./tracing.ts";
import { defaultOf } from "./variables.ts";

/** Settings of the server. `configVariables` lists the variables and their defaults. Times are in milliseconds. */
export type Config = {
  readonly host: string;
  readonly port: number;
  /**
   * Host names that the server accepts in requests, in addition to the host of `publicUrl` and loopback. They are normalized as
   * JavaScript's `URL` class does it, for example in lower case.
   */
  readonly hosts: readonly string[];
  /** Separate address for AdminService and metrics. If undefined, both use the main address. */
  readonly adminListen: ListenAddress | undefined;
  readonly tls: TlsFiles | undefined;
  /** Address of the PostgreSQL database. If undefined, the server uses an embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly toolkitFolders: readonly string[];
  readonly deploymentFile: string | undefined;
  /**
   * Says which projects receive a webhook event, from SVC_WEBHOOK_AUDIENCE: only those with the account that the post names, or all. Used
   * only if the deployment file does not say it. Undefined if the variable is not set.
   */
  readonly webhookAudience: Audience | undefined;
  /**
   * The keys that protect the vault (the encrypted store of credentials). If undefined, the server uses the key file in `dataDir`. If
   * `databaseUrl` is set, the keys are always given.
   */
  readonly vaultKeys: readonly VaultKey[] | undefined;
  readonly adminToken: string | undefined;
  readonly bootstrapKey: string | undefined;
  readonly role: "all" | "api" | "worker";
  /**
   * True if the node counts calls, events and deliveries for the API method QuerySeries, which returns them as charts. Set by SVC_ACTIVITY.
   */
  readonly isActivityCounted: boolean;
  /** Number of processes that listen on one port, each with its own node. */
  readonly processes: number;
  /** True if other nodes of the same operating system user may listen on the same port. */
  readonly isPortShared: boolean;
  /**
   * Role of this process among the processes of the server. `requests`: takes requests, and runs the jobs that process no rows. `rows`:
   * takes no requests, and runs the jobs that fetch or map rows. `all` does both.
   */
  readonly processRole: "all" | "requests" | "rows";
  /** True if the server runs several processes with different roles. False if every process does everything. */
  readonly hasProcessRoles: boolean;
  /** True if nodes that accept calls also serve the console. */
  readonly isConsoleOn: boolean;
  /** The provider with whose accounts people sign in to the console. Undefined if people sign in with keys only. */
  readonly oidc: OidcSettings | undefined;
  /** Maximum time of a console session from its sign-in, in milliseconds. Use of the session does not extend it. */
  readonly sessionMaxMs: number;
  /** True if nodes that accept calls also serve the documentation. */
  readonly isDocsOn: boolean;
  /** For which toolkits (apps) the built-in app emulator answers tool calls instead of the real app. */
  readonly sandboxMode: SandboxMode;
  readonly endpointRanges: readonly string[];
  readonly providerRanges: readonly string[];
  readonly endpointConcurrency: number;
  /** Endpoint for embeddings. If undefined, the search for tools uses words only. */
  readonly embeddings: EmbeddingsTarget | undefined;
  readonly retryScheduleMs: readonly number[];
  readonly bodyBytesMax: number;
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
  /** Address ranges of trusted proxies (CIDRs). */
  readonly trustedProxies: readonly string[];
  readonly drainMs: number;
  readonly eventRetentionMs: number;
  readonly callRetentionMs: number;
  readonly jobRowRetentionMs: number;
  /** Maximum number of runs of one project's standing programs (schedules and event automations) at the same time. */
  readonly standingRunsMax: number;
  /**
   * True if this node starts no runs of standing programs (SVC_STANDING is `hold`). An operator sets it, for example, after the database
   * was restored from a backup. False if due runs start.
   */
  readonly isStandingHeld: boolean;
  /**
   * Only for a server with an external PostgreSQL (`databaseUrl`): the time up to which a restored backup contains data, in epoch
   * milliseconds. Undefined if the database was not restored.
   */
  readonly restoredFromMs: number | undefined;
  /** Maximum standing programs (schedules) of a project. */
  readonly standingProgramsMax: number;
  readonly standingRunRetentionMs: number;
  /** Retention of ended jobs in milliseconds. Undefined: svc keeps them without limit. */
  readonly jobRetentionMs: number | undefined;
  /** Time in milliseconds after which svc reads the tools of an imported MCP server again. `off`: it reads no source by itself. */
  readonly toolkitRefreshMs: number | "off";
  /** Target of the audit log and of the usage of projects. Undefined if they are sent nowhere. */
  readonly exportTarget: ExportTarget | undefined;
  readonly logLevel: LevelWithSilent;
  /** How the process makes spans for an OpenTelemetry receiver. Undefined if it makes none. */
  readonly tracing: TracingSettings | undefined;
  /** Slugs of the toolkits whose apps get the header `traceparent`; `*` stands for every toolkit. */
  readonly tracedToolkits: ReadonlySet<string>;
  /** Public address of the service. If undefined, the address on which the server listens. */
  readonly publicUrl: string | undefined;
  /** Variables of the process. Webhook secrets are read from here each time they are used. */
  readonly environment: Environment;
};

/** Folders from which relative paths start. Paths in variables start at the working folder; default paths start at the checkout. */
export type ConfigFolders = {
  readonly workingDir: string;
  /** Folder of the source repository, or of the installed package. */
  readonly checkout: string;
  readonly isRoot: boolean;
  /**
   * Home folder of the user, if svc is an installed package. The default data folder is then inside this home folder. It cannot be inside
   * the package's folder, because an installation of the next version replaces that folder. Undefined in a checkout.
   */
  readonly packageHome?: string | undefined;
  /** Operating system. Default: that of this process. */
  readonly platform?: NodeJS.Platform;
};

/**
 * True if svc runs as an installed package, false in a checkout. A package contains JavaScript, because `npm run package` compiles the
 * sources. A checkout runs the TypeScript sources.
 */
const isPackage = import.meta.url.endsWith(".js");

/** The folder that contains this server's `package.json` and the folder `toolkits` (definitions of apps). */
export const checkoutDir: string = fileURLToPath(new URL("../../../../", import.meta.url)).replace(/\/$/, "");

/** Returns the working directory, the folder of svc's files, and the home directory if svc is an installed package. */
export function currentFolders(): ConfigFolders {
  const packageHome = isPackage ? homedir() : undefined;
  return { workingDir: process.cwd(), checkout: checkoutDir, isRoot: process.getuid?.() === 0, packageHome };
}

const dayMs = 86_400_000;
const retentionBounds = { minMs: 60_000, maxMs: 36_500 * dayMs };

/** Reads and checks every variable. Throws ConfigError, which lists all faults at once. */
export function loadConfig(environment: Environment, places: ConfigFolders = currentFolders()): Config {
  const { config, faults } = readConfig(environment, places);
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

/** A configuration, and the faults of its variables. A variable with a fault has its default in `config`. */
export type CheckedConfig = { readonly config: Config; readonly faults: readonly ConfigFault[] };

/** Reads and checks every variable, and returns all faults next to the configuration. `svc doctor` also examines an invalid one. */
export function readConfig(environment: Environment, places: ConfigFolders = currentFolders()): CheckedConfig {
  const reader = createConfigReader(environment);
  const pathOf = (text: string) => resolve(places.workingDir, text);
  const folders =
    reader
      .text("SVC_TOOLKITS")
      ?.split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "") ?? [];
  const dataDir = reader.text("SVC_DATA_DIR");
  const deploymentFile = reader.text("SVC_DEPLOYMENT");
  const connectionsMax = reader.integer("SVC_CONNECTIONS", { fallback: 10_000, min: 16, max: 1_000_000 });
  const config: Config = {
    host: reader.parsed("SVC_HOST", parseHost) ?? "127.0.0.1",
    port: reader.integer("SVC_PORT", { fallback: 8080, min: 0, max: 65_535 }),
    hosts: readHosts(reader),
    adminListen: reader.parsed("SVC_ADMIN_LISTEN", parseListenAddress),
    tls: readTlsFiles(reader, pathOf),
    databaseUrl: reader.parsed("SVC_DATABASE_URL", parseDatabaseUrl),
    dataDir: dataDir === undefined ? defaultDataDir(places) : pathOf(dataDir),
    toolkitFolders: folders.length === 0 ? [join(places.checkout, "toolkits")] : folders.map(pathOf),
    deploymentFile: deploymentFile === undefined ? undefined : pathOf(deploymentFile),
    webhookAudience: reader.optionalChoice("SVC_WEBHOOK_AUDIENCE", ["accounts", "projects"]),
    vaultKeys: reader.parsed("SVC_VAULT_KEY", parseVaultKeys),
    adminToken: reader.secret("SVC_ADMIN_TOKEN"),
    bootstrapKey: reader.secret("SVC_BOOTSTRAP_KEY"),
    role: reader.choice("SVC_ROLE", ["all", "api", "worker"], "all"),
    processes: reader.integer("SVC_PROCESSES", { fallback: 1, min: 1, max: 64 }),
    isPortShared: reader.choice("SVC_REUSE_PORT", ["on", "off"], "off") === "on",
    processRole: "all",
    hasProcessRoles: reader.choice("SVC_PROCESS_ROLES", ["on", "off"], hasCoresForRoles() ? "on" : "off") === "on",
    isConsoleOn: reader.choice("SVC_CONSOLE", ["on", "off"], "on") === "on",
    oidc: readOidc(reader),
    sessionMaxMs: reader.duration("SVC_SESSION_MAX", { fallbackMs: 7 * dayMs, minMs: 60_000, maxMs: 90 * dayMs }),
    isDocsOn: reader.choice("SVC_DOCS", ["on", "off"], "on") === "on",
    isActivityCounted: reader.choice("SVC_ACTIVITY", ["on", "off"], "on") === "on",
    sandboxMode: readSandbox(reader),
    endpointRanges: readRanges(reader, "SVC_ENDPOINT_CIDRS"),
    providerRanges: readRanges(reader, "SVC_PROVIDER_CIDRS"),
    embeddings: readEmbeddings(reader),
    endpointConcurrency: reader.integer("SVC_ENDPOINT_CONCURRENCY", { fallback: 16, min: 1, max: 1_024 }),
    retryScheduleMs:
      reader.parsed("SVC_RETRY_SCHEDULE", parseSchedule) ?? parseSchedule(defaultOf("SVC_RETRY_SCHEDULE")),
    bodyBytesMax: reader.integer("SVC_MAX_BODY_BYTES", { fallback: 1_048_576, min: 1_024, max: 104_857_600 }),
    connectionsMax,
    connectionsPerAddressMax: reader.integer("SVC_CONNECTIONS_PER_ADDRESS", {
      // By default one address may have a quarter of all connections. More would be a risk, because closing one connection keeps the node
      // busy for 0.1 ms.
      fallback: Math.floor(connectionsMax / 4),
      ...{ min: 8, max: 1_000_000 },
    }),
    trustedProxies: readRanges(reader, "SVC_TRUSTED_PROXIES"),
    drainMs: reader.duration("SVC_DRAIN", { fallbackMs: 35_000, minMs: 0, maxMs: 3_600_000 }),
    eventRetentionMs: reader.duration("SVC_EVENT_RETENTION", { fallbackMs: 30 * dayMs, ...retentionBounds }),
    callRetentionMs: reader.duration("SVC_CALL_RETENTION", { fallbackMs: 7 * dayMs, ...retentionBounds }),
    jobRowRetentionMs: reader.duration("SVC_JOB_ROW_RETENTION", { fallbackMs: 7 * dayMs, ...retentionBounds }),
    isStandingHeld: reader.choice("SVC_STANDING", ["on", "hold"], "on") === "hold",
    restoredFromMs: reader.parsed("SVC_RESTORED", parseInstant),
    standingRunsMax: reader.integer("SVC_STANDING_RUNS", { fallback: 200, min: 1, max: 1_000_000 }),
    standingProgramsMax: reader.integer("SVC_STANDING_MAX", { fallback: 10_000, min: 0, max: 1_000_000 }),
    standingRunRetentionMs: reader.duration("SVC_STANDING_RUN_RETENTION", {
      fallbackMs: 30 * dayMs,
      ...retentionBounds,
    }),
    jobRetentionMs: reader.parsed("SVC_JOB_RETENTION", parseJobRetention),
    toolkitRefreshMs: reader.parsed("SVC_TOOLKIT_REFRESH", parseToolkitRefresh) ?? 6 * 3_600_000,
    exportTarget: readExportTarget(reader),
    logLevel: reader.choice("SVC_LOG_LEVEL", ["trace", "debug", "info", "warn", "error", "fatal", "silent"], "info"),
    tracing: readTracing(reader, environment),
    tracedToolkits: new Set(reader.list("SVC_TRACE_TOOLKITS")),
    publicUrl: reader.parsed("SVC_PUBLIC_URL", parsePublicUrl),
    environment,
  };
  checkTogether(config, reader, places.platform ?? process.platform);
  if (folders.length > 0) checkToolkitFolders(config, reader);
  if (config.databaseUrl === undefined) checkDataDir(config, reader);
  return { config, faults: reader.faults };
}

/**
 * Returns the epoch milliseconds of a time in RFC 3339 form with an offset. For another text, throws an Error whose message says which form
 * is correct.
 */
function parseInstant(text: string): number {
  const at = readTime(text);
  if (at === undefined) throw new Error(`${formatValue(text)} is not a time, such as 2026-03-02T09:00:00Z`);
  return at;
}

/**
 * Returns the retention of jobs in milliseconds. The minimum is one day, because a repeated submission must find the job with the same
 * idempotency key.
 */
function parseJobRetention(text: string): number {
  return parseBoundedDuration(text, { ...retentionBounds, minMs: dayMs });
}

function parseToolkitRefresh(text: string): number | "off" {
  return text === "off" ? text : parseBoundedDuration(text, { minMs: 300_000, maxMs: 30 * dayMs });
}

/** True if an address to listen on can be reached only from this machine. False if other machines may reach it. */
export function isLoopbackHost(host: string): boolean {
  const verdict = createAddressGuard({ allowedRanges: [] }).judge(host);
  return host === "localhost" || (!verdict.allowed && verdict.range === "loopback");
}

/**
 * Checks rules about the combination of several variables, and reports each violation as a fault. For example, SVC_DATABASE_URL requires
 * SVC_VAULT_KEY.
 */
function checkTogether(config: Config, reader: ConfigReader, platform: NodeJS.Platform): void {
  checkApart(config, config.adminListen, reader);
  const isEmbedded = reader.text("SVC_DATABASE_URL") === undefined;
  if (!isEmbedded && reader.text("SVC_VAULT_KEY") === undefined) {
    reader.fault(
      "SVC_VAULT_KEY",
      'is unset, and SVC_DATABASE_URL is set; give all its nodes the same key, such as "k1:$(openssl rand -base64 32)"',
    );
  }
  if (isEmbedded && config.role !== "all") {
    reader.fault(
      "SVC_ROLE",
      `"${config.role}" shares its database with other nodes; set SVC_DATABASE_URL, or leave the role at "all"`,
    );
  }
  if (isEmbedded && config.restoredFromMs !== undefined) {
    reader.fault(
      "SVC_RESTORED",
      "is for a database of your own, and SVC_DATABASE_URL is unset: `svc restore` leaves a mark",
    );
  }
  if (sendsTokenInClear(config.exportTarget))
    reader.fault(
      "SVC_EXPORT_TOKEN",
      "is set, and SVC_EXPORT_TO begins with http://, so others could read it; use https://",
    );
  checkProcesses(config, reader, platform);
  checkSharedPort(config, reader, platform);
  if (config.adminToken !== undefined && config.adminToken === config.bootstrapKey) {
    reader.fault(
      "SVC_BOOTSTRAP_KEY",
      "equals SVC_ADMIN_TOKEN; the administrator and a project need secrets of their own",
    );
  }
}

/** True if a token would leave this machine without encryption. */
function sendsTokenInClear(target: ExportTarget | undefined): boolean {
  if (target?.kind !== "http" || target.token === undefined) return false;
  const { protocol, hostname } = new URL(target.url);
  return protocol === "http:" && !isLoopbackHost(hostname.replace(/^\[|\]$/g, ""));
}

/**
 * Returns the configuration of the process with this number, when the server runs several processes. With `hasProcessRoles`, odd numbers
 * take requests, and even numbers run long jobs.
 */
export function configOfProcess(config: Config, number: number): Config {
  if (!config.hasProcessRoles || config.processes === 1 || config.role !== "all") return config;
  return { ...config, processRole: number % 2 === 0 ? "rows" : "requests" };
}

/** True if the machine has enough processors for processes with different roles. With fewer, the processes would wait for each other. */
function hasCoresForRoles(): boolean {
  return availableParallelism() >= 4;
}

function checkProcesses({ processes, sandboxMode }: Config, reader: ConfigReader, platform: NodeJS.Platform): void {
  if (processes === 1) return;
  if (sandboxMode !== "off") {
    reader.fault(
      "SVC_PROCESSES",
      `"${processes}" does not work with the sandbox, which keeps its data in the memory of one process; set SVC_SANDBOX=off, or leave it at 1`,
    );
  }
  if (platform !== "linux") {
    reader.fault("SVC_PROCESSES", `"${processes}" needs Linux, where processes share a port; leave it at 1`);
  }
}

function checkSharedPort(
  { isPortShared, processes, databaseUrl }: Config,
  reader: ConfigReader,
  platform: NodeJS.Platform,
): void {
  if (!isPortShared) return;
  const name = "SVC_REUSE_PORT";
  if (platform !== "linux") reader.fault(name, '"on" needs Linux, where nodes share a port; leave it at off');
  if (processes > 1)
    reader.fault(
      name,
      '"on" does not work with SVC_PROCESSES, whose processes share the port already; use only one of both',
    );
  if (databaseUrl === undefined)
    reader.fault(name, '"on" shares the port with other nodes, which need one database; set SVC_DATABASE_URL');
}

function checkToolkitFolders({ toolkitFolders }: Config, reader: ConfigReader): void {
  for (const folder of toolkitFolders) {
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found?.isDirectory()) continue;
    const fault = found === undefined ? "does not exist" : "is not a folder";
    reader.fault("SVC_TOOLKITS", `${formatValue(folder)} ${fault}; name folders of toolkit definitions`);
  }
}

/** Checks that the data folder exists, or that no file on its path prevents creating it. */
function checkDataDir({ dataDir }: Config, reader: ConfigReader): void {
  for (let path = dataDir; ; path = dirname(path)) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isDirectory()) {
      reader.fault(
        "SVC_DATA_DIR",
        `${formatValue(path)} is not a folder; name a folder, which svc creates if it is missing`,
      );
    }
    if (found !== undefined || path === dirname(path)) return;
  }
}

function defaultDataDir({ checkout, isRoot, packageHome }: ConfigFolders): string {
  if (packageHome !== undefined) return isRoot ? "/var/lib/svc" : join(packageHome, ".local", "share", "svc");
  if (!isRoot) return join(checkout, ".svc");
  // PostgreSQL does not run as root, and its own account could not open a folder below /root. So if the user is root, the data folder is in
  // /var/lib/svc. The hash makes the folder of each checkout different.
  const hash = createHash("sha256").update(checkout).digest("hex").slice(0, 8);
  return join("/var/lib/svc", `${basename(checkout) || basename(dirname(checkout))}-${hash}`);
}

/** Returns the database's address. The text may contain a password, so error messages do not contain it. */
function parseDatabaseUrl(text: string): string {
  // The text is not parsed as a URL, because it may contain a list of hosts, such as postgres://first:5432,second:5432/database.
  if (/^postgres(ql)?:\/\/[^\s/]+(\/\S*)?$/.test(text)) return text;
  throw new Error("is not of the form postgres://user:password@host:5432/database");
}

function parseSchedule(text: string): number[] {
  const faults: string[] = [];
  const waits = text.split(",").flatMap((entry) => {
    try {
      return parseBoundedDuration(entry.trim(), { minMs: 1, maxMs: 30 * dayMs });
    } catch (error) {
      faults.push((error as Error).message);
      return [];
    }
  });
  if (faults.length > 0) throw new Error(faults.join("; "));
  if (waits.length <= 50) return waits;
  throw new Error(`has ${waits.length} waits; at most 50 are kept`);
}

/** Returns for which toolkits the built-in emulator answers. It replaces a bound app only if the operator explicitly requests this. */
function readSandbox(reader: ConfigReader): SandboxMode {
  const isBound = reader.text("SVC_DATABASE_URL") !== undefined || reader.text("SVC_DEPLOYMENT") !== undefined;
  return reader.choice("SVC_SANDBOX", ["on", "off", "force"], isBound ? "off" : "on");
}

function readRanges(
  reader: ConfigReader,
  name: "SVC_ENDPOINT_CIDRS" | "SVC_PROVIDER_CIDRS" | "SVC_TRUSTED_PROXIES",
): string[] {
  const ranges = reader.list(name);
  for (const range of ranges) {
    try {
      createAddressGuard({ allowedRanges: [range] });
    } catch (error) {
      reader.fault(name, (error as Error).message);
    }
  }
  return ranges;
}

function parsePublicUrl(text: string): string {
  const url = URL.parse(text);
  const isPlain =
    url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "" && url.username === "";
  if (isPlain) return text.replace(/\/+$/, "");
  throw new Error(`${formatValue(text)} is not an absolute http or https URL without credentials, query and fragment`);
}
