import { createHash } from "node:crypto";
import { availableParallelism, homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { SandboxMode } from "@svc/catalog";
import { createAddressGuard, formatValue, parseCell, parseVaultKeys, readTime } from "@svc/core";
import { checkDataDir, checkTogether, checkToolkitFolders } from "./check-together.ts";
import { readEmbeddings } from "./embeddings.ts";
import { ConfigError, type ConfigFault, type Environment } from "./environment.ts";
import { readExportTarget } from "./export-target.ts";
import { parseHost, parseListenAddress, readHosts, readTlsFiles } from "./listen.ts";
import { readOidc } from "./oidc.ts";
import { type ConfigReader, createConfigReader, parseBoundedDuration } from "./reader.ts";
import type { Config } from "./settings.ts";
import { readTracing } from "./tracing.ts";
import { defaultOf } from "./variables.ts";

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
    cell: reader.parsed("SVC_CELL", parseCell),
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
