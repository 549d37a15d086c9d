import type { CatalogView } from "@svc/catalog";
import {
  bindingFaults,
  field,
  formatValue,
  isEntityGranted,
  type ProjectPrincipal,
  type SubscriptionId,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { isDeliveredToPortal } from "@svc/db/deliveries/read";
import { type Event, eventsForProject } from "@svc/db/events/repo";
import { type SubscriptionRepository, subscriptionsForProject } from "@svc/db/subscriptions/repo";
import { triggerFaults } from "../errors.ts";
import { eventsToolkitSlug } from "../own/toolkit.ts";
import type { TriggersContext } from "./context.ts";

/**
 * Returns the subscriptions that a caller reaches. A caller in the portal reaches those that customers created in the portal of its entity
 * (customer or user); every other caller reaches those of the whole project.
 */
export function subscriptionsOf(db: Executor, { projectId, portal }: ProjectPrincipal): SubscriptionRepository {
  return subscriptionsForProject(db, projectId, portal);
}

/**
 * Returns the toolkits (apps) and triggers (event types) that a caller's subscriptions may name. In the portal, these are only the event
 * types that the project offers.
 */
export async function viewOf(
  { views }: Pick<TriggersContext, "views">,
  { projectId, portal }: ProjectPrincipal,
): Promise<CatalogView> {
  const view = await views.forProject(projectId);
  if (portal === undefined) return view;
  const own = view.toolkits.get(eventsToolkitSlug);
  return {
    ...view,
    toolkits: new Map(own === undefined ? [] : [[eventsToolkitSlug, own]]),
    triggers: new Map([...view.triggers].filter(([, trigger]) => trigger.own?.isOffered === true)),
  };
}

/** True if a caller in the portal may read deliveries to this subscription. True for every caller who does not use the portal. */
export async function isReachable(db: Executor, caller: ProjectPrincipal, id: SubscriptionId): Promise<boolean> {
  return caller.portal === undefined || (await subscriptionsOf(db, caller).find(id)) !== undefined;
}

/**
 * Returns the event with this id if the caller may read it; otherwise undefined. In the portal, a caller reads only events that svc
 * delivered to its subscriptions. Their type must still be offered, except for test events.
 */
export async function findReadableEvent(
  context: Pick<TriggersContext, "db" | "views">,
  caller: ProjectPrincipal,
  id: Event["id"],
): Promise<Event | undefined> {
  const { projectId, portal, binding } = caller;
  const event = await eventsForProject(context.db, projectId).find(id);
  if (event === undefined || portal === undefined) return event;
  const isTest = event.kind === "test";
  if (!isTest && !isEntityGranted(binding, event.entityId)) return undefined;
  if (!isTest && !(await viewOf(context, caller)).triggers.has(event.triggerSlug)) return undefined;
  return (await isDeliveredToPortal(context.db, projectId, { eventId: id, entityId: portal.entityId }))
    ? event
    : undefined;
}

/** A request with fields that a caller in the portal may not set. */
type PortalRequest = { readonly format?: { readonly kind: string } | undefined };

/**
 * Throws PORTAL_FIELD_REFUSED if a caller in the portal sends a field that is not in `allowed`, or asks for a body in the form `custom`.
 * New fields of a request are refused until `allowed` names them.
 */
export function requirePortalFields(
  { portal }: ProjectPrincipal,
  request: PortalRequest,
  allowed: readonly string[],
): void {
  if (portal === undefined) return;
  for (const [name, value] of Object.entries<unknown>(request)) {
    const isSent = value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0);
    if (isSent && !name.startsWith("$") && !allowed.includes(name)) throw triggerFaults.PORTAL_FIELD_REFUSED(name);
  }
  if (request.format?.kind === "custom") throw triggerFaults.PORTAL_FIELD_REFUSED("format.kind");
}

/**
 * Returns the slug of the toolkit that a caller asks for. If a caller in the portal names none, returns the toolkit of the project's own
 * events.
 */
export function askedToolkit({ portal }: ProjectPrincipal, toolkitSlug: string): string {
  return portal !== undefined && toolkitSlug === "" ? eventsToolkitSlug : toolkitSlug;
}

/** Throws ENTITY_BOUND if a caller in the portal names an entity (customer or user) other than its own. */
export function requireEntity({ portal, binding }: ProjectPrincipal, entityId: string): void {
  if (portal === undefined || binding === undefined || entityId === "" || entityId === portal.entityId) return;
  throw bindingFaults.ENTITY_BOUND("entityId", `is ${formatValue(entityId)}`, binding);
}

/** Throws FILTER_REQUIRED if a caller in the portal names no subscription. */
export function requireSubscription({ portal }: ProjectPrincipal, id: SubscriptionId | undefined): void {
  if (portal !== undefined && id === undefined)
    throw triggerFaults.FILTER_REQUIRED("subscriptionId", field("subscriptionId"));
}
