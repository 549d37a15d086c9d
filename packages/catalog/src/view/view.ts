import type { MessageIndex } from "../convert-catalog.ts";
import type { Catalog } from "../model.ts";

/** A caller's view of the catalog: its definitions, and the messages with which CatalogService answers. Never changed. */
export type CatalogView = Catalog & { readonly messages: MessageIndex };
