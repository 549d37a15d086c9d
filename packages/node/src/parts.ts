import type { Catalog, Deployment } from "@svc/catalog";
import type { AccountAccess, AppTransport } from "@svc/connections";
import type { Clock, MemoryBounds, NodeId, Sealer } from "@svc/core";
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
 * The background engines: sending deliveries; running jobs; starting standing programs and advancing throttled replays; renewing tokens;
 * deleting expired rows.
 */
export type EngineName = "deliveries" | "jobs" | "standing" | "renewal" | "retention";

/** All engines. */
export const engineNames: readonly EngineName[] = ["deliveries", "jobs", "standing", "renewal", "retention"];

/** Limits of a node's engines, times in milliseconds. */
export type NodeLimits = {
  readonly deliveries: DispatchLimits;
  /** Largest post of a provider in bytes, also after decompression. Default 1 MiB. */
  readonly postBytesMax?: number;
  /** Limits of the job engine that differ from its defaults. */
  readonly jobs?: Partial<EngineLimits>;
  /** Limits of the engine of standing programs that differ from its defaults. */
  readonly standing?: Partial<StandingLimits>;
  /** Memory limits of steps over sets. Default: those of `svc serve`. */
  readonly memory?: MemoryBounds;
  /** Milliseconds that a call without an outcome may still be running on another node. */
  readonly callRunningMaxMs?: number;
  /** Longest pause between two reads of WatchJob for new entries while no hint comes. Default 500. */
  readonly watchPollMs?: number;
  readonly retention: RetentionTimes;
  /** Times of erasures that differ from those of `svc serve`. */
  readonly erasures?: Partial<ErasureTimes> | undefined;
};

/** How long rows are kept, in milliseconds. */
export type RetentionTimes = {
  /** Settled events with their deliveries, and quarantined posts. */
  readonly eventsMs: number;
  /** The ledger of tool calls, at least a day. */
  readonly callsMs: number;
  /** Rows that ended jobs have processed. */
  readonly jobRowsMs: number;
  /** Ended jobs as a whole, with their rows. Undefined: forever. */
  readonly jobsMs: number | undefined;
  /** Ended runs of standing programs. Default 30 days. */
  readonly standingRunsMs?: number;
};

/** Addresses beyond global unicast that may be dialed, as CIDR ranges. */
export type OpenRanges = {
  /** For deliveries: endpoints of subscriptions and asks. */
  readonly endpoints: readonly string[];
  /** For tool calls and requests to token endpoints. */
  readonly apps: readonly string[];
};

/**
 * Parts of a node. Required ones say which deployment it belongs to. Optional ones have the default of `svc serve` and can be replaced one
 * by one.
 */
export type NodeParts = {
  readonly db: Database;
  /** Runs at the rate of the database's clock: leases and times mean the same on every node. */
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** The shared toolkits, with `deployment` applied. */
  readonly catalog: Catalog;
  /** Provides the OAuth registrations. Without it there are none. */
  readonly deployment?: Deployment | undefined;
  /**
   * Turns texts of tools and queries into vectors. Its key is the variable SVC_EMBEDDINGS_KEY, or else the deployment secret
   * `embeddings_key`. Default: tools are found by words only.
   */
  readonly embeddings?: EmbeddingsTarget | undefined;
  /** Returns the current value of a deployment variable: webhook secrets, OAuth clients, the key of the embeddings endpoint. */
  readonly variable: (name: string) => string | undefined;
  /** Returns the address of the deployment for callers and apps. Called at each use, because a port may be known late. */
  readonly publicUrl: () => string;
  /** Returns the console's address with a trailing slash, or undefined if no console is served. */
  readonly consoleUrl?: (() => string) | undefined;
  /** The version that agents see over MCP. */
  readonly version: string;
  readonly ranges: OpenRanges;
  readonly limits: NodeLimits;
  readonly observer: NodeObserver;
  /** True if the sandbox answers in place of the apps. */
  readonly isSandbox: boolean;
  /** Returns the last restore of the store from a backup, if any. Called at each use. */
  readonly restored?: (() => Restore | undefined) | undefined;
  /** Engines that `start` starts. Default: all. */
  readonly engines?: readonly EngineName[];
  /** Default: a new id. */
  readonly nodeId?: NodeId;
  /** Spreads retries. Returns a number in [0, 1). Default: the system's randomness. */
  readonly random?: () => number;
  /** Sends calls to the apps. Default: the network behind the guard, or the sandbox. */
  readonly transport?: AppTransport;
  /** Returns what agents are offered over MCP, given the node's own offers. Default: those. */
  readonly mcpOffers?: ((own: readonly McpOffer[]) => readonly McpOffer[]) | undefined;
  /** Default: the connected accounts of the store. */
  readonly accounts?: AccountAccess;
  /** Default: the ledger of the store. */
  readonly ledger?: Ledger;
  /** Called at the fault points of the job engine. Default: nothing. */
  readonly onFaultPoint?: OnFaultPoint;
  /** Called at the fault points of the engine of standing programs. Default: nothing. */
  readonly onStandingFaultPoint?: (point: StandingFaultPoint) => Promise<void> | void;
  /** Called at the fault points of throttled replays. Default: nothing. */
  readonly onReplayFaultPoint?: (point: ReplayFaultPoint) => Promise<void> | void;
};
