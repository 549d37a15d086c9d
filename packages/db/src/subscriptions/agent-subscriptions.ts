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

/** A subscription that an agent makes over MCP: by which key, for how long, from which position on. */
export type NewAgentSubscription = NewSubscription &
  Pick<Subscription, "entityId" | "mcpId" | "cursor"> & { readonly keyId: KeyId; readonly expiresAt: number };

/** What a refresh changes. */
export type AgentSubscriptionChange = Pick<
  Subscription,
  "cursor" | "signingSecret" | "formerSecret" | "formerUntil"
> & {
  readonly expiresAt: number;
};

/** Why none was made: the project's quota, the most of one key, or that the key ended meanwhile. */
export type SubscriptionRefusal = QuotaReached | { readonly keyReached: number } | { readonly keyEnded: true };

/** The subscriptions of agents in one project. Every change moves the project's routing version in the same transaction. */
export type AgentSubscriptionRepository = {
  /** The one of this derived id, also when its time is over and it was not swept yet. */
  find(mcpId: string): Promise<Subscription | undefined>;
  /** Whether a key has a subscription to this endpoint whose time is not over: then the endpoint is known to want it. */
  hasEndpoint(keyId: KeyId, endpointUrl: string, nowMs: number): Promise<boolean>;
  /** Takes the place of one of the same derived id that ended. It ends no later than its key does. */
  create(
    subscription: NewAgentSubscription,
    bounds: { readonly perKeyMax: number; readonly nowMs: number },
  ): Promise<Subscription | SubscriptionRefusal>;
  /** Gives it more time, no more than its key has, and has it deliver again where it failed; undefined when it is gone or its key ended. */
  refresh(id: SubscriptionId, change: AgentSubscriptionChange, nowMs: number): Promise<Subscription | undefined>;
  /** The id of what was deleted; undefined when there was none. */
  delete(mcpId: string): Promise<SubscriptionId | undefined>;
};

/** The subscriptions that agents of one project made over MCP. */
export function agentSubscriptionsForProject(db: Executor, projectId: ProjectId): AgentSubscriptionRepository {
  // As a filter alone: a project that had none when statistics were made was read as a whole, whatever it has by now.
  const isOfProject = filterColumn(subscriptions.projectId, projectId);
  const own = (mcpId: string) =>
    // In the words of subscriptions_mcp: a plan for any value knows no other.
    and(eq(subscriptions.mcpId, mcpId), sql`${subscriptions.mcpId} <> ''`, isOfProject);
  return {
    async find(mcpId) {
      const [row] = await db.orm.select().from(subscriptions).where(own(mcpId));
      return row;
    },
    async hasEndpoint(keyId, endpointUrl, nowMs) {
      // Asked for a time, the store goes through what ends later in all projects; of a key there are few.
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
        // Takes the project's row, so two that are made at once cannot both be the last one.
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
            // What fails now goes on to: its backoff is its protection.
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

/** A fresh start for one that was given up, and nothing for one that delivers. */
const onlyWhereInactive = Object.fromEntries(
  Object.keys(freshHealth).map((name) => {
    const column = subscriptions[name as keyof typeof freshHealth];
    const fresh = name === "backoffMs" || name === "goneCount" ? sql`0` : sql`null`;
    return [name, sql`case when ${subscriptions.active} then ${column} else ${fresh} end`];
  }),
);

/** Keeps a key, and the one that its grant was given with, from ending before the transaction does. Answers when the first of them ends by itself (epoch milliseconds); undefined where one has. */
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
