import { type CatalogView, nearest } from "@svc/catalog";
import { type Binding, isToolGranted } from "@svc/core";
import type { Tool } from "@svc/gen/catalog";
import { toolFaults } from "../errors.ts";

/** The tool that a caller asks to have described. Throws TOOL_NOT_FOUND, also for one that its binding does not grant. */
export function describedTool(view: CatalogView, binding: Binding | undefined, slug: string): Tool {
  const definition = view.tools.get(slug);
  const tool = view.messages.tools.get(slug)?.tool;
  if (definition !== undefined && tool !== undefined && isToolGranted(binding, definition)) return tool;
  const granted = [...view.tools.values()].filter((one) => isToolGranted(binding, one)).map((one) => one.slug);
  throw toolFaults.TOOL_NOT_FOUND("slug", slug, nearest(slug, granted));
}
