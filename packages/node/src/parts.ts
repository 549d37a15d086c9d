import type { Catalog, Deployment } from "@svc/catalog";
import type { AccountAccess, AppTransport } from "@svc/connections";
import type { Clock, MemoryBounds, NodeId, Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { ErasureTimes } from "@svc/db/erasures/step";
import type { Restore } from "@svc/db/restores/repo";
import type { DispatchLimits } from "@svc/delivery";
import type { EngineLimits, OnFaultPoint } from "@svc/jobs";
import type { StandingFaultPoint, StandingLimits } from "@svc/standing";
import type { EmbeddingsPlace, Ledger, McpOffer } from "@svc/tools";
import type { ReplayFaultPoint } from "@svc/triggers";
import type { NodeObserver } from "./observer.ts";

/** What works in the background: sending deliveries, driving jobs, starting programs that stand and moving paced replays on, renewing tokens, removing what is past its time. */
export type EngineName = "deliveries" | "jobs" | "standing" | "renewal" | "retention";

/** All of them. */
export const engineNames: readonly EngineName[] = ["deliveries", "jobs", "standing", "renewal", "retention"];

/** Bounds of a node's engines; times in milliseconds. */
export type NodeLimits = {
  readonly deliveries: DispatchLimits;
  /** Bytes that a provider's post may have, and decode to where it is compressed. Default 1 MiB. */
  readonly postBytesMax?: number;
  /** Those of the job engine that differ from its defaults. */
  readonly jobs?: Partial<EngineLimits>;
  /** Those of the engine of standing programs that differ from its defaults. */
  readonly standing?: Partial<StandingLimits>;
  /** Of what steps over sets hold in memory. Default: as `svc serve` has it. */
  readonly memory?: MemoryBounds;
  /** How long a call without an outcome may still be under way on another node. */
  readonly callRunningMaxMs?: number;
  /** Longest pause between two looks of WatchJob for new entries while no hint comes. Default 500. */
  readonly watchPollMs?: number;
  readonly retention: RetentionTimes;
  /** Times of erasures that differ from those of `svc serve`. */
  readonly erasures?: Partial<ErasureTimes> | undefined;
};

/** How long rows are kept, milliseconds. */
export type RetentionTimes = {
  /** Settled events with their deliveries, and quarantined posts. */
  readonly eventsMs: number;
  /** The ledger of tool calls; a day at least. */
  readonly callsMs: number;
  /** What ended jobs have processed. */
  readonly jobRowsMs: number;
  /** Ended jobs as a whole, what they processed among it; undefined: for good. */
  readonly jobsMs: number | undefined;
  /** Runs of standing programs that ended. Default 30 days. */
  readonly standingRunsMs?: number;
};

/** Addresses beyond global unicast that may be dialled, as CIDR ranges. */
export type OpenRanges = {
  /** By deliveries: endpoints of subscriptions and asks. */
  readonly endpoints: readonly string[];
  /** By tool calls and requests to token endpoints. */
  readonly apps: readonly string[];
};

/**
 * What a node is made of. Those without a question mark say which deployment it belongs to; the others have a default that
 * `svc serve` runs with, and are there to be replaced one by one.
 */
export type NodeParts = {
  readonly db: Database;
  /** Runs like the database's: leases and times mean the same on every node. */
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** The shared toolkits, with `deployment` applied. */
  readonly catalog: Catalog;
  /** Whose OAuth registrations are used; without one there are none. */
  readonly deployment?: Deployment | undefined;
  /** What turns texts of tools and queries into vectors; its key is the variable SVC_EMBEDDINGS_KEY, or else the secret `embeddings_key` of the deployment. Default: tools are found by words alone. */
  readonly embeddings?: EmbeddingsPlace | undefined;
  /** The present value of a variable of the deployment: webhook secrets, OAuth clients, the key of the embeddings endpoint. */
  readonly variable: (name: string) => string | undefined;
  /** Where callers and apps reach the deployment. Asked at each use: a port may be known late. */
  readonly publicUrl: () => string;
  /** The address of the console, with a slash at its end; undefined where none is served. */
  readonly consoleUrl?: (() => string) | undefined;
  /** What agents are told of themselves over MCP. */
  readonly version: string;
  readonly ranges: OpenRanges;
  readonly limits: NodeLimits;
  readonly observer: NodeObserver;
  /** Whether an emulator answers in place of the apps. */
  readonly isSandbox: boolean;
  /** The last restore of the store from a backup; nothing where there was none. Asked at each use. */
  readonly restored?: (() => Restore | undefined) | undefined;
  /** Which engines `start` starts. Default: all. */
  readonly engines?: readonly EngineName[];
  /** Default: a new id. */
  readonly nodeId?: NodeId;
  /** Spreads retries; in [0, 1). Default: the system's randomness. */
  readonly random?: () => number;
  /** What carries calls to the apps. Default: the network behind the guard, or the sandbox. */
  readonly transport?: AppTransport;
  /** What agents are offered over MCP, made of what a node offers of itself. Default: that. */
  readonly mcpOffers?: ((own: readonly McpOffer[]) => readonly McpOffer[]) | undefined;
  /** Default: the connected accounts of the store. */
  readonly accounts?: AccountAccess;
  /** Default: the ledger of the store. */
  readonly ledger?: Ledger;
  /** Comes to the fault points of the job engine. Default: nothing happens there. */
  readonly onFaultPoint?: OnFaultPoint;
  /** Comes to the fault points of the engine of standing programs. Default: nothing happens there. */
  readonly onStandingFaultPoint?: (point: StandingFaultPoint) => Promise<void> | void;
  /** Comes to the fault points of paced replays. Default: nothing happens there. */
  readonly onReplayFaultPoint?: (point: ReplayFaultPoint) => Promise<void> | void;
};
