import { isDeepStrictEqual } from "node:util";
import { type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { and, desc, eq, isNull, lt, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { withTransaction } from "../connect.ts";
import type { SubscriptionPace } from "../documents/subscriptions.ts";
import { findQuotaReached, type QuotaReached } from "../projects/quotas.ts";
import { touchSubscriptionRouting } from "../projects/repo.ts";
import { usageOfProject } from "../projects/usage.ts";
import { subscriptionPaces, subscriptions } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";
import type { RoutedEntity } from "./routing.ts";

/** A row of the table `subscriptions`. */
export type Subscription = typeof subscriptions.$inferSelect;

/** Columns of a new subscription that the caller sets; svc sets the others. */
export type NewSubscription = Pick<
  Subscription,
  "id" | "endpointUrl" | "toolkitSlug" | "triggerSlug" | "signingSecret" | "createdAt"
> &
  Partial<Pick<Subscription, "settings" | "credentials" | "triggerSlugs" | "entityId" | "origin">>;

/** The portal of an entity (customer). In the portal, the entity reaches only its own subscriptions that were created there. */
export type PortalOfEntity = { readonly entityId: string };

/** The changes to a subscription that an update stores. A field that is absent does not change. */
export type SubscriptionChange = Partial<
  Pick<
    Subscription,
    | "active"
    | "inactiveReason"
    | "endpointUrl"
    | "signingSecret"
    | "formerSecret"
    | "formerUntil"
    | "pausedAt"
    | "pausedReplayId"
    | "pausedBy"
    | "settings"
    | "credentials"
    | "toolkitSlug"
    | "triggerSlug"
    | "triggerSlugs"
    | "filterFaults"
  >
>;

/**
 * Nothing was created, because the entity (customer or user) already has the maximum number of subscriptions. Those of agents do not count.
 */
type EntityFull = { readonly entityFull: { readonly most: number } };

/** Maximum number of subscriptions of one entity (customer or user), without those of agents: each agent's key has a maximum of its own. */
const ofEntityMax = 50;

/**
 * The subscriptions of one project to events. Every change increments the project's routing version in the same transaction, or the version
 * of the shard (a group of entities) if the subscription has an entity (customer or user). By these counters, nodes notice that they must
 * read the subscriptions again.
 */
export type SubscriptionRepository = {
  /**
   * Creates a subscription. Returns it, or the limit that the project or the entity (customer or user) has reached. Concurrent calls cannot
   * exceed a limit together. `once`: if the project has a sending subscription (see `findSending`) of the toolkit (app) to the address,
   * returns this one instead, also if a concurrent call has just created it.
   */
  create(
    subscription: NewSubscription,
    options?: { readonly once: boolean },
  ): Promise<Subscription | QuotaReached | EntityFull>;
  /**
   * Returns the newest subscription that delivers every event of a toolkit (app) to an address: it is active, not paused, and names no
   * entity, trigger or end. Undefined if there is none.
   */
  findSending(to: Pick<Subscription, "endpointUrl" | "toolkitSlug">): Promise<Subscription | undefined>;
  find(id: SubscriptionId): Promise<Subscription | undefined>;
  /**
   * Returns the subscriptions, newest first, beginning after the id `after`. `entityId`: only those of this entity (customer or user), if
   * it is not empty.
   */
  list(page: { after: SubscriptionId | undefined; limit: number }, entityId?: string): Promise<Subscription[]>;
  /**
   * Changes a subscription and returns it; undefined if the project has no such subscription. `change`: the change, or a function that
   * makes it from the current subscription. If the subscription is activated or gets another address, the health of its endpoint is reset.
   */
  update(
    id: SubscriptionId,
    change: SubscriptionChange | ((before: Subscription) => SubscriptionChange | Promise<SubscriptionChange>),
  ): Promise<Subscription | undefined>;
  /** Deletes a subscription and returns it; undefined if the project has no such subscription. */
  delete(id: SubscriptionId): Promise<Subscription | undefined>;
};

/**
 * Columns of subscriptions whose change increments the version of the routing (which subscriptions receive an event). A column with a
 * document or a secret counts as changed whenever a caller sets it, even to the same value.
 */
const routed = [
  "active",
  "endpointUrl",
  "signingSecret",
  "formerUntil",
  "settings",
  "credentials",
  "toolkitSlug",
  "triggerSlug",
  "triggerSlugs",
] as const;

/** The columns for the health of an endpoint, with their values before the first delivery. */
export const freshHealth = {
  failingSince: null,
  backoffUntil: null,
  backoffSetAt: null,
  backoffMs: 0,
  goneSince: null,
  goneCount: 0,
};

/** Counts the subscriptions of an entity (customer or user), without those of agents. Uses the index subscriptions_entity. */
const countOfOneEntity = statement<{ count: number }>(
  "count_entity_subscriptions",
  `select count(*)::int4 as count from subscriptions
   where project_id = $1::uuid and entity_id = $2::text and entity_id <> '' and key_id is null`,
);

async function countOfEntity(tx: Executor, { projectId, entityId }: RoutedEntity): Promise<number> {
  const [row] = await countOfOneEntity(tx, [uuidOfId(projectId), entityId]);
  return row?.count ?? 0;
}

/**
 * Returns the quota that one more subscription would exceed; undefined if it fits. Subscriptions with an entity (customer or user) have
 * their own quota. The caller must have locked the project's row. `freed`: number of subscriptions with an entity that the transaction has
 * deleted.
 */
export function findSubscriptionQuotaReached(
  tx: Executor,
  projectId: ProjectId,
  entityId: string,
  freed = 0,
): Promise<QuotaReached | undefined> {
  const usage = usageOfProject(tx, projectId);
  return entityId === ""
    ? findQuotaReached(tx, { projectId, name: "subscriptions" }, () => usage.countSubscriptions())
    : findQuotaReached(
        tx,
        { projectId, name: "entitySubscriptions" },
        async () => (await usage.countEntitySubscriptions()) - freed,
      );
}

/**
 * Returns the repository of one project's subscriptions to events. Endpoints for questions to people are not among them. `portal`: if it is
 * set, the repository reads and changes only subscriptions that this entity (customer or user) has created in its portal. New subscriptions
 * then belong to the entity.
 */
export function subscriptionsForProject(
  db: Executor,
  projectId: ProjectId,
  portal?: PortalOfEntity,
): SubscriptionRepository {
  const ofPortal = portal && and(eq(subscriptions.entityId, portal.entityId), sql`${subscriptions.origin} = 'portal'`);
  const ofProject = and(eq(subscriptions.projectId, projectId), eq(subscriptions.kind, "events"), ofPortal);
  const own = (id: SubscriptionId) => and(ofProject, eq(subscriptions.id, id));
  const findSending: SubscriptionRepository["findSending"] = async ({ endpointUrl, toolkitSlug }) => {
    const sending = and(
      eq(subscriptions.active, true),
      isNull(subscriptions.pausedAt),
      isNull(subscriptions.expiresAt),
    );
    const whole = and(
      sql`${subscriptions.entityId} = ''`,
      eq(subscriptions.triggerSlug, ""),
      sql`${subscriptions.triggerSlugs} = '{}'`,
    );
    const named = and(eq(subscriptions.endpointUrl, endpointUrl), eq(subscriptions.toolkitSlug, toolkitSlug));
    const [row] = await db.orm
      .select()
      .from(subscriptions)
      .where(and(ofProject, sending, whole, named))
      .orderBy(desc(subscriptions.id))
      .limit(1);
    return row;
  };
  return {
    findSending,
    create: (subscription, { once } = { once: false }) =>
      withTransaction(db, async (tx) => {
        // This locks the project's row. So if two subscriptions are created at the same time, only one of them can be the last allowed one.
        const { entityId = "" } = portal ?? subscription;
        await touchSubscriptionRouting(tx, projectId, [entityId]);
        const sending = once ? await subscriptionsForProject(tx, projectId).findSending(subscription) : undefined;
        if (sending !== undefined) return sending;
        const reached = await findSubscriptionQuotaReached(tx, projectId, entityId);
        if (reached !== undefined) return reached;
        if (entityId !== "" && (await countOfEntity(tx, { projectId, entityId })) >= ofEntityMax)
          return { entityFull: { most: ofEntityMax } };
        const origin = portal === undefined ? "" : "portal";
        const [row] = await tx.orm
          .insert(subscriptions)
          .values({ ...subscription, projectId, entityId, origin })
          .returning();
        if (row === undefined) throw new Error("an insert returned no row");
        await writePace(tx, row, undefined);
        return row;
      }),
    async find(id) {
      const [row] = await db.orm.select().from(subscriptions).where(own(id));
      return row;
    },
    list: (page, entityId = "") =>
      db.orm
        .select()
        .from(subscriptions)
        .where(
          and(
            ofProject,
            entityId === "" || portal !== undefined ? undefined : sql`${subscriptions.entityId} <> ''`,
            entityId === "" || portal !== undefined ? undefined : eq(subscriptions.entityId, entityId),
            page.after === undefined ? undefined : lt(subscriptions.id, page.after),
          ),
        )
        .orderBy(desc(subscriptions.id))
        .limit(page.limit),
    update: (id, changing) =>
      withTransaction(db, async (tx) => {
        const [before] = await tx.orm.select().from(subscriptions).where(own(id)).for("update");
        if (before === undefined) return undefined;
        const change = typeof changing === "function" ? await changing(before) : changing;
        const isFreshStart = change.active === true || change.endpointUrl !== undefined;
        const set: Partial<Subscription> = {
          ...(isFreshStart ? freshHealth : {}),
          ...(change.active === undefined ? {} : { inactiveReason: change.active ? "" : "deactivated" }),
          ...change,
        };
        if (Object.keys(set).length === 0) return before;
        const [row] = await tx.orm.update(subscriptions).set(set).where(own(id)).returning();
        const isRoutedAnew = routed.some((name) => change[name] !== undefined && change[name] !== before[name]);
        if (isRoutedAnew) await touchSubscriptionRouting(tx, projectId, [before.entityId]);
        if (row !== undefined) await writePace(tx, row, before.settings?.pace);
        return row;
      }),
    delete: (id) =>
      withTransaction(db, async (tx) => {
        const [row] = await tx.orm.delete(subscriptions).where(own(id)).returning();
        if (row !== undefined) await touchSubscriptionRouting(tx, projectId, [row.entityId]);
        if (row?.settings?.pace !== undefined) await tx.orm.delete(subscriptionPaces).where(paceOf(id));
        return row;
      }),
  };
}

const paceOf = (id: SubscriptionId) => eq(subscriptionPaces.subscriptionId, id);

/**
 * Replaces the row of subscription_paces after a change of a subscription's pace (its limit of deliveries per time). `before`: the old
 * pace. Deliveries that were sent before the change do not count towards the new pace.
 */
async function writePace(
  tx: Executor,
  { id, settings }: Subscription,
  before: SubscriptionPace | undefined,
): Promise<void> {
  const pace = settings?.pace;
  if (isDeepStrictEqual(pace, before)) return;
  if (before !== undefined) await tx.orm.delete(subscriptionPaces).where(paceOf(id));
  if (pace !== undefined) await tx.orm.insert(subscriptionPaces).values({ subscriptionId: id });
}
