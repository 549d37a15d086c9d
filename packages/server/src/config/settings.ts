import type { Audience, SandboxMode } from "@svc/catalog";
import type { VaultKey } from "@svc/core";
import type { EmbeddingsTarget } from "@svc/node";
import type { LevelWithSilent } from "pino";
import type { Environment } from "./environment.ts";
import type { ExportTarget } from "./export-target.ts";
import type { ListenAddress } from "./listen.ts";
import type { OidcSettings } from "./oidc.ts";
import type { TlsFiles } from "./tls-pair.ts";
import type { TracingSettings } from "./tracing.ts";

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
  /** Name of the cell that this deployment is, one of several behind one address. Undefined if it is not a cell. */
  readonly cell: string | undefined;
  /** Public address of the service. If undefined, the address on which the server listens. */
  readonly publicUrl: string | undefined;
  /** Variables of the process. Webhook secrets are read from here each time they are used. */
  readonly environment: Environment;
};
