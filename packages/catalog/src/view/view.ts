import type { MessageIndex } from "../convert-catalog.ts";
import type { Catalog, Trigger } from "../model.ts";

/**
 * A caller's view of the catalog: the tool definitions, and the prepared messages of CatalogService. A view never changes. `triggers`: by
 * slug, every trigger whose events the project may receive. These are also triggers of a shared toolkit (an app's tools and webhooks) that
 * a private one hides.
 */
export type CatalogView = Catalog & {
  readonly triggers: ReadonlyMap<string, Trigger>;
  readonly messages: MessageIndex;
};
