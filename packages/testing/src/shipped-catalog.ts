import { fileURLToPath } from "node:url";
import { type Catalog, loadCatalog } from "@svc/catalog";

/** The folder of the shipped definitions. */
export const shippedToolkits: string = fileURLToPath(new URL("../../../toolkits", import.meta.url));

/**
 * A folder with two of the shipped definitions: the calendar and search ingestion. It is for tests that start processes, because every
 * process loads its definitions.
 */
export const fewToolkits: string = fileURLToPath(new URL("../toolkits", import.meta.url));

let loading: Promise<Catalog> | undefined;

/**
 * Returns the definitions that svc ships with. They are loaded once per process, because loading takes longer than all other work of a
 * server's start. The returned catalog never changes.
 */
export function shippedCatalog(): Promise<Catalog> {
  loading ??= loadCatalog({ folders: [shippedToolkits] });
  return loading;
}
