import type { Catalog, Deployment, SandboxMode } from "@svc/catalog";
import type { AccountAccess, AppTransport } from "@svc/connections";
import type { Clock, KeyId, MemoryBounds, NodeId, ProjectPrincipal, Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { ErasureTimes } from "@svc/db/erasures/step";
import type { Restore } from "@svc/db/restores/repo";
import type { DispatchLimits } from "@svc/delivery";
import type { EngineLimits, OnFaultPoint } from "@svc/jobs";
import type { StandingFaultPoint, StandingLimits } from "@svc/standing";
import type { EmbeddingsTarget, Ledger, McpOffer } from "@svc/tools";
import type { ReplayFaultPoint } from "@svc/triggers";
import type { NodeObserver } from "./observer.ts";

/**
 * The background engines. `deliveries` sends deliveries, `jobs` runs jobs, `standing` starts the jobs of standing programs (schedules) and
 * advances throttled replays. `renewal` renews tokens, `sources` reads MCP servers and watched documents again, `retention` deletes expired
 * rows. `shortJobs` runs only jobs that this node stored and that neither fetch nor map rows; other nodes run the rest.
 */
export type EngineName = "deliveries" | "jobs" | "shortJobs" | "standing" | "renewal" | "sources" | "retention";

/** Names of the background engines that a node runs by default. */
export const engineNames: readonly EngineName[] = ["deliveries", "jobs", "standing", "renewal", "sources", "retention"];

/** Limits of a node's engines, times in milliseconds. */
export type NodeLimits = {
  readonly deliveries: DispatchLimits;
  /** Maximum size of a provider's webhook post in bytes, before and after decompression. Default 1 MiB. */
  readonly postBytesMax?: number;
  /** Limits of the job engine that replace its defaults. A limit that is not given keeps its default. */
  readonly jobs?: Partial<EngineLimits>;
  /**
   * Limits of the engine that starts the runs of standing programs (programs that start jobs on a schedule or event). Limits that are not
   * given have their defaults.
   */
  readonly standing?: Partial<StandingLimits>;
  /** Memory that steps may use for work on sets of rows. If it is not given, the defaults of `svc serve` apply. */
  readonly memory?: MemoryBounds;
  /** Maximum time in milliseconds for which a tool call without a recorded outcome counts as still running on another node. */
  readonly callRunningMaxMs?: number;
  /**
   * Longest time in milliseconds that WatchJob waits before it reads a job's log again. A notification of a change makes it read earlier.
   * Default 500.
   */
  readonly watchPollMs?: number;
  /** Time in milliseconds after which the tools of an imported MCP server are read again. Default 6 hours. */
  readonly mcpSourcesEveryMs?: number;
  readonly retention: RetentionTimes;
  /** Durations that control how a person's or a project's data is erased. A duration that is not given has the default of `svc serve`. */
  readonly erasures?: Partial<ErasureTimes> | undefined;
};

/** Times for which svc keeps rows before it deletes them, in milliseconds. */
export type RetentionTimes = {
  /**
   * Time for which events and their deliveries are kept, after all deliveries of the event have ended. Also the time for which quarantined
   * webhook posts (which svc could not turn into events) are kept.
   */
  readonly eventsMs: number;
  /** Time for which rows of the ledger are kept, in milliseconds. A time below one day counts as one day. */
  readonly callsMs: number;
  /** Time for which the rows that a job has processed are kept, after the job has ended. */
  readonly jobRowsMs: number;
  /** Time for which ended jobs are kept, with all their rows. Undefined means forever. */
  readonly jobsMs: number | undefined;
  /** Time for which ended runs of standing programs (schedules) are kept. Default 30 days. */
  readonly standingRunsMs?: number;
};

/** CIDR ranges of addresses that svc may connect to in addition to public (global unicast) addresses. */
export type OpenRanges = {
  /** CIDR ranges to which svc may connect when it sends to endpoints: those of subscriptions, and those that receive questions of jobs. */
  readonly endpoints: readonly string[];
  /** CIDR ranges to which svc may connect for tool calls and for requests to the token endpoints of apps. */
  readonly apps: readonly string[];
};

/**
 * A resource on the way from something that failed to its first cause. `remedy`: the action that may help, in words; empty if none is known.
 */
type ExplainedCause = { readonly id: string; readonly sentence: string; readonly remedy: string };

/**
 * Returns the chain of causes of a resource, for example of a failed job. Without an id, explains the newest failure of the group with the
 * most failures in the last hour; the chain is empty if nothing failed. Throws TRACE_ID_UNKNOWN and TRACE_NOT_FOUND.
 */
export type Explain = (principal: ProjectPrincipal, id: string | undefined) => Promise<readonly ExplainedCause[]>;

/** The parts of a node. If an optional part is absent, the node uses the same default as `svc serve`. */
export type NodeParts = {
  readonly db: Database;
  /**
   * The node's clock. It must run at the same speed as the clock of the database. Otherwise the leases (a node's time-limited rights to
   * tasks) would end at different times on different nodes.
   */
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** The toolkits (apps with their tools and webhooks) that all projects share, with the changes of the deployment file applied. */
  readonly catalog: Catalog;
  /** The values of the deployment file, which include the OAuth registrations. Without a deployment file, no app has an OAuth client. */
  readonly deployment?: Deployment | undefined;
  /**
   * Service that turns texts of tools and queries into vectors. Its key is the variable SVC_EMBEDDINGS_KEY or, if that is not set, the
   * deployment secret `embeddings_key`. Default: no service; search then matches words only.
   */
  readonly embeddings?: EmbeddingsTarget | undefined;
  /** Returns the current value of a deployment variable: webhook secrets, OAuth clients, the key of the embeddings endpoint. */
  readonly variable: (name: string) => string | undefined;
  /** Returns the public address of the deployment. Called at each use, because the port may be known only after the start. */
  readonly publicUrl: () => string;
  /** Returns the console's address with a trailing slash, or undefined if no console is served. */
  readonly consoleUrl?: (() => string) | undefined;
  /** Name of the deployment's cell, which the paths of incoming webhooks carry. Undefined if the deployment is not a cell. */
  readonly cell?: string | undefined;
  /** Returns the portal's address with a trailing slash. The function is absent if the console, and with it the portal, is not served. */
  readonly portalUrl?: (() => string) | undefined;
  /** Called when an API call to this node has ended keys. The server then refuses these keys at once. */
  readonly onKeysEnded?: ((ids: readonly KeyId[]) => void) | undefined;
  /** Version of svc. MCP shows it to agents as the version of the server. */
  readonly version: string;
  readonly ranges: OpenRanges;
  readonly limits: NodeLimits;
  readonly observer: NodeObserver;
  /** For which toolkits (apps) the sandbox answers instead of the app. */
  readonly sandboxMode: SandboxMode;
  /**
   * Returns the last restore of the database from a backup; undefined if the database was never restored. The node calls it at each use,
   * because the restore changes when an operator resumes the service.
   */
  readonly restored?: (() => Restore | undefined) | undefined;
  /** The background engines that `Node.start` starts. Default: all of them. */
  readonly engines?: readonly EngineName[];
  /**
   * Called when work becomes due that this node does not do itself: jobs, or runs of schedules. The caller can then call `Node.wake` of a
   * node that does this work. Default: that node finds the work the next time it looks.
   */
  readonly onDueElsewhere?: (() => void) | undefined;
  /** Id of the node. Default: a new id. */
  readonly nodeId?: NodeId;
  /** Returns a random number in [0, 1). Used to spread retries. Default: the system's randomness. */
  readonly random?: () => number;
  /** Sends calls to apps. Default: the network with the address guard, or the sandbox. */
  readonly transport?: AppTransport;
  /**
   * Returns the features (tools, tasks, events) that the node offers to agents over MCP. `own`: the features of the node itself. Default:
   * `own` unchanged.
   */
  readonly mcpOffers?: ((own: readonly McpOffer[]) => readonly McpOffer[]) | undefined;
  /**
   * Slugs of the shared toolkits whose apps get the header `traceparent`; `*` stands for every toolkit. Default: none. Only a process that
   * makes spans sends it.
   */
  readonly tracedToolkits?: ReadonlySet<string> | undefined;
  /** Explains to agents why something failed. If it is absent, agents get no tool for this. */
  readonly explain?: Explain | undefined;
  /** Finds the connected account and the credential that a tool call uses. Default: reads them from the database. */
  readonly accounts?: AccountAccess;
  /** The ledger (record) of tool calls. Default: the ledger in the database. */
  readonly ledger?: Ledger;
  /** Called at the fault points of the job engine, where tests interrupt it. Default: does nothing. */
  readonly onFaultPoint?: OnFaultPoint;
  /**
   * Called at the points at which tests interrupt the engine of standing programs (programs that start jobs on a schedule or event), to
   * simulate a crash. Default: does nothing.
   */
  readonly onStandingFaultPoint?: (point: StandingFaultPoint) => Promise<void> | void;
  /**
   * Called at the points at which tests interrupt a throttled replay (delivering events again slowly), to simulate a crash. Default: does
   * nothing.
   */
  readonly onReplayFaultPoint?: (point: ReplayFaultPoint) => Promise<void> | void;
};
