import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Catalog, CatalogView } from "@svc/catalog";
import {
  byId,
  checkEndpointUrl,
  createId,
  generateSigningSecret,
  isEntityId,
  projectList,
  quotaFaults,
  requireId,
  requireProject,
} from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import { expireDeliveries } from "@svc/db/deliveries/expire";
import { readEndpointTimes } from "@svc/db/deliveries/read-endpoint-times";
import { readSubscriptionStats } from "@svc/db/deliveries/read-stats";
import { closePause, endPause, openPause } from "@svc/db/replays/pause";
import { readSubscriptionProgress } from "@svc/db/subscriptions/read-progress";
import type { Subscription, SubscriptionChange } from "@svc/db/subscriptions/repo";
import { signingSecretContext } from "@svc/delivery";
import type {
  Subscription as SubscriptionMessage,
  TriggersService,
  UpdateSubscriptionRequest,
} from "@svc/gen/triggers";
import { subscriptionMessage } from "../convert.ts";
import { triggerFaults } from "../errors.ts";
import { eventsToolkitSlug } from "../own/toolkit.ts";
import type { TriggersContext } from "./context.ts";
import { askedToolkit, requireEntity, requirePortalFields, subscriptionsOf, viewOf } from "./portal-scope.ts";
import { largePages, requireToolkit, triggerSlugOf } from "./request.ts";
import { changeOfCredentials, changeOfMove } from "./subscription-credentials.ts";
import { withWholeParts } from "./subscription-mask.ts";
import { requireOneSelection } from "./subscription-match.ts";
import { changeOfParts } from "./subscription-parts.ts";

type Methods = Pick<
  ServiceImpl<typeof TriggersService>,
  "createSubscription" | "listSubscriptions" | "getSubscription" | "updateSubscription" | "deleteSubscription"
>;

/**
 * Maximum number of pending deliveries that are ended in the same transaction as their subscription. If the subscription has more, the rest
 * are ended in batches after that transaction.
 */
const expireMax = 20_000;

/** Returns the methods CreateSubscription, ListSubscriptions, GetSubscription, UpdateSubscription and DeleteSubscription. */
export function subscriptionMethods(context: TriggersContext): Methods {
  const { db, clock, sealer, guard, dispatcher } = context;
  return {
    async createSubscription(req, ctx) {
      const caller = requireProject(ctx);
      const { projectId } = caller;
      requirePortalFields(caller, req, portalFields.create);
      const endpointUrl = checkEndpointUrl(guard, req.endpointUrl);
      const view = await viewOf(context, caller);
      const slugs = subscribedSlugs(view, askedToolkit(caller, req.toolkitSlug), req.triggerSlug);
      requireOneSelection(slugs.triggerSlug, req.match);
      if (req.entityId !== "" && !isEntityId(req.entityId)) throw triggerFaults.ENTITY_ID_INVALID(req.entityId);
      requireEntity(caller, req.entityId);
      const entityId = caller.portal?.entityId ?? req.entityId;
      const createdAt = clock.now();
      const id = createId("sub", createdAt);
      const signingSecret = generateSigningSecret();
      const sealed = sealer.seal(Buffer.from(signingSecret, "utf8"), signingSecretContext(projectId, id));
      const parts = changeOfParts(view, { ...slugs, triggerSlugs: [], settings: null }, req);
      const settings = parts.settings ?? null;
      const row = await subscriptionsOf(db, caller).create({
        id,
        endpointUrl,
        entityId,
        ...slugs,
        ...parts,
        ...(req.credentials && changeOfCredentials(context, { projectId, id }, settings, req.credentials)),
        signingSecret: sealed,
        createdAt,
      });
      if ("quotaReached" in row)
        throw quotaFaults[entityId === "" ? "subscriptions" : "entitySubscriptions"](row.quotaReached);
      if ("entityFull" in row) throw triggerFaults.ENTITY_FULL(entityId, row.entityFull.most);
      const warnings = subscriptionWarnings(view, slugs.toolkitSlug);
      return { subscription: subscriptionMessage(row, createdAt), signingSecret, warnings };
    },

    listSubscriptions: projectList(sealer, {
      call: "ListSubscriptions",
      order: byId("sub"),
      sizes: largePages,
      filter: ({ entityId }) => {
        if (entityId !== "" && !isEntityId(entityId)) throw triggerFaults.ENTITY_ID_INVALID(entityId);
        // Without a filter, page tokens of earlier versions stay valid.
        return entityId === "" ? {} : { entityId };
      },
      rows: ({ page, caller, filter: { entityId } }) => subscriptionsOf(db, caller).list(page, entityId),
      async answer(rows, { caller: { projectId } }) {
        const ids = rows.map(({ id }) => id);
        const times = await readEndpointTimes(db, projectId, ids);
        return { subscriptions: rows.map((row) => subscriptionMessage(row, clock.now(), times.get(row.id))) };
      },
    }),

    async getSubscription(req, ctx) {
      const id = requireId("sub", "id", req.id);
      const row = await subscriptionsOf(db, requireProject(ctx)).find(id);
      if (row === undefined) throw triggerFaults.SUBSCRIPTION_NOT_FOUND("id", req.id);
      const subscription = await wholeSubscription(context, row);
      return req.statsSince === undefined
        ? { subscription }
        : { subscription, stats: await statsOf(context, row, timestampMs(req.statsSince)) };
    },

    async updateSubscription(req, ctx) {
      const caller = requireProject(ctx);
      requirePortalFields(caller, req, portalFields.update);
      const id = requireId("sub", "id", req.id);
      const change = req.endpointUrl === undefined ? {} : { endpointUrl: checkEndpointUrl(guard, req.endpointUrl) };
      const view = await viewOf(context, caller);
      const row = await withTransaction(db, async (tx) => {
        const updated = await subscriptionsOf(tx, caller).update(id, async (known) => {
          const sent = withWholeParts(known, req);
          requirePortalFields(caller, sent, portalFields.update);
          requireChangeable(known, sent);
          const isCustomer = caller.portal !== undefined;
          if (isCustomer) requirePortalActivity(known, req);
          const parts = changeOfParts(view, known, sent);
          const settings = "settings" in parts ? (parts.settings ?? null) : known.settings;
          const credentials =
            req.credentials === undefined
              ? changeOfMove(known, change.endpointUrl, settings)
              : changeOfCredentials(context, known, settings, req.credentials);
          return {
            ...change,
            ...parts,
            ...credentials,
            ...(await activityAfter(tx, known, req, { nowMs: clock.now(), isCustomer })),
          };
        });
        if (updated !== undefined && !updated.active) await expireDeliveries(tx, id, clock.now(), expireMax);
        return updated;
      });
      if (row === undefined) throw triggerFaults.SUBSCRIPTION_NOT_FOUND("id", req.id);
      if (!row.active) await dispatcher.expire(id);
      else if (req.paused === false || req.active === true) context.wakeReplays();
      // Deliveries that the former pace held back may start now.
      if (req.pace !== undefined || req.updateMask.length > 0) dispatcher.wake();
      return { subscription: subscriptionMessage(row, clock.now()) };
    },

    async deleteSubscription(req, ctx) {
      const caller = requireProject(ctx);
      const id = requireId("sub", "id", req.id);
      const isDeleted = await withTransaction(db, async (tx) => {
        const deleted = await subscriptionsOf(tx, caller).delete(id);
        if (deleted === undefined) return false;
        await endPause(tx, deleted, { nowMs: clock.now(), reason: "deleted" });
        await expireDeliveries(tx, id, clock.now(), expireMax);
        return true;
      });
      if (!isDeleted) throw triggerFaults.SUBSCRIPTION_NOT_FOUND("id", req.id);
      await dispatcher.expire(id);
      return {};
    },
  };
}

/** Returns the results of the deliveries to a subscription since a time in the form of the API. */
async function statsOf({ db, clock }: TriggersContext, { projectId, id }: Subscription, sinceMs: number) {
  const untilMs = clock.now();
  const since = Math.max(0, Math.min(sinceMs, untilMs));
  const {
    isCut: cut,
    bars,
    answers,
    ...stats
  } = await readSubscriptionStats(db, projectId, id, { sinceMs: since, untilMs });
  return {
    ...{ ...stats, cut, byStatus: [...answers] },
    since: timestampFromMs(stats.sinceMs),
    until: timestampFromMs(untilMs),
    bars: bars.map(({ atMs, ...counts }) => ({ ...counts, at: timestampFromMs(atMs) })),
  };
}

/** Returns a subscription as a message of the API, with the progress of its deliveries and the response times of its endpoint. */
export async function wholeSubscription(
  { db, clock }: TriggersContext,
  row: Subscription,
): Promise<SubscriptionMessage> {
  const [progress, times] = await Promise.all([
    readSubscriptionProgress(db, row.projectId, row.id),
    readEndpointTimes(db, row.projectId, [row.id]),
  ]);
  return subscriptionMessage(row, clock.now(), { ...progress, ...times.get(row.id) });
}

/**
 * Fields of subscription requests that a customer may set in the portal. The fields for retries, pace and order are missing, because only
 * the project may set them.
 */
const portalFields = {
  create: ["endpointUrl", "toolkitSlug", "triggerSlug", "entityId", "description", "match", "format", "credentials"],
  update: ["id", "active", "paused", "endpointUrl", "description", "match", "format", "credentials", "updateMask"],
};

/**
 * Throws if a customer may not make this change in the portal. A customer cannot deactivate a subscription, and cannot restart one that the
 * project stopped.
 */
function requirePortalActivity({ id, inactiveReason, pausedBy }: Subscription, { active, paused }: Activity): void {
  // Earlier versions did not store who paused. Such a pause counts as made by the project.
  const isResumed = active === true || paused === false;
  if (isResumed && inactiveReason === "paused" && pausedBy !== "portal")
    throw triggerFaults.SUBSCRIPTION_PAUSED_BY_PROJECT(active === true ? "active" : "paused", id);
  const isRefused = active === true && inactiveReason === "deactivated" && pausedBy !== "portal";
  if (active === false || isRefused) throw triggerFaults.PORTAL_FIELD_REFUSED("active");
}

/** Fields of UpdateSubscription that start and stop deliveries. */
type Activity = Pick<UpdateSubscriptionRequest, "active" | "paused">;

/** When and by whom a subscription is stopped or started. `isCustomer`: true if a customer does this in the portal. */
type ActivityChange = { readonly nowMs: number; readonly isCustomer: boolean };

/**
 * Throws if the change is not allowed for a subscription that an agent made over MCP. Its endpoint URL cannot change, because the agent's
 * callback confirmed that URL. It cannot be paused, because the agent itself asks for events that it missed. It cannot become active again
 * after its key has ended.
 */
function requireChangeable(
  { id, keyId, inactiveReason }: Subscription,
  { endpointUrl, active, paused, description, match, format, retry, pace, credentials }: UpdateSubscriptionRequest,
): void {
  if (keyId === null) return;
  const part = Object.entries({ description, match, format, retry, pace, credentials }).find(
    ([, sent]) => sent !== undefined,
  );
  if (part !== undefined) throw triggerFaults.SUBSCRIPTION_OF_AGENT(part[0], id, "it has no parts");
  if (paused === true)
    throw triggerFaults.SUBSCRIPTION_OF_AGENT("paused", id, "it takes up missed events by its cursor");
  if (endpointUrl !== undefined)
    throw triggerFaults.SUBSCRIPTION_OF_AGENT("endpointUrl", id, "its callback stays as it was confirmed");
  if (active === true && inactiveReason === "revoked")
    throw triggerFaults.SUBSCRIPTION_OF_AGENT("active", id, "its key or grant has ended");
}

/**
 * Returns the change of a subscription for a request that sets `active` or `paused`. Also begins or ends the replay with which svc later
 * delivers the missed events. Throws SUBSCRIPTION_INACTIVE for the pause of an inactive subscription.
 */
async function activityAfter(
  tx: Executor,
  known: Subscription,
  { active, paused }: Activity,
  { nowMs, isCustomer }: ActivityChange,
): Promise<SubscriptionChange> {
  // The transaction holds the lock on the subscription.
  const isPaused = known.inactiveReason === "paused";
  if (paused === true) {
    const isTakenOver = known.pausedBy !== "project" && !isCustomer;
    if (isPaused && active !== false && !isTakenOver) return {};
    if (active === false || (active === undefined && !known.active && !isPaused))
      throw triggerFaults.SUBSCRIPTION_INACTIVE(known.id, known.inactiveReason || "deactivated", "paused");
    const pause = { nowMs, freshId: createId("rpl", nowMs), origin: isCustomer ? "portal" : "" } as const;
    const pausedReplayId = await openPause(tx, known, pause);
    const pausedBy = isCustomer ? "portal" : "project";
    const pausedAt = isPaused ? known.pausedAt : nowMs;
    return { active: false, inactiveReason: "paused", pausedAt, pausedReplayId, pausedBy };
  }
  if (active === false) {
    await endPause(tx, known, { nowMs, reason: "requested" });
    return { active: false, pausedAt: null, pausedBy: "" };
  }
  if (!isPaused) return active === undefined ? {} : { active, pausedBy: "" };
  if (active === undefined && paused === undefined) return {};
  await closePause(tx, known, nowMs);
  return { active: true, pausedAt: null, pausedBy: "" };
}

/** Returns the toolkit (app) and trigger of a subscription after checking them against the catalog. */
export function subscribedSlugs(view: CatalogView, toolkitSlug: string, triggerSlug: string) {
  if (toolkitSlug === "") {
    if (triggerSlug !== "") throw triggerFaults.TRIGGER_WITHOUT_TOOLKIT(triggerSlug);
    return { toolkitSlug: "", triggerSlug: "" };
  }
  requireToolkit(view, toolkitSlug);
  const slug = triggerSlugOf(toolkitSlug, triggerSlug);
  const isKnown = slug === "" || view.triggers.get(slug)?.toolkitSlug === toolkitSlug;
  if (!isKnown) throw triggerFaults.TRIGGER_NOT_FOUND(toolkitSlug, triggerSlug);
  return { toolkitSlug, triggerSlug: slug };
}

/**
 * Returns warnings about a subscription to a toolkit (app). The subscription is created in spite of a warning, because a trigger may be
 * added later.
 */
function subscriptionWarnings({ toolkits }: Pick<Catalog, "toolkits">, toolkitSlug: string): string[] {
  if (toolkitSlug === "" || (toolkits.get(toolkitSlug)?.triggers ?? []).length > 0) return [];
  const cure = toolkitSlug === eventsToolkitSlug ? "the project has an event type" : "its definition has one";
  return [`${toolkitSlug} has no triggers: the subscription delivers nothing until ${cure}`];
}
