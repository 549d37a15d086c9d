import { type Catalog, catalogFaults } from "@svc/catalog";
import { type PageSizeBounds, type ProjectPrincipal, quotaFaults, quotaOf, type SubscriptionId } from "@svc/core";
import { usageOfProject } from "@svc/db/projects/usage";
import type { Subscription } from "@svc/db/subscriptions/repo";
import { triggerFaults } from "../errors.ts";
import { eventsToolkitSlug } from "../own/toolkit.ts";
import type { TriggersContext } from "./context.ts";
import { subscriptionsOf } from "./portal-scope.ts";

/**
 * Returns the full slug of a trigger: `toolkit.trigger`. An empty slug stays empty. Throws TRIGGER_WITHOUT_TOOLKIT if neither argument
 * names the toolkit.
 */
export function triggerSlugOf(toolkitSlug: string, triggerSlug: string): string {
  // For a project's own events, the slug of the toolkit decides, because the name of an event type may contain dots.
  const isWhole = triggerSlug.includes(".") && (toolkitSlug !== eventsToolkitSlug || isEventTrigger(triggerSlug));
  if (triggerSlug === "" || isWhole) return triggerSlug;
  if (toolkitSlug === "") throw triggerFaults.TRIGGER_WITHOUT_TOOLKIT(triggerSlug);
  return `${toolkitSlug}.${triggerSlug}`;
}

function isEventTrigger(triggerSlug: string): boolean {
  return triggerSlug.startsWith(`${eventsToolkitSlug}.`);
}

/**
 * Throws if a filter that is to be stored names a toolkit (app) that does not exist. A misspelled filter would match nothing. The toolkit
 * of a project's own events exists even before its first event type.
 */
export function requireToolkit({ toolkits }: Pick<Catalog, "toolkits">, toolkitSlug: string): void {
  if (toolkitSlug !== "" && toolkitSlug !== eventsToolkitSlug && !toolkits.has(toolkitSlug))
    throw catalogFaults.TOOLKIT_NOT_FOUND("toolkitSlug", toolkitSlug, { toolkits });
}

/** Page sizes of lists that return all items at once: 1,000 items, also if the request gives the page size 0. */
export const largePages: PageSizeBounds = { fallback: 1_000, max: 1_000 };

/** Throws QUOTA_PENDING_DELIVERIES if `more` additional deliveries would exceed the project's quota. */
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

/** Returns a subscription to which svc can send. Throws SUBSCRIPTION_NOT_FOUND or SUBSCRIPTION_INACTIVE. */
export async function requireActive(
  context: TriggersContext,
  caller: ProjectPrincipal,
  id: SubscriptionId,
): Promise<Subscription> {
  const subscription = await subscriptionsOf(context.db, caller).find(id);
  if (subscription === undefined) throw triggerFaults.SUBSCRIPTION_NOT_FOUND("subscriptionId", id);
  if (!subscription.active)
    throw triggerFaults.SUBSCRIPTION_INACTIVE(id, subscription.inactiveReason, "subscriptionId");
  return subscription;
}
