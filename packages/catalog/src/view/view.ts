import type { MessageIndex } from "../convert-catalog.ts";
import type { Catalog } from "../model.ts";

/** A caller's view of the catalog: the definitions, and the prepared messages of CatalogService. A view never changes. */
export type CatalogView = Catalog & { readonly messages: MessageIndex };
