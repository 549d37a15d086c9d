import { type DeliveryId, isoTime, type ProjectId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { type DeadDelivery, type DeliverySettlement, findDeadDeliveries } from "@svc/db/deliveries/settle";
import {
  type OperationalEvent,
  type OperationalFilters,
  occurrenceOf,
  publishOperationalEvents,
} from "@svc/db/events/operational";
import {
  findLastDeliveryError,
  type SubscriptionHealth,
  type SubscriptionRecovery,
} from "@svc/db/subscriptions/health";
import { readSubscriptionProgress } from "@svc/db/subscriptions/read-progress";

const minuteMs = 60_000;
const idsMax = 100;

/** Time of operational events, in epoch milliseconds, and the filters of the subscriptions that may receive them. */
type Publication = { readonly filters: OperationalFilters; readonly nowMs: number };

/** A subscription as the payloads of operational events show it. */
type ReportedSubscription = Pick<
  SubscriptionRecovery,
  "projectId" | "subscriptionId" | "endpointUrl" | "toolkitSlug" | "triggerSlug" | "entityId"
>;

/**
 * Stores operational events (events that svc makes about a project) for deliveries that ended as `dead_letter`, in the transaction that
 * ends them. If the dead delivery itself carried an operational event, no event is stored. Returns true if there is a delivery to send.
 */
export function publishDeadDeliveries(
  tx: Executor,
  dead: readonly Pick<DeliverySettlement, "id" | "projectId">[],
  publication: Publication,
): Promise<boolean> {
  const eventsOf = async (received: readonly { readonly id: DeliveryId; readonly projectId: ProjectId }[]) => {
    const found = await findDeadDeliveries(
      tx,
      received.map(({ id }) => id),
    );
    const bySubscription = Map.groupBy(found, ({ subscriptionId }) => subscriptionId);
    return [...bySubscription.values()].flatMap((own) => deadEvent(own, publication.nowMs) ?? []);
  };
  return publishOperationalEvents(tx, dead, eventsOf, publication);
}

function deadEvent(dead: readonly DeadDelivery[], nowMs: number): OperationalEvent | undefined {
  const last = dead.at(-1);
  if (last === undefined) return undefined;
  const deliveryIds = dead.slice(0, idsMax).map(({ deliveryId }) => deliveryId);
  return {
    name: "delivery_dead",
    ...placeOf(last, Math.floor(nowMs / minuteMs)),
    payload: { ...shownOf(last), count: dead.length, deliveryIds, lastError: last.lastError },
  };
}

/**
 * Stores the operational events (events that svc makes about a project) about outages that ended, in the transaction that ends them.
 * Returns true if a delivery of such an event was stored and is now to be sent.
 */
export function publishRecoveries(
  tx: Executor,
  ended: readonly SubscriptionRecovery[],
  publication: Publication,
): Promise<boolean> {
  const facts = ended.filter(({ kind }) => kind === "events");
  const eventOf = (one: SubscriptionRecovery): OperationalEvent => ({
    name: "subscription_recovered",
    ...placeOf(one, one.failingSince),
    payload: { ...shownOf(one), failingSince: isoTime(one.failingSince), recoveredAt: isoTime(publication.nowMs) },
  });
  return publishOperationalEvents(tx, facts, (received) => received.map(eventOf), publication);
}

/**
 * Stores the operational events (events that svc makes about a project) about failing or deactivated subscriptions, in the transaction that
 * records their health. Returns true if a delivery of such an event was stored and is now to be sent.
 */
export function publishFailures(
  tx: Executor,
  health: readonly SubscriptionHealth[],
  publication: Publication,
): Promise<boolean> {
  const facts = health.filter(({ kind, outage }) => kind === "events" && outage.length > 0);
  const eventsOf = async (received: readonly SubscriptionHealth[]) => {
    const events: OperationalEvent[] = [];
    for (const one of received) events.push(...(await failureEvents(tx, one)));
    return events;
  };
  return publishOperationalEvents(tx, facts, eventsOf, publication);
}

async function failureEvents(tx: Executor, one: SubscriptionHealth): Promise<OperationalEvent[]> {
  const { projectId, subscriptionId, outage, inactiveReason } = one;
  const place = placeOf(one, one.failingSince);
  const lastError = await findLastDeliveryError(tx, projectId, subscriptionId);
  const common = { ...shownOf(one), failingSince: isoTime(one.failingSince), lastError };
  const events: OperationalEvent[] = [];
  if (outage.includes("failing")) events.push({ name: "subscription_failing", ...place, payload: common });
  if (outage.includes("disabled")) {
    const { pending: pendingCount } = await readSubscriptionProgress(tx, projectId, subscriptionId);
    const reason = inactiveReason === "gone" || inactiveReason === "overflow" ? inactiveReason : "failing";
    events.push({ name: "subscription_disabled", ...place, payload: { ...common, reason, pendingCount } });
  }
  return events;
}

/**
 * Returns the fields of an event about a subscription that identify the event: its project, its entity (customer or user), the
 * subscription, and a text made from `occurrence`. The text differs for each event about the same subscription.
 */
function placeOf({ projectId, subscriptionId, entityId }: ReportedSubscription, occurrence: number) {
  return { projectId, entityId, occurrence: occurrenceOf(subscriptionId, occurrence), about: subscriptionId };
}

function shownOf({ subscriptionId, endpointUrl, toolkitSlug, triggerSlug }: ReportedSubscription) {
  return { subscriptionId, endpointOrigin: new URL(endpointUrl).origin, toolkitSlug, triggerSlug };
}
