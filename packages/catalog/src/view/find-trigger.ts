import type { Catalog, Trigger } from "../model.ts";

/**
 * Returns a trigger by its slug in the catalog (`calendar.events_changed`) or its name in the toolkit (all triggers of one app); undefined
 * if there is none.
 */
export function findTrigger(catalog: Catalog, toolkitSlug: string, triggerSlug: string): Trigger | undefined {
  const prefix = `${toolkitSlug}.`;
  const slug = triggerSlug.startsWith(prefix) ? triggerSlug : `${prefix}${triggerSlug}`;
  const tool = catalog.tools.get(slug);
  return tool?.kind === "trigger" ? tool : undefined;
}
