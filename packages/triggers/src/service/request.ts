import type { Catalog } from "@svc/catalog";
import type { PageSizeBounds } from "@svc/core";
import { toolkitNotFound, triggerNotFound, triggerWithoutToolkit } from "../errors.ts";

/** Catalog-wide slug of a trigger named in either form; empty stays empty. TRIGGER_WITHOUT_TOOLKIT for a bare name alone. */
export function triggerSlugOf(toolkitSlug: string, triggerSlug: string): string {
  if (triggerSlug === "" || triggerSlug.includes(".")) return triggerSlug;
  if (toolkitSlug === "") throw triggerWithoutToolkit(triggerSlug);
  return `${toolkitSlug}.${triggerSlug}`;
}

/** The filter of a subscription, checked against the catalog. */
export function subscribedSlugs(catalog: Catalog, toolkitSlug: string, triggerSlug: string) {
  if (toolkitSlug === "") {
    if (triggerSlug !== "") throw triggerWithoutToolkit(triggerSlug);
    return { toolkitSlug: "", triggerSlug: "" };
  }
  const toolkit = catalog.toolkits.get(toolkitSlug);
  if (toolkit === undefined) throw toolkitNotFound(toolkitSlug);
  const slug = triggerSlugOf(toolkitSlug, triggerSlug);
  const isKnown = slug === "" || toolkit.triggers.some((trigger) => trigger.slug === slug);
  if (!isKnown) throw triggerNotFound(toolkitSlug, triggerSlug);
  return { toolkitSlug, triggerSlug: slug };
}

/** Lists where a page size of 0 means all that anyone has. */
export const largePages: PageSizeBounds = { fallback: 1_000, max: 1_000 };
