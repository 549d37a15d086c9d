import type { Catalog } from "@svc/catalog";
import { catalogOf } from "@svc/testing/catalog";
import { desk } from "@svc/testing/desk";

let catalog: Catalog | undefined;

/** The catalog that holds the desk, an app of the tests' own, and nothing else. */
export function deskCatalog(): Catalog {
  catalog ??= catalogOf({ toolkits: [desk] });
  return catalog;
}
