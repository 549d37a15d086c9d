import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { CatalogView } from "@svc/catalog";
import { createId, isEntityId, type MinuteCount, optionalId, type ProjectPrincipal, requireProject } from "@svc/core";
import type { SubscriptionSettings } from "@svc/db/documents/subscriptions";
import { walkNewestEvents } from "@svc/db/events/list-walked";
import { type Event, eventsForProject } from "@svc/db/events/repo";
import type { Subscription } from "@svc/db/subscriptions/repo";
import { previewedRequest } from "@svc/delivery";
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
import { withWholeParts } from "./subscription-mask.ts";
import { requireOneSelection } from "./subscription-match.ts";
import { changeOfParts } from "./subscription-parts.ts";
import { subscribedSlugs } from "./subscriptions.ts";

type Methods = Pick<ServiceImpl<typeof TriggersService>, "previewSubscription">;

/** Limits for reading stored events in a preview: the number of events, their total size in bytes, and the number of events in one read. */
const scanned = { events: 1_000, bytes: 33_554_432, page: 25 };
/** Maximum time in milliseconds for which a preview in the portal reads events. */
const portalScanMs = 2_000;
const requestsMax = 5;

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
    if (requests.length < requestsMax) requests.push(await requestOf(context, event, selection.settings));
  }
  return { ...counted, requests, ...(since !== undefined && { since: timestampFromMs(since) }) };
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

async function requestOf(
  { renderBody, clock }: TriggersContext,
  event: Event,
  settings: SubscriptionSettings | null,
): Promise<PreviewedRequest> {
  const { format, credentials } = settings ?? {};
  const times = { occurredAtMs: event.occurredAt, receivedAtMs: event.receivedAt };
  const delivered = { ...event, kind: "event", ...times } as const;
  const own = format?.kind === "custom" ? await renderBody(event.projectId, format.bodyJson, delivered) : undefined;
  if (own !== undefined && "fault" in own)
    return create(PreviewedRequestSchema, { eventId: event.id, error: `body_invalid: ${own.fault}` });
  const nowMs = clock.now();
  const id = { deliveryId: createId("dlv", nowMs), format };
  const { headers, body } = previewedRequest(delivered, id, nowMs, own?.body);
  const secret = [...(credentials?.headerNames ?? []), ...(credentials?.auth ? ["authorization"] : [])];
  const shown = headers.filter(([name]) => !secret.some((other) => other.toLowerCase() === name.toLowerCase()));
  const all = [...shown, ...secret.map((name) => [name, "…"] as const)];
  return create(PreviewedRequestSchema, {
    eventId: event.id,
    headers: all.map(([name, value]) => ({ name, value })),
    body,
  });
}
