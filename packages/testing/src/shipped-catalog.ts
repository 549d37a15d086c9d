import { fileURLToPath } from "node:url";
import { type Catalog, loadCatalog } from "@svc/catalog";

/** The folder of the shipped definitions. */
export const shippedToolkits: string = fileURLToPath(new URL("../../../toolkits", import.meta.url));

/** A folder with two of them, the calendar and search ingestion, for tests that start processes, which each load their definitions. */
export const fewToolkits: string = fileURLToPath(new URL("../toolkits", import.meta.url));

let loading: Promise<Catalog> | undefined;

/**
 * Returns the shipped definitions, loaded once per process, because that takes longer than the rest of a server's start. A catalog never
 * changes.
 */
export function shippedCatalog(): Promise<Catalog> {
  loading ??= loadCatalog({ folders: [shippedToolkits] });
  return loading;
}
