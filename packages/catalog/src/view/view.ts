import type { MessageIndex } from "../convert-catalog.ts";
import type { Catalog, Trigger } from "../model.ts";

/**
 * The catalog as one caller may see it: the tool definitions, and their prepared API messages. A view never changes. `triggers`: every
 * trigger whose events the project may receive, by slug. If a private toolkit of the project replaces a shared toolkit in the catalog, the
 * triggers of the shared toolkit are still included here.
 */
export type CatalogView = Catalog & {
  readonly triggers: ReadonlyMap<string, Trigger>;
  readonly messages: MessageIndex;
};
