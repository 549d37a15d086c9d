import type { DeliveryId, ProjectPrincipal } from "@svc/core";
import type { Delivery } from "@svc/db/deliveries/repo";
import type { SubscriptionSettings } from "@svc/db/documents/subscriptions";
import type { Event } from "@svc/db/events/repo";
import { previewedRequest } from "@svc/delivery";
import type { TriggersContext } from "./context.ts";
import { findReadableEvent, subscriptionsOf } from "./portal-scope.ts";

/** The fields of an event from which svc makes the delivery request that a preview shows. */
export type ShownEvent = Pick<
  Event,
  "id" | "projectId" | "kind" | "toolkitSlug" | "triggerSlug" | "entityId" | "payload" | "occurredAt" | "receivedAt"
>;

/** A request as svc sends it to an endpoint. Signatures and credentials are `…`. */
type ShownRequest = { readonly headers: readonly (readonly [name: string, value: string])[]; readonly body: string };

/**
 * Returns the request with which svc delivers an event to a subscription with these settings. Returns a fault if the template of the
 * subscription gives no body.
 */
export async function shownRequest(
  { renderBody }: Pick<TriggersContext, "renderBody">,
  event: ShownEvent,
  settings: SubscriptionSettings | null,
  { deliveryId, atMs }: { readonly deliveryId: DeliveryId; readonly atMs: number },
): Promise<ShownRequest | { readonly fault: string }> {
  const { format, credentials } = settings ?? {};
  const times = { occurredAtMs: event.occurredAt, receivedAtMs: event.receivedAt };
  const delivered = { ...event, kind: event.kind === "test" ? "test" : "event", ...times } as const;
  const own = format?.kind === "custom" ? await renderBody(event.projectId, format.bodyJson, delivered) : undefined;
  if (own !== undefined && "fault" in own) return { fault: `body_invalid: ${own.fault}` };
  const { headers, body } = previewedRequest(delivered, { deliveryId, format }, atMs, own?.body);
  const secret = [...(credentials?.headerNames ?? []), ...(credentials?.auth ? ["authorization"] : [])];
  const shown = headers.filter(([name]) => !secret.some((other) => other.toLowerCase() === name.toLowerCase()));
  return { headers: [...shown, ...secret.map((name) => [name, "…"] as const)], body };
}

/**
 * Returns the request of a delivery, rebuilt from its event and the present settings of its subscription. Returns undefined if the event or
 * the subscription was deleted, if the caller may not read it, if an agent made the subscription, or if the template gives no body.
 */
export async function requestOfDelivery(
  context: TriggersContext,
  caller: ProjectPrincipal,
  { id, eventId, subscriptionId, lastAttemptAt }: Delivery,
): Promise<ShownRequest | undefined> {
  const [event, subscription] = await Promise.all([
    findReadableEvent(context, caller, eventId),
    subscriptionsOf(context.db, caller).find(subscriptionId),
  ]);
  if (event === undefined || subscription === undefined || subscription.keyId !== null) return undefined;
  const sent = { deliveryId: id, atMs: lastAttemptAt ?? context.clock.now() };
  const shown = await shownRequest(context, event, subscription.settings, sent);
  return "fault" in shown ? undefined : shown;
}
