import { sampleOfSchema, shownSampleMs, type Trigger } from "@svc/catalog";
import { createId, type DeliveryId, isObject, operationalToolkitSlug, type ProjectPrincipal } from "@svc/core";
import { type NewEvent, recordEvents } from "@svc/db/events/record";
import type { Subscription } from "@svc/db/subscriptions/repo";
import { triggerFaults } from "../errors.ts";
import { eventsToolkitSlug } from "../own/toolkit.ts";
import type { TriggersContext } from "./context.ts";
import { viewOf } from "./portal-scope.ts";

/** The fields of a subscription that its test event needs. */
type Tested = Pick<Subscription, "projectId" | "id" | "entityId">;

/**
 * Stores a synthetic event with one delivery, which any node may send. The event belongs to the entity (customer or user) of the
 * subscription, so it is erased and exported with this entity. Returns the id of the delivery.
 */
export async function storeTestEvent(
  { db, clock, store }: TriggersContext,
  subscription: Tested,
  payload: string,
): Promise<DeliveryId> {
  const nowMs = clock.now();
  const delivery = { id: createId("dlv", nowMs), subscriptionId: subscription.id, leased: false };
  const event: NewEvent = { ...testEvent(subscription, payload, nowMs), dedupeKey: "", deliveries: [delivery] };
  await recordEvents(db, [event], undefined, { owner: store.nodeId, untilMs: nowMs });
  return delivery.id;
}

function testEvent({ projectId, entityId }: Tested, payload: string, nowMs: number) {
  const slugs = { toolkitSlug: "", triggerSlug: "", entityId };
  const times = { occurredAtMs: nowMs, receivedAtMs: nowMs };
  return { id: createId("evt", nowMs), projectId, kind: "test", ...slugs, ...times, payload } as const;
}

/** Maximum number of event types whose samples are tried for one test event. */
const triedMax = 5;

/**
 * Returns the payload of a test event as JSON text: `{}`, or a sample event if the subscription has a body template. Throws
 * TEST_BODY_INVALID if the template gives a body for none of the samples.
 */
export async function testPayload(
  context: TriggersContext,
  caller: ProjectPrincipal,
  subscription: Subscription,
): Promise<string> {
  const { format } = subscription.settings ?? {};
  if (format?.kind !== "custom") return "{}";
  const { projectId, id } = subscription;
  const { renderBody, clock, turns } = context;
  const types = selectedTypes([...(await viewOf(context, caller)).triggers.values()], subscription);
  let first: { readonly slug: string; readonly fault: string } | undefined;
  for (const type of types.length === 0 ? [undefined] : types.slice(0, triedMax)) {
    await turns.next(`project:${projectId}`);
    const payload = JSON.stringify(type === undefined ? {} : samplePayload(type));
    const rendered = await renderBody(projectId, format.bodyJson, testEvent(subscription, payload, clock.now()));
    if ("body" in rendered) return payload;
    first ??= { slug: type?.slug ?? "", fault: rendered.fault };
  }
  throw triggerFaults.TEST_BODY_INVALID(id, first?.slug ?? "", first?.fault ?? "");
}

/** Returns the event types that a subscription selects. Its filter, which may refuse some of their events, is not considered. */
export function selectedTypes(
  types: readonly Trigger[],
  { toolkitSlug, triggerSlug, triggerSlugs }: Pick<Subscription, "toolkitSlug" | "triggerSlug" | "triggerSlugs">,
): readonly Trigger[] {
  const slugs = triggerSlug === "" ? triggerSlugs : [triggerSlug];
  if (slugs.length > 0) return types.filter(({ slug }) => slugs.includes(slug));
  if (toolkitSlug !== "") return types.filter((type) => type.toolkitSlug === toolkitSlug);
  // A subscription to all toolkits is most probably for the project's own events. It never receives operational events.
  const received = types.filter((type) => type.toolkitSlug !== operationalToolkitSlug);
  return received.sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)));
}

function isOwn({ toolkitSlug }: Trigger): boolean {
  return toolkitSlug === eventsToolkitSlug;
}

/** Returns a payload that an event of the type could have. Empty if svc knows no such payload. */
export function samplePayload(type: Trigger): object {
  const isOfApp = !isOwn(type) && type.toolkitSlug !== operationalToolkitSlug;
  const sample = isOfApp ? sampleOfSchema(type.outputSchema) : type.sample(shownSampleMs).body;
  return isObject(sample) ? sample : {};
}
