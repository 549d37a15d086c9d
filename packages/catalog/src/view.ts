import { indexMessages, type MessageIndex } from "./convert-catalog.ts";
import type { Catalog } from "./model.ts";

/** What one caller sees of the catalog: its definitions, and the messages that CatalogService answers with. Never changed. */
export type CatalogView = Catalog & { readonly messages: MessageIndex };

/** The view of a catalog. */
export function viewOf(catalog: Catalog): CatalogView {
  return { ...catalog, messages: indexMessages(catalog) };
}

/** A catalog with a project's own toolkits over it: one of the same slug hides the shared toolkit and all of its tools. */
export function overlayCatalog(shared: Catalog, own: Catalog): Catalog {
  if (own.toolkits.size === 0) return shared;
  const tools = [...shared.tools].filter(([, tool]) => !own.toolkits.has(tool.toolkitSlug));
  return {
    toolkits: bySlug([...shared.toolkits, ...own.toolkits]),
    tools: bySlug([...tools, ...own.tools]),
  };
}

/** A later entry of the same slug wins. */
function bySlug<T>(entries: readonly (readonly [string, T])[]): ReadonlyMap<string, T> {
  return new Map([...new Map(entries)].sort(([a], [b]) => (a < b ? -1 : 1)));
}
