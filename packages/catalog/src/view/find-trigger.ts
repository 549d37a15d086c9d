import type { Catalog, Trigger } from "../model.ts";

/**
 * Returns a trigger by its catalog-wide slug (`calendar.events_changed`) or its name within the toolkit; undefined if it does not exist.
 */
export function findTrigger(catalog: Catalog, toolkitSlug: string, triggerSlug: string): Trigger | undefined {
  const prefix = `${toolkitSlug}.`;
  const slug = triggerSlug.startsWith(prefix) ? triggerSlug : `${prefix}${triggerSlug}`;
  const tool = catalog.tools.get(slug);
  return tool?.kind === "trigger" ? tool : undefined;
}
