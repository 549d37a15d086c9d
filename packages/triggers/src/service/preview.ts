import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { CatalogView } from "@svc/catalog";
import { createId, isEntityId, type MinuteCount, optionalId, type ProjectPrincipal, requireProject } from "@svc/core";
import type { SubscriptionSettings } from "@svc/db/documents/subscriptions";
import { walkNewestEvents } from "@svc/db/events/list-walked";
import { type Event, eventsForProject } from "@svc/db/events/repo";
import type { Subscription } from "@svc/db/subscriptions/repo";
import {
  type PreviewedRequest,
  PreviewedRequestSchema,
  type PreviewSubscriptionRequest,
  type TriggersService,
} from "@svc/gen/triggers";
import { triggerFaults } from "../errors.ts";
import type { TriggersContext } from "./context.ts";
import { requireScan } from "./portal-limits.ts";
import { askedToolkit, requireEntity, requirePortalFields, subscriptionsOf, viewOf } from "./portal-scope.ts";
import { type ShownEvent, shownRequest } from "./shown-request.ts";
import { withWholeParts } from "./subscription-mask.ts";
import { requireOneSelection } from "./subscription-match.ts";
import { changeOfParts } from "./subscription-parts.ts";
import { subscribedSlugs } from "./subscriptions.ts";
import { samplePayload, selectedTypes } from "./test-event.ts";

type Methods = Pick<ServiceImpl<typeof TriggersService>, "previewSubscription">;

/** Limits for reading stored events in a preview: the number of events, their total size in bytes, and the number of events in one read. */
const scanned = { events: 1_000, bytes: 33_554_432, page: 25 };
/** Maximum time in milliseconds for which a preview in the portal reads events. */
const portalScanMs = 2_000;
const requestsMax = 5;
/** Maximum number of made-up events that a preview shows if no stored event would be delivered. */
const samplesMax = 3;

/** The columns of a subscription that decide which events it receives, and in which form it receives them. */
type Selection = Pick<Subscription, "toolkitSlug" | "triggerSlug" | "triggerSlugs" | "entityId" | "settings">;

/** Returns the method PreviewSubscription. `countScan`: counts what the portal of an entity (customer or user) makes svc read. */
export function previewMethods(context: TriggersContext, countScan: MinuteCount): Methods {
  return {
    async previewSubscription(req, ctx) {
      const caller = requireProject(ctx);
      requirePortalFields(caller, req, portalFields);
      const view = await viewOf(context, caller);
      const before = await startOf(context, caller, view, req);
      const sent = withWholeParts(before, req);
      requirePortalFields(caller, sent, portalFields);
      const selection = { ...before, ...changeOfParts(view, before, sent) };
      requireScan(caller, countScan);
      return preview(context, caller, view, selection);
    },
  };
}

/** Fields of a request of PreviewSubscription that a customer may set in the portal. */
const portalFields = ["id", "toolkitSlug", "triggerSlug", "entityId", "match", "format", "updateMask"];

/**
 * Returns the toolkit (app), trigger, entity (customer or user) and settings with which the preview of a subscription begins: those of a
 * stored subscription, or those in the request. Throws the errors that CreateSubscription would throw for them.
 */
async function startOf(
  { db }: TriggersContext,
  caller: ProjectPrincipal,
  view: CatalogView,
  req: PreviewSubscriptionRequest,
): Promise<Selection> {
  const id = optionalId("sub", "id", req.id);
  if (id === undefined) {
    const slugs = subscribedSlugs(view, askedToolkit(caller, req.toolkitSlug), req.triggerSlug);
    requireOneSelection(slugs.triggerSlug, req.match);
    if (req.entityId !== "" && !isEntityId(req.entityId)) throw triggerFaults.ENTITY_ID_INVALID(req.entityId);
    requireEntity(caller, req.entityId);
    return { ...slugs, triggerSlugs: [], entityId: caller.portal?.entityId ?? req.entityId, settings: null };
  }
  const known = await subscriptionsOf(db, caller).find(id);
  if (known === undefined) throw triggerFaults.SUBSCRIPTION_NOT_FOUND("id", req.id);
  if (known.keyId !== null) throw triggerFaults.SUBSCRIPTION_OF_AGENT("id", id, "its agent decides what it receives");
  return known;
}

async function preview(context: TriggersContext, caller: ProjectPrincipal, view: CatalogView, selection: Selection) {
  const { projectId, portal } = caller;
  const filter = selection.settings?.filter;
  const test = context.filters.begin(`project:${projectId}`);
  const counted = { scanned: 0, matched: 0, faulty: 0, fault: "", faultEventId: "" };
  const requests: PreviewedRequest[] = [];
  let since: number | undefined;
  for await (const event of latestEvents(context, caller, selection)) {
    // A customer does not learn of types that the project does not offer.
    if (portal !== undefined && !view.triggers.has(event.triggerSlug)) continue;
    counted.scanned++;
    since = event.receivedAt;
    if (!isSelected(selection, event)) continue;
    const times = { occurredAtMs: event.occurredAt, receivedAtMs: event.receivedAt };
    const found = filter === undefined ? undefined : (await test({ ...event, ...times }, [filter])).get(filter);
    if (found?.outcome === "no_match") continue;
    if (found?.outcome === "fault") {
      if (counted.faulty++ === 0) Object.assign(counted, { fault: found.error, faultEventId: event.id });
      continue;
    }
    counted.matched++;
    if (requests.length < requestsMax) requests.push(await previewOf(context, event, selection.settings));
  }
  const samples = requests.length === 0 ? await samplesOf(context, caller, view, selection) : [];
  return { ...counted, requests, samples, ...(since !== undefined && { since: timestampFromMs(since) }) };
}

/** Returns the requests of made-up events of the first selected types. A type for which the template gives no body has the fault. */
async function samplesOf(
  context: TriggersContext,
  { projectId }: ProjectPrincipal,
  view: CatalogView,
  selection: Selection,
): Promise<PreviewedRequest[]> {
  const samples: PreviewedRequest[] = [];
  const nowMs = context.clock.now();
  for (const type of selectedTypes([...view.triggers.values()], selection).slice(0, samplesMax)) {
    await context.turns.next(`project:${projectId}`);
    const slugs = { toolkitSlug: type.toolkitSlug, triggerSlug: type.slug, entityId: selection.entityId };
    const event = {
      ...slugs,
      projectId,
      id: createId("evt", nowMs),
      kind: "event" as const,
      occurredAt: nowMs,
      receivedAt: nowMs,
    };
    const payload = JSON.stringify(samplePayload(type));
    samples.push({ ...(await previewOf(context, { ...event, payload }, selection.settings)), eventId: "" });
  }
  return samples;
}

/**
 * Reads the latest events of the selected toolkit or trigger, newest first. In the portal, reads only events of the customer, for at most 2
 * seconds.
 */
async function* latestEvents(
  context: TriggersContext,
  caller: ProjectPrincipal,
  selection: Selection,
): AsyncGenerator<Event> {
  const { clock } = context;
  const untilMs = caller.portal === undefined ? Number.POSITIVE_INFINITY : clock.now() + portalScanMs;
  let [count, bytes] = [0, 0];
  for await (const page of latestPages(context, caller, selection)) {
    yield* page;
    count += page.length;
    bytes += page.reduce((sum, { payload }) => sum + payload.length, 0);
    if (count >= scanned.events || bytes >= scanned.bytes || clock.now() >= untilMs) return;
  }
}

async function* latestPages(
  { db }: TriggersContext,
  { projectId, portal }: ProjectPrincipal,
  { toolkitSlug, triggerSlug, triggerSlugs }: Selection,
): AsyncGenerator<readonly Event[]> {
  const [only = triggerSlug, ...others] = triggerSlugs;
  const range = { toolkitSlug, triggerSlug: others.length === 0 ? only : "" };
  if (portal !== undefined) {
    const filter = { ...range, entityId: portal.entityId, payloadContains: "" };
    return yield* walkNewestEvents(db, projectId, filter, scanned.page);
  }
  const events = eventsForProject(db, projectId);
  let page: readonly Event[];
  let after: Event["id"] | undefined;
  do {
    page = await events.list({ ...range, sinceMs: undefined, untilMs: undefined }, { after, limit: scanned.page });
    yield page;
    after = page.at(-1)?.id;
  } while (page.length >= scanned.page);
}

function isSelected({ triggerSlugs, entityId }: Selection, event: Event): boolean {
  return (
    (triggerSlugs.length === 0 || triggerSlugs.includes(event.triggerSlug)) &&
    (entityId === "" || entityId === event.entityId)
  );
}

async function previewOf(context: TriggersContext, event: ShownEvent, settings: SubscriptionSettings | null) {
  const nowMs = context.clock.now();
  const shown = await shownRequest(context, event, settings, { deliveryId: createId("dlv", nowMs), atMs: nowMs });
  if ("fault" in shown) return create(PreviewedRequestSchema, { eventId: event.id, error: shown.fault });
  const headers = shown.headers.map(([name, value]) => ({ name, value }));
  return create(PreviewedRequestSchema, { eventId: event.id, headers, body: shown.body });
}
