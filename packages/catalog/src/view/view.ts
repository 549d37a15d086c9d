import type { AppNames } from "@svc/core";
import type { MessageIndex } from "../convert-catalog.ts";
import type { Catalog, Trigger } from "../model.ts";

/** The source of a private toolkit in lists: `openapi`, or `file` if it was published from files, and the number of waiting changes. */
export type ToolkitSourceState = { readonly kind: string; readonly changesWaiting: number };

/**
 * The catalog as one caller may see it: the tool definitions, and their prepared API messages. A view never changes. `triggers`: every
 * trigger whose events the project may receive, by slug. If a private toolkit of the project replaces a shared toolkit in the catalog, the
 * triggers of the shared toolkit are still included here.
 */
export type CatalogView = Catalog & {
  readonly triggers: ReadonlyMap<string, Trigger>;
  readonly messages: MessageIndex;
  /** Sources of the project's private toolkits (apps that it defined), by slug. */
  readonly sources: ReadonlyMap<string, ToolkitSourceState>;
};

/** Returns a function that returns the name of a tool's app, by the slug of the tool. The names come from the given catalog. */
export function appNamesOf({ toolkits }: Pick<Catalog, "toolkits">): AppNames {
  return (toolSlug) => toolkits.get(toolSlug.slice(0, toolSlug.indexOf(".")))?.name;
}
