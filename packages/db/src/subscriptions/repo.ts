import type { ProjectId, SubscriptionId } from "@svc/core";
import { and, desc, eq, lt } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { withTransaction } from "../connect.ts";
import { findQuotaReached, type QuotaReached } from "../projects/quotas.ts";
import { touchProjectRouting } from "../projects/repo.ts";
import { usageOfProject } from "../projects/usage.ts";
import { subscriptions } from "../schema/index.ts";

/** A subscription with its health. */
export type Subscription = typeof subscriptions.$inferSelect;

/** Columns set when a subscription is created. */
export type NewSubscription = Pick<
  Subscription,
  "id" | "endpointUrl" | "toolkitSlug" | "triggerSlug" | "signingSecret" | "createdAt"
>;

/** Changes of UpdateSubscription; an absent field stays. */
export type SubscriptionChange = { active?: boolean; endpointUrl?: string };

/** Subscriptions of one project. Every change increments the project's routing version in the same transaction. */
export type SubscriptionRepository = {
  /** Creates a subscription within the project's quota; concurrent calls cannot exceed it. */
  create(subscription: NewSubscription): Promise<Subscription | QuotaReached>;
  find(id: SubscriptionId): Promise<Subscription | undefined>;
  /** Returns the newest first, beginning after the id `after`. */
  list(page: { after: SubscriptionId | undefined; limit: number }): Promise<Subscription[]>;
  /** Undefined if there is none. Activation or another address clears the endpoint's health. */
  update(id: SubscriptionId, change: SubscriptionChange): Promise<Subscription | undefined>;
  /** False if there was none. */
  delete(id: SubscriptionId): Promise<boolean>;
};

/** Health of an endpoint without deliveries yet. */
export const freshHealth = {
  failingSince: null,
  backoffUntil: null,
  backoffSetAt: null,
  backoffMs: 0,
  goneSince: null,
  goneCount: 0,
};

/** Returns the subscriptions of one project to events, without ask endpoints. */
export function subscriptionsForProject(db: Executor, projectId: ProjectId): SubscriptionRepository {
  const ofProject = and(eq(subscriptions.projectId, projectId), eq(subscriptions.kind, "events"));
  const own = (id: SubscriptionId) => and(ofProject, eq(subscriptions.id, id));
  return {
    create: (subscription) =>
      withTransaction(db, async (tx) => {
        // Locks the project's row, so that two concurrent creations cannot both take the last slot.
        await touchProjectRouting(tx, projectId);
        const quota = { projectId, name: "subscriptions" } as const;
        const reached = await findQuotaReached(tx, quota, () => usageOfProject(tx, projectId).countSubscriptions());
        if (reached !== undefined) return reached;
        const [row] = await tx.orm
          .insert(subscriptions)
          .values({ ...subscription, projectId })
          .returning();
        if (row === undefined) throw new Error("an insert returned no row");
        return row;
      }),
    async find(id) {
      const [row] = await db.orm.select().from(subscriptions).where(own(id));
      return row;
    },
    list: (page) =>
      db.orm
        .select()
        .from(subscriptions)
        .where(and(ofProject, page.after === undefined ? undefined : lt(subscriptions.id, page.after)))
        .orderBy(desc(subscriptions.id))
        .limit(page.limit),
    update: (id, change) =>
      withTransaction(db, async (tx) => {
        const isFreshStart = change.active === true || change.endpointUrl !== undefined;
        const set: Partial<Subscription> = {
          ...(isFreshStart ? freshHealth : {}),
          ...(change.active === undefined ? {} : { inactiveReason: change.active ? "" : "deactivated" }),
          ...change,
        };
        const [before] = await tx.orm.select().from(subscriptions).where(own(id)).for("update");
        if (before === undefined || Object.keys(set).length === 0) return before;
        const [row] = await tx.orm.update(subscriptions).set(set).where(own(id)).returning();
        const isRoutedAnew = row?.active !== before.active || row.endpointUrl !== before.endpointUrl;
        if (isRoutedAnew) await touchProjectRouting(tx, projectId);
        return row;
      }),
    delete: (id) =>
      withTransaction(db, async (tx) => {
        const rows = await tx.orm.delete(subscriptions).where(own(id)).returning({ id: subscriptions.id });
        if (rows.length > 0) await touchProjectRouting(tx, projectId);
        return rows.length > 0;
      }),
  };
}
