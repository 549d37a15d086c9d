import { type Catalog, catalogFaults } from "@svc/catalog";
import {
  type PageSizeBounds,
  type ProjectId,
  type ProjectPrincipal,
  quotaFaults,
  quotaOf,
  type SubscriptionId,
} from "@svc/core";
import { usageOfProject } from "@svc/db/projects/usage";
import { type Subscription, subscriptionsForProject } from "@svc/db/subscriptions/repo";
import { triggerFaults } from "../errors.ts";
import type { TriggersContext } from "./context.ts";

/** Catalog-wide slug of a trigger named in either form; empty stays empty. TRIGGER_WITHOUT_TOOLKIT for a bare name alone. */
export function triggerSlugOf(toolkitSlug: string, triggerSlug: string): string {
  if (triggerSlug === "" || triggerSlug.includes(".")) return triggerSlug;
  if (toolkitSlug === "") throw triggerFaults.TRIGGER_WITHOUT_TOOLKIT(triggerSlug);
  return `${toolkitSlug}.${triggerSlug}`;
}

/** Refuses the filter of an act whose toolkit is not there: what it names would be nothing, for a slip of the pen. */
export function requireToolkit({ toolkits }: Pick<Catalog, "toolkits">, toolkitSlug: string): void {
  if (toolkitSlug !== "" && !toolkits.has(toolkitSlug))
    throw catalogFaults.TOOLKIT_NOT_FOUND("toolkitSlug", toolkitSlug, { toolkits });
}

/** The filter of a subscription, checked against the catalog. */
export function subscribedSlugs(catalog: Catalog, toolkitSlug: string, triggerSlug: string) {
  if (toolkitSlug === "") {
    if (triggerSlug !== "") throw triggerFaults.TRIGGER_WITHOUT_TOOLKIT(triggerSlug);
    return { toolkitSlug: "", triggerSlug: "" };
  }
  const toolkit = catalog.toolkits.get(toolkitSlug);
  if (toolkit === undefined) throw catalogFaults.TOOLKIT_NOT_FOUND("toolkitSlug", toolkitSlug, catalog);
  const slug = triggerSlugOf(toolkitSlug, triggerSlug);
  const isKnown = slug === "" || toolkit.triggers.some((trigger) => trigger.slug === slug);
  if (!isKnown) throw triggerFaults.TRIGGER_NOT_FOUND(toolkitSlug, triggerSlug);
  return { toolkitSlug, triggerSlug: slug };
}

/** What is odd about a subscription to a toolkit, though it is made: a trigger may be added to the toolkit later. */
export function subscriptionWarnings({ toolkits }: Pick<Catalog, "toolkits">, toolkitSlug: string): string[] {
  const toolkit = toolkits.get(toolkitSlug);
  if (toolkit === undefined || toolkit.triggers.length > 0) return [];
  return [`${toolkitSlug} has no triggers: nothing of it will be delivered until its definition has one`];
}

/** Lists where a page size of 0 means all that anyone has. */
export const largePages: PageSizeBounds = { fallback: 1_000, max: 1_000 };

/** Throws QUOTA_PENDING_DELIVERIES when so many more would be too many. */
export async function requireRoom(
  { db }: TriggersContext,
  { projectId, quotas }: ProjectPrincipal,
  more: number,
): Promise<void> {
  const most = quotaOf(quotas, "pendingDeliveries");
  if (more === 0 || most === Number.POSITIVE_INFINITY) return;
  const used = await usageOfProject(db, projectId).countDeliveries(most);
  if (used + more > most) throw quotaFaults.pendingDeliveries({ most, used });
}

/** A subscription that something can be sent to. Throws SUBSCRIPTION_NOT_FOUND and SUBSCRIPTION_INACTIVE. */
export async function requireActive(
  context: TriggersContext,
  projectId: ProjectId,
  id: SubscriptionId,
): Promise<Subscription> {
  const subscription = await subscriptionsForProject(context.db, projectId).find(id);
  if (subscription === undefined) throw triggerFaults.SUBSCRIPTION_NOT_FOUND("subscriptionId", id);
  if (!subscription.active) throw triggerFaults.SUBSCRIPTION_INACTIVE(id, subscription.inactiveReason);
  return subscription;
}
