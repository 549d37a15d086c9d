import type { KeyId, ProjectId, SubscriptionId } from "@svc/core";
import { and, count, eq, inArray, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { withTransaction } from "../connect.ts";
import { findQuotaReached, type QuotaReached } from "../projects/quotas.ts";
import { touchProjectRouting } from "../projects/repo.ts";
import { usageOfProject } from "../projects/usage.ts";
import { apiKeys, grants, subscriptions } from "../schema/index.ts";
import { filterColumn } from "../sql/filter.ts";
import { freshHealth, type NewSubscription, type Subscription } from "./repo.ts";

/** A subscription that an agent creates over MCP: its key, expiry and start position. */
export type NewAgentSubscription = NewSubscription &
  Pick<Subscription, "entityId" | "mcpId" | "cursor"> & { readonly keyId: KeyId; readonly expiresAt: number };

/** Columns that a refresh changes. */
export type AgentSubscriptionChange = Pick<
  Subscription,
  "cursor" | "signingSecret" | "formerSecret" | "formerUntil"
> & {
  readonly expiresAt: number;
};

/** Why no subscription was created: the project's quota, the maximum per key, or the end of the key meanwhile. */
export type SubscriptionRefusal = QuotaReached | { readonly keyReached: number } | { readonly keyEnded: true };

/** Subscriptions of agents in one project. Every change increments the project's routing version in the same transaction. */
export type AgentSubscriptionRepository = {
  /** Returns the subscription with this derived id, even if it has expired and was not swept yet. */
  find(mcpId: string): Promise<Subscription | undefined>;
  /** True if a key has an unexpired subscription to this endpoint: then the endpoint is known to accept it. */
  hasEndpoint(keyId: KeyId, endpointUrl: string, nowMs: number): Promise<boolean>;
  /** Replaces an ended subscription with the same derived id. It expires no later than its key. */
  create(
    subscription: NewAgentSubscription,
    bounds: { readonly perKeyMax: number; readonly nowMs: number },
  ): Promise<Subscription | SubscriptionRefusal>;
  /** Extends it, at most to its key's expiry, and reactivates it after failures. Undefined if it was deleted or its key ended. */
  refresh(id: SubscriptionId, change: AgentSubscriptionChange, nowMs: number): Promise<Subscription | undefined>;
  /** Returns the id of the deleted subscription; undefined if there was none. */
  delete(mcpId: string): Promise<SubscriptionId | undefined>;
};

/** Returns the subscriptions that agents of one project created over MCP. */
export function agentSubscriptionsForProject(db: Executor, projectId: ProjectId): AgentSubscriptionRepository {
  // Only as a filter: if a project had none when the statistics were made, PostgreSQL read all of the project's rows.
  const isOfProject = filterColumn(subscriptions.projectId, projectId);
  const own = (mcpId: string) =>
    // The exact condition of subscriptions_mcp: a generic plan matches no others.
    and(eq(subscriptions.mcpId, mcpId), sql`${subscriptions.mcpId} <> ''`, isOfProject);
  return {
    async find(mcpId) {
      const [row] = await db.orm.select().from(subscriptions).where(own(mcpId));
      return row;
    },
    async hasEndpoint(keyId, endpointUrl, nowMs) {
      // With a condition on time, PostgreSQL reads the later expiries of all projects; one key has few.
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
        // Locks the project's row, so that two concurrent creations cannot both take the last slot.
        await touchProjectRouting(tx, projectId);
        await tx.orm.delete(subscriptions).where(own(subscription.mcpId));
        const [held] = await tx.orm
          .select({ count: count() })
          .from(subscriptions)
          .where(eq(subscriptions.keyId, keyId));
        if ((held?.count ?? 0) >= perKeyMax) return { keyReached: perKeyMax };
        const quota = { projectId, name: "subscriptions" } as const;
        const reached = await findQuotaReached(tx, quota, () => usageOfProject(tx, projectId).countSubscriptions());
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
          .select({ keyId: subscriptions.keyId })
          .from(subscriptions)
          .where(and(eq(subscriptions.projectId, projectId), eq(subscriptions.id, id)));
        const endsAt = known?.keyId ? await holdKey(tx, known.keyId, nowMs) : undefined;
        if (endsAt === undefined) return undefined;
        await touchProjectRouting(tx, projectId);
        const [row] = await tx.orm
          .update(subscriptions)
          .set({
            ...change,
            expiresAt: Math.min(expiresAt, endsAt),
            ...{ active: true, inactiveReason: "" },
            // A failing subscription keeps its backoff, which protects its endpoint.
            ...onlyWhereInactive,
          })
          .where(and(eq(subscriptions.id, id), inArray(subscriptions.inactiveReason, ["", "failing", "gone"])))
          .returning();
        return row;
      }),
    delete: (mcpId) =>
      withTransaction(db, async (tx) => {
        const [row] = await tx.orm.delete(subscriptions).where(own(mcpId)).returning({ id: subscriptions.id });
        if (row !== undefined) await touchProjectRouting(tx, projectId);
        return row?.id;
      }),
  };
}

/** Clears the health of an inactive subscription; an active one keeps its health. */
const onlyWhereInactive = Object.fromEntries(
  Object.keys(freshHealth).map((name) => {
    const column = subscriptions[name as keyof typeof freshHealth];
    const fresh = name === "backoffMs" || name === "goneCount" ? sql`0` : sql`null`;
    return [name, sql`case when ${subscriptions.active} then ${column} else ${fresh} end`];
  }),
);

/**
 * Prevents a key, and the key its grant was given with, from ending before the transaction does. Returns the earlier expiry of the two
 * (epoch milliseconds); undefined if one has ended.
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
