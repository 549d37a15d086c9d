import { fileURLToPath } from "node:url";
import { type Catalog, loadCatalog } from "@svc/catalog";

/** The folder of the definitions that the service ships with. */
export const shippedToolkits: string = fileURLToPath(new URL("../../../toolkits", import.meta.url));

/** A folder of two of them, the calendar and search ingestion, for tests that start processes: each loads its definitions anew. */
export const fewToolkits: string = fileURLToPath(new URL("../toolkits", import.meta.url));

let loading: Promise<Catalog> | undefined;

/** Those definitions, loaded once for a process: that takes longer than all else at the start of a server. Nothing changes a catalog. */
export function shippedCatalog(): Promise<Catalog> {
  loading ??= loadCatalog({ folders: [shippedToolkits] });
  return loading;
}
