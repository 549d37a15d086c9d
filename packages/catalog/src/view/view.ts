import type { MessageIndex } from "../convert-catalog.ts";
import type { Catalog } from "../model.ts";

/** What one caller sees of the catalog: its definitions, and the messages that CatalogService answers with. Never changed. */
export type CatalogView = Catalog & { readonly messages: MessageIndex };
