import {
  type CatalogViews,
  createSourceWatcher,
  createToolkitImporter,
  importMemoryMib,
  importThread,
  type ReadSource,
  type SourceWatcher,
  type ToolkitImporter,
} from "@svc/catalog";
import type { AppAnswer } from "@svc/connections";
import { createThreadPool } from "@svc/core";
import type { Apps } from "./apps.ts";
import type { NodeParts } from "./parts.ts";

/** The parts of a node that import toolkits (the tools of apps) from documents and MCP servers, and read these sources again. */
export type ToolkitSources = {
  readonly importer: ToolkitImporter;
  readonly watcher: SourceWatcher;
  /** Time in milliseconds after which the node reads the tools of an imported MCP server again. */
  readonly mcpEveryMs: number;
  /** Ends the threads that convert documents. */
  close(): Promise<void>;
};

const mcpEveryMsDefault = 6 * 3_600_000;

/** Creates the parts of a node that import toolkits. Documents are converted in threads, which do not block the event loop. */
export function createSources(
  { db, clock, observer, limits }: NodeParts,
  {
    views,
    apps,
  }: { readonly views: CatalogViews; readonly apps: Pick<Apps, "readDocument" | "readOpenId" | "readMcp"> },
): ToolkitSources {
  const threads = createThreadPool({ entry: importThread, memoryMaxMib: importMemoryMib });
  const importer = createToolkitImporter({
    threads,
    read: async (url, projectId) => sourceOf(await apps.readDocument(url, projectId)),
    readOpenId: apps.readOpenId,
    readMcp: apps.readMcp,
    onRead: observer.sourceRead,
  });
  const mcpEveryMs = limits.mcpSourcesEveryMs ?? mcpEveryMsDefault;
  const onError = (error: unknown) => observer.sweepFailed("sources", error);
  return {
    importer,
    mcpEveryMs,
    watcher: createSourceWatcher({ db, clock, views, importer, mcpEveryMs, onError }),
    close: () => threads.close(),
  };
}

/** Returns the bytes of a document that svc requested from an address, or the reason why the document could not be read. */
function sourceOf(answer: AppAnswer): ReadSource {
  switch (answer.kind) {
    case "refused":
      return { kind: "refused", message: answer.message };
    case "too_large": {
      const why = answer.isBusy === true ? "too little memory is free at the moment" : "it has more than 16 MiB";
      return { kind: "failed", message: why };
    }
    case "answer":
      break;
    default:
      return { kind: "failed", message: answer.message };
  }
  if (answer.status !== 200) return { kind: "failed", message: `the server answered ${answer.status}` };
  if (answer.unreadable !== undefined) return { kind: "failed", message: `its text ${answer.unreadable}` };
  const { body, headers } = answer;
  // A thread gets the whole memory of a buffer. Small bodies are parts of a memory that also has other data.
  const bytes = body.byteLength === body.buffer.byteLength ? body : Uint8Array.from(body);
  return { kind: "document", bytes, contentType: headers["content-type"] };
}
