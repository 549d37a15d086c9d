import type { KeyId, ProjectId, SubscriptionId } from "@svc/core";
import { and, count, eq, inArray, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { withTransaction } from "../connect.ts";
import type { QuotaReached } from "../projects/quotas.ts";
import { touchSubscriptionRouting } from "../projects/repo.ts";
import { apiKeys, grants, subscriptions } from "../schema/index.ts";
import { filterColumn } from "../sql/filter.ts";
import { findSubscriptionQuotaReached, freshHealth, type NewSubscription, type Subscription } from "./repo.ts";

/**
 * A subscription that an agent creates over MCP. `keyId`: the API key with which the agent creates it. `expiresAt`: when the subscription
 * expires.
 */
export type NewAgentSubscription = NewSubscription &
  Pick<Subscription, "entityId" | "mcpId" | "cursor"> & { readonly keyId: KeyId; readonly expiresAt: number };

/** Columns of a subscription that change when the agent that created it renews it before it expires. */
export type AgentSubscriptionChange = Pick<
  Subscription,
  "cursor" | "signingSecret" | "formerSecret" | "formerUntil"
> & {
  readonly expiresAt: number;
};

/**
 * Reason why no subscription was created: the project's quota is reached, the key has the maximum number of subscriptions (`keyReached`),
 * or the key has ended (`keyEnded`).
 */
export type SubscriptionRefusal = QuotaReached | { readonly keyReached: number } | { readonly keyEnded: true };

/**
 * The subscriptions that agents of one project created over MCP. Every change makes nodes read the changed subscriptions again, as changes
 * of `SubscriptionRepository` do.
 */
export type AgentSubscriptionRepository = {
  /**
   * Returns the subscription with this `mcpId` (the id that the receiver sees); undefined if there is none. An expired subscription is also
   * returned, until the sweep deletes it.
   */
  find(mcpId: string): Promise<Subscription | undefined>;
  /**
   * Returns true if a key has a subscription to this endpoint that has not expired. The endpoint is then known to accept subscriptions of
   * this key. Otherwise returns false.
   */
  hasEndpoint(keyId: KeyId, endpointUrl: string, nowMs: number): Promise<boolean>;
  /**
   * Creates a subscription of an agent. It replaces an earlier one with the same API key, endpoint, trigger and arguments. It expires not
   * later than its API key. Returns the subscription, or the reason why it was not created.
   */
  create(
    subscription: NewAgentSubscription,
    bounds: { readonly perKeyMax: number; readonly nowMs: number },
  ): Promise<Subscription | SubscriptionRefusal>;
  /**
   * Sets a later expiry of a subscription, but not later than the expiry of its API key. Activates the subscription again if it was
   * inactive because of failures. Returns the subscription, or undefined if the subscription is deleted or its API key has ended.
   */
  refresh(id: SubscriptionId, change: AgentSubscriptionChange, nowMs: number): Promise<Subscription | undefined>;
  /** Deletes a subscription and returns its id; undefined if there is none with this `mcpId`. */
  delete(mcpId: string): Promise<SubscriptionId | undefined>;
};

/** Returns the functions that read and change the subscriptions which agents of one project created over MCP. */
export function agentSubscriptionsForProject(db: Executor, projectId: ProjectId): AgentSubscriptionRepository {
  // Writes the condition on the project in a form for which PostgreSQL uses no index. Otherwise, if the project had no such subscription
  // when statistics were collected, PostgreSQL read all subscriptions of the project.
  const isOfProject = filterColumn(subscriptions.projectId, projectId);
  const own = (mcpId: string) =>
    // Has exactly the text of the condition in the index subscriptions_mcp, because PostgreSQL's generic plan uses the index only then.
    and(eq(subscriptions.mcpId, mcpId), sql`${subscriptions.mcpId} <> ''`, isOfProject);
  return {
    async find(mcpId) {
      const [row] = await db.orm.select().from(subscriptions).where(own(mcpId));
      return row;
    },
    async hasEndpoint(keyId, endpointUrl, nowMs) {
      // The expiry is compared in code and not in the query. With a condition on the expiry, PostgreSQL would read the unexpired
      // subscriptions of all projects, whereas one key has few subscriptions.
      const rows = await db.orm
        .select({ expiresAt: subscriptions.expiresAt })
        .from(subscriptions)
        .where(and(eq(subscriptions.keyId, keyId), eq(subscriptions.endpointUrl, endpointUrl)));
      return rows.some(({ expiresAt }) => expiresAt !== null && expiresAt > nowMs);
    },
    create: ({ keyId, expiresAt, ...subscription }, { perKeyMax, nowMs }) =>
      withTransaction(db, async (tx) => {
        const endsAt = await holdKey(tx, keyId, nowMs);
        if (endsAt === undefined) return { keyEnded: true };
        const replaced = await tx.orm
          .delete(subscriptions)
          .where(own(subscription.mcpId))
          .returning({ entityId: subscriptions.entityId });
        // This locks the project's row. So if two subscriptions are created at the same time, only one of them can be the last allowed one.
        const changed = [subscription, ...replaced].map(({ entityId }) => entityId);
        await touchSubscriptionRouting(tx, projectId, changed);
        const freed = replaced.filter(({ entityId }) => entityId !== "").length;
        const [held] = await tx.orm
          .select({ count: count() })
          .from(subscriptions)
          .where(eq(subscriptions.keyId, keyId));
        if ((held?.count ?? 0) >= perKeyMax) return { keyReached: perKeyMax };
        const reached = await findSubscriptionQuotaReached(tx, projectId, subscription.entityId, freed);
        if (reached !== undefined) return reached;
        const [row] = await tx.orm
          .insert(subscriptions)
          .values({ ...subscription, projectId, keyId, expiresAt: Math.min(expiresAt, endsAt) })
          .returning();
        if (row === undefined) throw new Error("an insert returned no row");
        return row;
      }),
    refresh: (id, { expiresAt, ...change }, nowMs) =>
      withTransaction(db, async (tx) => {
        const [known] = await tx.orm
          .select({ keyId: subscriptions.keyId, entityId: subscriptions.entityId })
          .from(subscriptions)
          .where(and(eq(subscriptions.projectId, projectId), eq(subscriptions.id, id)));
        const endsAt = known?.keyId ? await holdKey(tx, known.keyId, nowMs) : undefined;
        if (known === undefined || endsAt === undefined) return undefined;
        const [row] = await tx.orm
          .update(subscriptions)
          .set({
            ...change,
            expiresAt: Math.min(expiresAt, endsAt),
            ...{ active: true, inactiveReason: "" },
            // Resets the health of the endpoint only if the subscription was inactive. An active subscription whose endpoint fails keeps
            // its backoff, which protects the endpoint.
            ...onlyWhereInactive,
          })
          .where(and(eq(subscriptions.id, id), inArray(subscriptions.inactiveReason, ["", "failing", "gone"])))
          .returning();
        if (row !== undefined) await touchSubscriptionRouting(tx, projectId, [row.entityId]);
        return row;
      }),
    delete: (mcpId) =>
      withTransaction(db, async (tx) => {
        const [row] = await tx.orm
          .delete(subscriptions)
          .where(own(mcpId))
          .returning({ id: subscriptions.id, entityId: subscriptions.entityId });
        if (row !== undefined) await touchSubscriptionRouting(tx, projectId, [row.entityId]);
        return row?.id;
      }),
  };
}

/**
 * Changes of the health columns of a subscription (such as its failures) when an agent renews the subscription. If the subscription is
 * inactive, the columns are reset. If it is active, they stay unchanged.
 */
const onlyWhereInactive = Object.fromEntries(
  Object.keys(freshHealth).map((name) => {
    const column = subscriptions[name as keyof typeof freshHealth];
    const fresh = name === "backoffMs" || name === "goneCount" ? sql`0` : sql`null`;
    return [name, sql`case when ${subscriptions.active} then ${column} else ${fresh} end`];
  }),
);

/**
 * Locks an API key, so that it cannot be revoked before this transaction ends. If the key belongs to a grant (a person's permission for an
 * agent), also locks the API key with which the grant was given. Returns the earliest expiry of these keys in epoch milliseconds. Returns
 * undefined if one of them has ended.
 */
async function holdKey(tx: Executor, keyId: KeyId, nowMs: number): Promise<number | undefined> {
  const vouchers = await tx.orm.select({ id: grants.voucherKeyId }).from(grants).where(eq(grants.keyId, keyId));
  const ids = [keyId, ...vouchers.map(({ id }) => id)];
  const keys = await tx.orm
    .select({ revokedAt: apiKeys.revokedAt, expiresAt: apiKeys.expiresAt })
    .from(apiKeys)
    .where(inArray(apiKeys.id, ids))
    .orderBy(apiKeys.id)
    .for("share");
  const ends = keys.map(({ revokedAt, expiresAt }) => revokedAt ?? expiresAt ?? Number.POSITIVE_INFINITY);
  const endsAt = Math.min(...ends);
  return keys.length < ids.length || endsAt <= nowMs ? undefined : endsAt;
}
