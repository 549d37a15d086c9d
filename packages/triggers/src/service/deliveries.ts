import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  byId,
  createId,
  createMinuteCount,
  type DeliveryId,
  deliveryFailure,
  type EventId,
  field,
  firstUuidAt,
  optionalId,
  type ProjectId,
  type ProjectPrincipal,
  projectList,
  requireId,
  requireProject,
  type SubscriptionId,
  text,
  timeRange,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { enqueueDeliveries } from "@svc/db/deliveries/enqueue";
import { deliveryKinds } from "@svc/db/deliveries/list-walked";
import { readTriggersOfEvents } from "@svc/db/deliveries/read";
import { findDeliveryEndpoints } from "@svc/db/deliveries/read-endpoint-times";
import { type Delivery, type DeliveryFilter, deliveriesForProject } from "@svc/db/deliveries/repo";
import { tryDeliveriesNow } from "@svc/db/deliveries/try-now";
import type { AttemptEntry } from "@svc/db/documents/calls";
import { countEventMatches, type EventMatch, type EventMatchFilter } from "@svc/db/events/follow";
import { uuidAfterEvent, uuidOfEvent } from "@svc/db/events/repo";
import { deliveryStates } from "@svc/db/schema/words";
import { subscriptionsForProject } from "@svc/db/subscriptions/repo";
import {
  type DeliveryAttempt as DeliveryAttemptMessage,
  DeliveryAttemptSchema,
  type Delivery as DeliveryMessage,
  type ListDeliveriesRequest,
  type TriggersService,
} from "@svc/gen/triggers";
import { failureMessage } from "@svc/tools";
import { deliveryMessage } from "../convert.ts";
import { triggerFaults } from "../errors.ts";
import { acceptedMatches } from "../filters/pairs.ts";
import type { TriggersContext } from "./context.ts";
import { addDetails } from "./delivery-details.ts";
import { rangeWarnings } from "./pending-warnings.ts";
import { queueForCaller } from "./portal-limits.ts";
import { findReadableEvent, isReachable, requireSubscription, viewOf } from "./portal-scope.ts";
import { largePages, requireActive, requireRoom, requireToolkit, triggerSlugOf } from "./request.ts";
import { requestOfDelivery } from "./shown-request.ts";
import { wholeSubscription } from "./subscriptions.ts";
import { storeTestEvent, testPayload } from "./test-event.ts";

type Methods = Pick<
  ServiceImpl<typeof TriggersService>,
  | "getDelivery"
  | "listDeliveries"
  | "listDeliveryAttempts"
  | "replayEvent"
  | "replayEvents"
  | "sendTestEvent"
  | "tryNow"
>;

const replayMax = 100_000;
/** Maximum number of test events that an entity (customer or user) may send from the portal at a node within a minute. */
const portalTestsMax = 10;
const shownMax = 500;

/** Returns the methods GetDelivery, ListDeliveries, ListDeliveryAttempts, ReplayEvent, ReplayEvents, SendTestEvent and TryNow. */
export function deliveryMethods(context: TriggersContext): Methods {
  const { db, clock, sealer, dispatcher, views } = context;
  const countTest = createMinuteCount({ clock, most: portalTestsMax });
  return {
    async getDelivery(req, ctx) {
      const caller = requireProject(ctx);
      const row = await deliveriesForProject(db, caller.projectId).find(requireId("dlv", "id", req.id));
      if (row === undefined || !(await isReachable(db, caller, row.subscriptionId)))
        throw triggerFaults.DELIVERY_NOT_FOUND("id", req.id);
      const endpoints = await findDeliveryEndpoints(db, row.projectId, [row.subscriptionId], clock.now());
      const delivery = deliveryMessage(row, endpoints.get(row.subscriptionId), momentOf(context));
      const { scheduleMs } = endpoints.get(row.subscriptionId) ?? {};
      await addDetails(context, caller, [{ row, message: delivery, scheduleMs }]);
      return { delivery };
    },

    listDeliveries: projectList(sealer, {
      call: "ListDeliveries",
      order: byId("dlv"),
      sizes: largePages,
      filter: readFilter,
      async rows({ filter, page, caller }) {
        const { eventId, subscriptionId, sinceMs, untilMs, ...conditions } = filter;
        if (subscriptionId !== undefined && !(await isReachable(db, caller, subscriptionId))) return [];
        const deliveries = deliveriesForProject(db, caller.projectId);
        const isWalk = Object.values(conditions).some((one) => one !== undefined) && eventId === undefined;
        return isWalk ? deliveries.walk(filter, page) : deliveries.list(filter, page);
      },
      async answer(rows, { caller, request }) {
        const { deliveries, endpoints } = await withEndpoints(context, caller.projectId, rows);
        if (request.withDetails) {
          const detailed = deliveries.map((message, index) => {
            const row = rows[index];
            return row === undefined
              ? []
              : [{ row, message, scheduleMs: endpoints.get(row.subscriptionId)?.scheduleMs }];
          });
          await addDetails(context, caller, detailed.flat());
        }
        if (!request.withTriggers) return { deliveries };
        const slugOf = await readTriggerSlugs(context, caller, rows);
        for (const delivery of deliveries) {
          const slug = slugOf.get(delivery.eventId);
          if (slug !== undefined) delivery.triggerSlug = slug;
        }
        return { deliveries };
      },
    }),

    async listDeliveryAttempts(req, ctx) {
      const caller = requireProject(ctx);
      const id = requireId("dlv", "deliveryId", req.deliveryId);
      const deliveries = deliveriesForProject(db, caller.projectId);
      const row = await deliveries.find(id);
      const isMissing = row === undefined || !(await isReachable(db, caller, row.subscriptionId));
      const attempts = isMissing ? undefined : await deliveries.findAttempts(id);
      if (row === undefined || attempts === undefined)
        throw triggerFaults.DELIVERY_NOT_FOUND("deliveryId", req.deliveryId);
      const request = req.withRequest ? await requestOfDelivery(context, caller, row) : undefined;
      const messages = attempts.map((entry) => attemptMessage(row, entry, request?.headers));
      return { attempts: messages.reverse(), requestBody: request?.body ?? "" };
    },

    async replayEvent(req, ctx) {
      const principal = requireProject(ctx);
      const eventId = requireId("evt", "eventId", req.eventId);
      const subscriptionId = optionalId("sub", "subscriptionId", req.subscriptionId);
      requireSubscription(principal, subscriptionId);
      if (subscriptionId !== undefined) await requireActive(context, principal, subscriptionId);
      const before = await deliveriesForProject(db, principal.projectId).list(
        { eventId, subscriptionId, state: "pending" },
        { after: undefined, limit: shownMax },
      );
      const replayed = await replayEvent(context, principal, { eventId, subscriptionId });
      const again = new Set(replayed.map((delivery) => delivery.subscriptionId));
      const twice = before.filter((delivery) => again.has(delivery.subscriptionId));
      const deliveries = await messagesOf(context, principal.projectId, replayed);
      const warnings = twice.map(({ id, subscriptionId: to }) => twiceWarning(id, to));
      if (subscriptionId !== undefined && replayed.length === 0) warnings.push(unselectedWarning(subscriptionId));
      return { deliveries, warnings };
    },

    async replayEvents(req, ctx) {
      const principal = requireProject(ctx);
      const { projectId } = principal;
      const { sinceMs, untilMs = clock.now() } = timeRange(req.since, req.until);
      if (sinceMs === undefined) throw triggerFaults.FILTER_REQUIRED("since", "since");
      requireToolkit(await views.forProject(projectId), req.toolkitSlug);
      const subscriptionId = optionalId("sub", "subscriptionId", req.subscriptionId);
      if (subscriptionId !== undefined) await requireActive(context, principal, subscriptionId);
      const filter: EventMatchFilter = {
        fromUuid: firstUuidAt(sinceMs),
        toUuid: firstUuidAt(untilMs),
        toolkitSlug: req.toolkitSlug,
        triggerSlug: triggerSlugOf(req.toolkitSlug, req.triggerSlug),
        subscriptionId,
        onlyUndelivered: req.onlyUndelivered,
      };
      const warnings = await rangeWarnings(context, projectId, filter);
      if (req.dryRun) return { count: await countMatches(context, projectId, filter), deliveries: [], warnings };
      const matches = await findMatches(context, projectId, filter);
      const { count, newest } = await queue(context, principal, matches);
      return { count, deliveries: await messagesOf(context, projectId, newest), warnings };
    },

    async sendTestEvent(req, ctx) {
      const principal = requireProject(ctx);
      const { projectId } = principal;
      const subscriptionId = requireId("sub", "subscriptionId", req.subscriptionId);
      const subscription = await requireActive(context, principal, subscriptionId);
      if (subscription.keyId !== null)
        throw triggerFaults.SUBSCRIPTION_OF_AGENT("subscriptionId", subscriptionId, "MCP has no test events");
      const { portal } = principal;
      const retryAfterMs = portal && countTest(`${projectId} ${portal.entityId}`);
      if (retryAfterMs !== undefined) throw triggerFaults.PORTAL_TESTS_TOO_MANY(portalTestsMax, retryAfterMs);
      await requireRoom(context, principal, 1);
      const payload = await testPayload(context, principal, subscription);
      const deliveryId = await queueForCaller(db, principal, subscriptionId, (tx) =>
        storeTestEvent({ ...context, db: tx }, subscription, payload),
      );
      dispatcher.wake();
      const delivery = await deliveriesForProject(db, projectId).find(deliveryId);
      if (delivery === undefined) throw triggerFaults.DELIVERY_NOT_FOUND("subscriptionId", deliveryId);
      return { delivery: await messageOf(context, delivery) };
    },

    async tryNow(req, ctx) {
      const { projectId } = requireProject(ctx);
      const deliveryId = optionalId("dlv", "deliveryId", req.deliveryId);
      const named = optionalId("sub", "subscriptionId", req.subscriptionId);
      const own = deliveriesForProject(db, projectId);
      const pending = deliveryId === undefined ? undefined : await own.find(deliveryId);
      const isOther = pending !== undefined && named !== undefined && pending.subscriptionId !== named;
      if (deliveryId !== undefined && (pending === undefined || isOther))
        throw triggerFaults.DELIVERY_NOT_FOUND("deliveryId", deliveryId);
      const id = named ?? pending?.subscriptionId;
      if (id === undefined)
        throw triggerFaults.FILTER_REQUIRED("subscriptionId", text`${field("subscriptionId")} or deliveryId`);
      if (pending !== undefined && pending.state !== "pending")
        throw triggerFaults.DELIVERY_NOT_PENDING(pending.id, pending.state);
      const endpoint = (await findDeliveryEndpoints(db, projectId, [id], clock.now())).get(id);
      if (endpoint === undefined) throw triggerFaults.SUBSCRIPTION_NOT_FOUND("subscriptionId", id);
      if (!endpoint.active)
        throw triggerFaults.SUBSCRIPTION_INACTIVE(id, "nothing is delivered to it", "subscriptionId");
      const count = await tryDeliveriesNow(db, id, { deliveryId, nowMs: clock.now() });
      dispatcher.wake();
      const [subscription, delivery] = await Promise.all([
        subscriptionsForProject(db, projectId).find(id),
        deliveryId === undefined ? undefined : own.find(deliveryId),
      ]);
      return {
        count,
        ...(subscription && { subscription: await wholeSubscription(context, subscription) }),
        ...(delivery && { delivery: await messageOf(context, delivery) }),
      };
    },
  };
}

/** Returns deliveries in the form of the API. If a delivery waits because of its endpoint, the message has the reason. */
async function messagesOf(
  context: TriggersContext,
  projectId: ProjectId,
  rows: readonly Delivery[],
): Promise<DeliveryMessage[]> {
  return (await withEndpoints(context, projectId, rows)).deliveries;
}

/** Returns deliveries in the form of the API, and the state of the endpoints of those that are pending, by subscription id. */
async function withEndpoints(context: TriggersContext, projectId: ProjectId, rows: readonly Delivery[]) {
  const pending = rows.filter(({ state }) => state === "pending").map(({ subscriptionId }) => subscriptionId);
  const endpoints = await findDeliveryEndpoints(context.db, projectId, pending, context.clock.now());
  const moment = momentOf(context);
  return { endpoints, deliveries: rows.map((row) => deliveryMessage(row, endpoints.get(row.subscriptionId), moment)) };
}

async function messageOf(context: TriggersContext, row: Delivery): Promise<DeliveryMessage> {
  const endpoints = await findDeliveryEndpoints(context.db, row.projectId, [row.subscriptionId], context.clock.now());
  return deliveryMessage(row, endpoints.get(row.subscriptionId), momentOf(context));
}

function momentOf({ clock, restored }: TriggersContext) {
  return { nowMs: clock.now(), isHeld: restored?.()?.resumedAt === null };
}

/**
 * Returns the trigger of each delivery's event, by event id. In the portal, triggers that the project does not offer its customers are left
 * out.
 */
async function readTriggerSlugs(
  context: TriggersContext,
  caller: ProjectPrincipal,
  rows: readonly Delivery[],
): Promise<ReadonlyMap<string, string>> {
  const slugs = await readTriggersOfEvents(
    context.db,
    caller.projectId,
    rows.map(({ eventId }) => eventId),
  );
  if (caller.portal === undefined) return slugs;
  const { triggers } = await viewOf(context, caller);
  return new Map([...slugs].filter(([, slug]) => slug === "" || triggers.has(slug)));
}

function unselectedWarning(subscriptionId: SubscriptionId): string {
  return `${subscriptionId} does not receive this event: its toolkit, triggers, entity and filter select other events`;
}

function twiceWarning(id: DeliveryId, subscriptionId: SubscriptionId): string {
  return `the delivery ${id} of this event to ${subscriptionId} is still pending, so the endpoint receives the event twice; TryNow sends that delivery at once`;
}

/**
 * Queues new deliveries of one event, to one subscription or to all active subscriptions that match the event now. Throws EVENT_NOT_FOUND.
 * Throws an error if the deliveries would exceed the project's quota.
 */
export async function replayEvent(
  context: TriggersContext,
  principal: ProjectPrincipal,
  { eventId, subscriptionId }: { readonly eventId: EventId; readonly subscriptionId?: SubscriptionId | undefined },
): Promise<readonly Delivery[]> {
  const { projectId } = principal;
  if ((await findReadableEvent(context, principal, eventId)) === undefined)
    throw triggerFaults.EVENT_NOT_FOUND("eventId", eventId);
  const filter = { ...everyMatch, subscriptionId, fromUuid: uuidOfEvent(eventId), toUuid: uuidAfterEvent(eventId) };
  return (await queue(context, principal, await findMatches(context, projectId, filter))).newest;
}

/** Returns the pairs of an event and a subscription whose filter accepts the event. Throws REPLAY_TOO_LARGE if there are too many pairs. */
async function findMatches(
  context: TriggersContext,
  projectId: ProjectId,
  filter: EventMatchFilter,
): Promise<readonly EventMatch[]> {
  const found: EventMatch[] = [];
  for await (const part of acceptedMatches(context, projectId, filter)) {
    found.push(...part);
    if (found.length > replayMax) throw triggerFaults.REPLAY_TOO_LARGE(replayMax);
  }
  return found;
}

async function countMatches(context: TriggersContext, projectId: ProjectId, filter: EventMatchFilter): Promise<number> {
  const { count, hasFilters } = await countEventMatches(context.db, projectId, filter);
  if (!hasFilters) return count;
  let accepted = 0;
  for await (const part of acceptedMatches(context, projectId, filter)) accepted += part.length;
  return accepted;
}

/** Returns the filter of a list of deliveries. Throws FILTER_REQUIRED, DELIVERY_STATE_INVALID and the errors of its fields. */
function readFilter(req: ListDeliveriesRequest, caller: ProjectPrincipal): DeliveryFilter {
  const eventId = optionalId("evt", "eventId", req.eventId);
  const subscriptionId = optionalId("sub", "subscriptionId", req.subscriptionId);
  requireSubscription(caller, subscriptionId);
  const state = deliveryStates.find((known) => known === req.state);
  if (req.state !== "" && state === undefined) throw triggerFaults.DELIVERY_STATE_INVALID(req.state, deliveryStates);
  const kinds = deliveryKinds.filter((kind) => req.states.includes(kind));
  const unknown = req.states.find((kind) => !deliveryKinds.some((known) => known === kind));
  if (unknown !== undefined) throw triggerFaults.DELIVERY_STATE_INVALID(unknown, deliveryKinds);
  const range = timeRange(req.since, req.until);
  const isRare = state !== undefined || req.onlyFailed;
  const isNarrow =
    (eventId ?? subscriptionId) !== undefined || kinds.length > 0 || (isRare && range.sinceMs !== undefined);
  if (!isNarrow)
    throw triggerFaults.FILTER_REQUIRED(
      "eventId",
      text`${field("eventId")}, ${field("subscriptionId")}, states, or since with state or onlyFailed`,
    );
  // Filters that are not set are left out, so that page tokens of earlier versions stay valid for the same filters.
  return {
    ...{ eventId, subscriptionId, state, ...range },
    ...(req.onlyFailed && { onlyFailed: true }),
    ...(kinds.length > 0 && { kinds }),
    ...(req.statusCode > 0 && { statusCode: req.statusCode }),
    ...(req.triggerSlug !== "" && { triggerSlug: req.triggerSlug }),
  };
}

const everyMatch = { toolkitSlug: "", triggerSlug: "", subscriptionId: undefined, onlyUndelivered: false };

/** Stores new deliveries. Returns the number of all of them. Also returns the newest deliveries, at most as many as the response shows. */
async function queue(
  context: TriggersContext,
  principal: ProjectPrincipal,
  matches: readonly EventMatch[],
): Promise<{ count: number; newest: Delivery[] }> {
  const { projectId } = principal;
  await requireRoom(context, principal, matches.length);
  const nowMs = context.clock.now();
  const fresh = matches
    .map((match) => ({ ...match, id: createId("dlv", nowMs) }))
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  const enqueue = (db: Executor) => enqueueDeliveries(db, { projectId, dueAtMs: nowMs, lowPriority: false }, fresh);
  // In the portal, all deliveries of a call are to one subscription.
  const [first] = fresh;
  const gone =
    first === undefined ? new Set() : await queueForCaller(context.db, principal, first.subscriptionId, enqueue);
  context.dispatcher.wake();
  const queued = fresh.filter(({ id }) => !gone.has(id));
  const newest = queued.slice(0, shownMax).map(
    ({ id, eventId, subscriptionId }): Delivery => ({
      projectId,
      id,
      eventId,
      subscriptionId,
      state: "pending",
      attempts: 0,
      lastError: "",
      lastAttemptAt: null,
      replayed: true,
      nextAttemptAt: nowMs,
    }),
  );
  return { count: queued.length, newest };
}

/** Returns an attempt in the form of the API. `headers`: those of the request; undefined if the message has none. */
function attemptMessage(
  { id, subscriptionId, state }: Delivery,
  entry: AttemptEntry,
  headers: readonly (readonly [name: string, value: string])[] = [],
): DeliveryAttemptMessage {
  const sentAt = String(Math.floor(entry.startedAt / 1_000));
  const sent = headers.map(([name, value]) => [name, name === "webhook-timestamp" ? sentAt : value] as const);
  const { error, responseBody, startedAt } = entry;
  const failure = deliveryFailure({ subscriptionId, error, responseBody, atMs: startedAt, state });
  return create(DeliveryAttemptSchema, {
    deliveryId: id,
    number: entry.number,
    at: timestampFromMs(entry.startedAt),
    durationMs: entry.durationMs,
    address: entry.address,
    statusCode: entry.statusCode,
    error: entry.error,
    responseHeaders: entry.responseHeaders,
    responseBody: entry.responseBody,
    requestUrl: entry.requestUrl,
    requestHeaders: Object.fromEntries(sent),
    ...(failure && { failure: failureMessage(failure) }),
  });
}
