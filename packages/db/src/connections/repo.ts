import { type AccountId, type ProjectId, uuidOfId } from "@svc/core";
import { and, desc, eq, gt, inArray, isNull, lt, lte, or, type SQL } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { withTransaction } from "../connect.ts";
import { connectedAccounts } from "../schema/connections.ts";
import type { ConnectedAccountState } from "../schema/words.ts";
import { newestOfProject } from "../sql/newest-first.ts";
import { type AccountDefinition, type ConnectedAccount, type ConnectedAccountFilter, erased } from "./account.ts";
import { releaseAccountReferences } from "./references.ts";

/** The connected accounts of one project. */
export type ConnectedAccountRepository = {
  /** Keeps a pending account. */
  create(account: Omit<ConnectedAccount, "projectId">): Promise<ConnectedAccount>;
  find(id: AccountId): Promise<ConnectedAccount | undefined>;
  /** Newest first, from after `after`. An active account past its expiresAt counts as expired. */
  list(
    filter: ConnectedAccountFilter,
    page: { after: AccountId | undefined; limit: number },
    nowMs: number,
  ): Promise<ConnectedAccount[]>;
  /** The newest account of an entity that waits for consent or has expired; says why there is no active one. */
  findUnusable(definition: AccountDefinition, entityId: string): Promise<ConnectedAccount | undefined>;
  /** The project's own credential of a toolkit. */
  findOwn(definition: AccountDefinition): Promise<ConnectedAccount | undefined>;
  /** Ends an account for good: credential erased, references given back. False when there is none, or it has ended so. */
  revoke(id: AccountId, nowMs: number): Promise<boolean>;
  /**
   * Takes a pending account for the one exchange of its code, until which it must not be older than `createdAfterMs`.
   * Undefined when it is not pending, too old, or was taken before: a consent is used once.
   */
  claimPending(id: AccountId, createdAfterMs: number, nowMs: number): Promise<ConnectedAccount | undefined>;
  /** Ends a pending account that came to nothing: credential erased, references given back. */
  abandon(id: AccountId, lastError: string, nowMs: number): Promise<void>;
  /** Does so with an entity's pending accounts that were made at `createdBeforeMs` or before. */
  abandonStale(
    definition: AccountDefinition,
    entityId: string,
    change: { createdBeforeMs: number; lastError: string; nowMs: number },
  ): Promise<void>;
};

/** The connected accounts of one project. */
export function connectedAccountsForProject(db: Executor, projectId: ProjectId): ConnectedAccountRepository {
  const table = connectedAccounts;
  const own = (id: AccountId) => and(eq(table.projectId, projectId), eq(table.id, id));
  const ofEntity = (definition: AccountDefinition, entityId: string) =>
    and(
      eq(table.projectId, projectId),
      eq(table.toolkitSlug, definition.toolkitSlug),
      eq(table.isPrivate, definition.isPrivate),
      eq(table.isSandbox, definition.isSandbox),
      eq(table.entityId, entityId),
    );
  const end = (where: SQL | undefined, change: { lastError?: string; updatedAt: number }) =>
    withTransaction(db, async (tx) => {
      const ended = await tx.orm
        .update(table)
        .set({ ...change, state: "revoked", ...erased })
        .where(where)
        .returning({ id: table.id });
      await releaseAccountReferences(
        tx,
        projectId,
        ended.map(({ id }) => id),
      );
      return ended.length > 0;
    });
  return {
    async create(account) {
      const [row] = await db.orm
        .insert(table)
        .values({ ...account, projectId })
        .returning();
      if (row === undefined) throw new Error("an insert returned no row");
      return row;
    },
    async find(id) {
      const [row] = await db.orm.select().from(table).where(own(id));
      return row;
    },
    list(filter, page, nowMs) {
      const own = { where: eq(table.projectId, projectId), orderBy: [desc(table.id)] };
      const newest =
        filter.entityId === "" ? newestOfProject(table, projectId, page.after && uuidOfId(page.after)) : own;
      return db.orm
        .select()
        .from(table)
        .where(
          and(
            newest.where,
            filter.toolkitSlug === "" ? undefined : eq(table.toolkitSlug, filter.toolkitSlug),
            filter.entityId === "" ? undefined : eq(table.entityId, filter.entityId),
            inState(filter.state, nowMs),
            page.after === undefined ? undefined : lt(table.id, page.after),
          ),
        )
        .orderBy(...newest.orderBy)
        .limit(page.limit);
    },
    async findUnusable(definition, entityId) {
      const [row] = await db.orm
        .select()
        .from(table)
        .where(and(ofEntity(definition, entityId), inArray(table.state, ["pending", "expired"])))
        .orderBy(desc(table.id))
        .limit(1);
      return row;
    },
    async findOwn(definition) {
      const [row] = await db.orm
        .select()
        .from(table)
        .where(
          and(
            ofEntity(definition, ""),
            eq(table.scheme, "client_credentials"),
            inArray(table.state, ["active", "expired"]),
          ),
        )
        .orderBy(desc(table.id))
        .limit(1);
      return row;
    },
    revoke: (id, nowMs) =>
      end(and(own(id), inArray(table.state, ["pending", "active", "expired", "superseded"])), { updatedAt: nowMs }),
    async claimPending(id, createdAfterMs, nowMs) {
      const isFree = and(eq(table.state, "pending"), isNull(table.refreshLeaseUntil));
      const [row] = await db.orm
        .update(table)
        .set({ refreshLeaseUntil: nowMs, updatedAt: nowMs })
        .where(and(own(id), isFree, gt(table.createdAt, createdAfterMs)))
        .returning();
      return row;
    },
    async abandon(id, lastError, nowMs) {
      await end(and(own(id), eq(table.state, "pending")), { lastError, updatedAt: nowMs });
    },
    async abandonStale(definition, entityId, { createdBeforeMs, lastError, nowMs }) {
      const isStale = and(eq(table.state, "pending"), lte(table.createdAt, createdBeforeMs));
      await end(and(ofEntity(definition, entityId), isStale), { lastError, updatedAt: nowMs });
    },
  };
}

function inState(state: ConnectedAccountState | "", nowMs: number): SQL | undefined {
  const { state: column, expiresAt } = connectedAccounts;
  const ranOut = and(eq(column, "active"), lte(expiresAt, nowMs));
  if (state === "") return undefined;
  if (state === "active") return and(eq(column, "active"), or(isNull(expiresAt), gt(expiresAt, nowMs)));
  return state === "expired" ? or(eq(column, "expired"), ranOut) : eq(column, state);
}
