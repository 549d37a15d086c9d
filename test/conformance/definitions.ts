import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Action } from "@svc/catalog";
import { shippedCatalog, shippedToolkits } from "@svc/testing/shipped-catalog";

/** The shipped definitions as the server loads them, without a deployment file. */
export const catalog = await shippedCatalog();

/** Every action of the catalog, ordered by slug. */
export const actions: readonly Action[] = [...catalog.tools.values()].filter((tool) => tool.kind === "action");

/** Returns an action by its slug. Throws if there is none. */
export function actionOf(slug: string): Action {
  const tool = catalog.tools.get(slug);
  if (tool?.kind !== "action") throw new Error(`${slug} is not an action of the catalog`);
  return tool;
}

/** Reads the text of a definition file: that of a tool by its slug, or a toolkit's `toolkit.yaml`. */
export function readDefinition(slug: string): Promise<string> {
  const [toolkit = "", tool] = slug.split(".");
  const file = tool === undefined ? "toolkit.yaml" : join("tools", `${tool}.yaml`);
  return readFile(join(shippedToolkits, toolkit, file), "utf8");
}
