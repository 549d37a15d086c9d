import type { Command } from "commander";
import { addCatalogCheck } from "./catalog/check.ts";
import { addCatalogDelete } from "./catalog/delete.ts";
import { addCatalogList } from "./catalog/list.ts";
import { addCatalogPublish } from "./catalog/publish.ts";
import { addCatalogShow } from "./catalog/show.ts";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";

/** Adds `svc catalog check|list|show|publish|delete`. */
export function addCatalogCommand(program: Command, context: CommandContext): void {
  const catalog = program
    .command("catalog")
    .description("check toolkit definitions, read the catalog, and publish toolkits of the project's own");
  addExamples(catalog, ["svc catalog check", "svc catalog list", "svc catalog show calendar.list_events"]);
  addCatalogCheck(catalog, context);
  addCatalogList(catalog, context);
  addCatalogShow(catalog, context);
  addCatalogPublish(catalog, context);
  addCatalogDelete(catalog, context);
}
