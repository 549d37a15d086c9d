import type { NewToolkitSource, ToolkitSource, WaitingChanges } from "@svc/db/catalog/sources";
import type { CheckedImport, ImportSource } from "../import/import-toolkit.ts";
import type { ComparedDefinitions } from "./compare-texts.ts";

/** Options with which a source is read again: those of its import, without what the row of the source has in columns of its own. */
type SourceOptions =
  | Omit<Extract<ImportSource, { readonly kind: "openapi" }>, "kind" | "slug" | "url" | "document">
  | Omit<Extract<ImportSource, { readonly kind: "mcp" }>, "kind" | "slug" | "url" | "listingAccountId">;

/**
 * How a source is read again. `document`: text of the newer document; empty to read it from its address. `listingAccountId`: id of the
 * account that lists the tools of an MCP server from now on; empty for the same one as before.
 */
export type ReadingAgain = { readonly document: string; readonly listingAccountId: string };

/** Default choices for reading a source again: from its own address, and with the account that listed the tools before. */
export const asBefore: ReadingAgain = { document: "", listingAccountId: "" };

/** Names of tools by operation, as an import or a refresh leaves them. */
type ToolNames = Pick<CheckedImport, "names" | "moved">;

/** Returns the options of an import as JSON text, in the form in which they are stored. */
export function optionsText(source: ImportSource, { names, moved }: ToolNames): string {
  const { kind, slug: _slug, url: _url, ...options } = source;
  if (!("document" in options)) {
    const { listingAccountId: _listingAccountId, ...stored } = options;
    return JSON.stringify(stored);
  }
  const { document: _document, ...others } = options;
  return JSON.stringify({ ...others, names, moved });
}

/** Returns the import request with which svc reads a stored source again. */
export function importOf(
  { kind, slug, origin, options }: ToolkitSource,
  { document, listingAccountId }: ReadingAgain,
): ImportSource {
  // svc wrote the options with `optionsText` for a source of this kind.
  const stored = readOptions(options);
  return {
    ...stored,
    kind,
    slug,
    url: origin,
    ...(kind === "openapi" ? { document } : { listingAccountId }),
  } as ImportSource;
}

/** Returns stored options of a source. */
export function readOptions(options: string): SourceOptions {
  return JSON.parse(options) as SourceOptions;
}

/** Returns the source of an imported toolkit, in the form in which it is stored. `mcpEveryMs`: time between two reads of an MCP server. */
export function newSource(
  source: ImportSource,
  made: CheckedImport,
  { nowMs, mcpEveryMs }: { readonly nowMs: number; readonly mcpEveryMs: number },
): NewToolkitSource {
  const everyMs = source.kind === "mcp" ? mcpEveryMs : source.isWatched ? watchedEveryMs : undefined;
  return {
    kind: source.kind,
    origin: source.url,
    options: optionsText(source, made),
    digest: Buffer.from(made.digest, "hex"),
    refreshedAt: nowMs,
    nextAt: everyMs === undefined ? null : nowMs + everyMs,
    listingAccountId: made.listingAccountId ?? null,
  };
}

/** Time in milliseconds between two reads of a document that a project watches. */
export const watchedEveryMs = 86_400_000;

/**
 * Returns the differences found in a source in the form in which the database stores them until an approver accepts them. Returns undefined
 * if there are none.
 */
export function waitingOf(compared: ComparedDefinitions | undefined): WaitingChanges | undefined {
  if (compared === undefined) return undefined;
  const { changes, digest, count, nextDefinition } = compared;
  return { changes, changesDigest: Buffer.from(digest, "hex"), changesCount: count, nextDefinition };
}
