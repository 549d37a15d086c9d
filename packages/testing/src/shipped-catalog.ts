import { fileURLToPath } from "node:url";
import { type Catalog, loadCatalog } from "@svc/catalog";

/** The folder with the definitions of the toolkits that svc ships. */
export const shippedToolkits: string = fileURLToPath(new URL("../../../toolkits", import.meta.url));

/**
 * A folder with only two of the toolkits that svc ships: `calendar` and `search_ingestion`. It is for tests that start server processes:
 * each process loads all toolkits in its folder, so with two toolkits it starts faster.
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
