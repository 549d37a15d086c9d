import { type Clock, Fault } from "@svc/core";
import { toolkitSourcesForProject } from "@svc/db/catalog/sources";
import { claimSource, listDueSources, type SourceKey, settleSource } from "@svc/db/catalog/watched-sources";
import type { Database } from "@svc/db/connect";
import type { ToolkitImporter } from "../import/import-toolkit.ts";
import { createSourceReader, type SourceReader, type SourceReaderOptions } from "./read-again.ts";
import { asBefore, watchedEveryMs } from "./source-options.ts";

/**
 * Reads sources of private toolkits (MCP servers, and documents that a project watches) again when they are due. The changes wait until an
 * approver accepts them, except those of a trusted source that svc accepts by itself.
 */
export type SourceWatcher = {
  start(): void;
  /** Begins no further read. A read in progress ends in the background; if it does not, its lease expires. */
  stop(): Promise<void>;
};

/**
 * Dependencies of a watcher. `mcpEveryMs`: time between two reads of an MCP server, in milliseconds. `onError`: called with errors that no
 * source has caused, such as an error of the database.
 */
export type SourceWatcherOptions = SourceReaderOptions & {
  readonly mcpEveryMs: number;
  readonly onError: (error: unknown) => void;
};

/** Time in milliseconds for which one node alone reads a source. If the node ends in that time, another node continues after it. */
const leaseMs = 60_000;
/** Least time in milliseconds between two reads of a source that svc begins by itself. */
const pauseMs = 300_000;
/** Maximum time in milliseconds until a source that could not be read is read again. */
const retryMs = 3_600_000;
/** Time in milliseconds between two looks for due sources, and the maximum number of sources that are read in one look. */
const [everyMs, batch] = [15_000, 8];

/**
 * Creates the watcher of one node, which reads sources again when they are due. The watchers of several nodes may run at the same time: a
 * lease (exclusive right for a limited time) decides which of them reads a source.
 */
export function createSourceWatcher(options: SourceWatcherOptions): SourceWatcher {
  const { db, clock, importer } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const onError = (error: unknown) => {
    if (!signal.aborted) options.onError(error);
  };
  // A read that fails because the node ends says nothing about the source.
  const refresh: ToolkitImporter["refresh"] = (...given) =>
    importer.refresh(...given).catch((error: unknown) => {
      throw signal.aborted ? new Error("the node ends") : error;
    });
  const reader = createSourceReader({ ...options, importer: { ...importer, refresh } });
  const repeat = async () => {
    while (!signal.aborted) {
      const due = await listDueSources(db, clock.now(), batch).catch((error: unknown) => {
        onError(error);
        return [];
      });
      let readCount = 0;
      for (const key of due) {
        if (signal.aborted) return;
        const isRead = await readOne({ ...options, onError, reader, signal }, key).catch(onError);
        if (isRead === true) readCount++;
      }
      // A source that could not be claimed or settled is still due: without the wait, the same sources would be tried without end.
      if (due.length < batch || readCount === 0) await clock.wait(everyMs, signal);
    }
  };
  let isStarted = false;
  return {
    start() {
      if (!isStarted) void repeat();
      isStarted = true;
    },
    stop: async () => stopping.abort(),
  };
}

type ReadOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly reader: SourceReader;
  readonly mcpEveryMs: number;
  readonly onError: (error: unknown) => void;
  readonly signal: AbortSignal;
};

/**
 * Reads a source that is due, unless another node does. If this node ends meanwhile, the lease stays until it expires. Returns true if this
 * node had the lease.
 */
async function readOne(options: ReadOptions, key: SourceKey): Promise<boolean> {
  const { db, clock, reader, mcpEveryMs, onError, signal } = options;
  const nowMs = clock.now();
  const lease = { ...key, leaseUntilMs: nowMs + leaseMs };
  if (!(await claimSource(db, lease, nowMs))) return false;
  const source = await toolkitSourcesForProject(db, key.projectId).find(key.slug);
  if (source === undefined) return true;
  const usualMs = source.kind === "mcp" ? mcpEveryMs : watchedEveryMs;
  let nextMs = usualMs;
  try {
    await reader.store(key.projectId, source, await reader.read(key.projectId, source, asBefore));
  } catch (error) {
    if (signal.aborted) return true;
    nextMs = Math.min(usualMs, retryMs);
    // A fault is what RefreshToolkit would answer. GetToolkitSource shows it as the last error, if it is about the source.
    if (!(error instanceof Fault)) onError(error);
  }
  const endedMs = clock.now();
  await settleSource(db, lease, { nextAt: endedMs + nextMs, pauseUntil: endedMs + pauseMs });
  return true;
}
