import { type AccountId, type ProjectId, uuidOfId } from "@svc/core";
import { and, desc, eq, gt, inArray, isNull, lt, lte, or, type SQL, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { withTransaction } from "../connect.ts";
import { connectedAccounts } from "../schema/connections.ts";
import type { ConnectedAccountState } from "../schema/words.ts";
import { filterColumn } from "../sql/filter.ts";
import { keyOf, newestOfProject, newestWith } from "../sql/newest-first.ts";
import {
  type AccountDefinition,
  type ConnectedAccount,
  type ConnectedAccountFilter,
  erased,
  type NewConnectedAccount,
} from "./account.ts";
import { releaseAccountReferences } from "./references.ts";

/** The connected accounts of one project. */
export type ConnectedAccountRepository = {
  /** Stores a pending account. */
  create(account: Omit<NewConnectedAccount, "projectId">): Promise<ConnectedAccount>;
  find(id: AccountId): Promise<ConnectedAccount | undefined>;
  /** Returns the newest first, beginning after the id `after`. An active account past its expiresAt counts as expired. */
  list(filter: ConnectedAccountFilter, page: AccountPage, nowMs: number): Promise<ConnectedAccount[]>;
  /** The newest account of an entity that waits for consent or has expired; explains why there is no active one. */
  findUnusable(definition: AccountDefinition, entityId: string): Promise<ConnectedAccount | undefined>;
  /** The project's own account of a toolkit. */
  findOwn(definition: AccountDefinition): Promise<ConnectedAccount | undefined>;
  /** Ends an account permanently: clears its credential and releases its references. False if there is none, or it is already revoked. */
  revoke(id: AccountId, nowMs: number): Promise<boolean>;
  /**
   * Takes a pending account for the only exchange of its code. Undefined if it is not pending, was created before `createdAfterMs`, or was
   * taken before: a consent is used once.
   */
  claimPending(id: AccountId, createdAfterMs: number, nowMs: number): Promise<ConnectedAccount | undefined>;
  /** Ends a pending account that failed: clears its credential and releases its references. */
  abandon(id: AccountId, lastError: string, nowMs: number): Promise<void>;
  /** Does so with an entity's pending accounts that were created at `createdBeforeMs` or earlier. */
  abandonStale(
    definition: AccountDefinition,
    entityId: string,
    change: { createdBeforeMs: number; lastError: string; nowMs: number },
  ): Promise<void>;
};

type AccountPage = { readonly after: AccountId | undefined; readonly limit: number };

/** Returns the connected accounts of one project. */
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
  const newest = (filter: ConnectedAccountFilter, page: AccountPage, also: SQL | undefined) => {
    const { toolkitSlug, entityId, state } = filter;
    const isNarrow = entityId !== "" || (state === "" && also !== undefined);
    const ordered = isNarrow
      ? { where: eq(table.projectId, projectId), orderBy: [entityId === "" ? unindexed : desc(table.id)] }
      : newestAccounts(projectId, filter, page.after && uuidOfId(page.after));
    return db.orm
      .select()
      .from(table)
      .where(
        and(
          ordered.where,
          !isNarrow || toolkitSlug === "" ? undefined : eq(table.toolkitSlug, toolkitSlug),
          entityId === "" ? undefined : eq(table.entityId, entityId),
          also,
          page.after === undefined ? undefined : lt(table.id, page.after),
        ),
      )
      .orderBy(...ordered.orderBy)
      .limit(page.limit);
  };
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
    async list(filter, page, nowMs) {
      if (filter.state !== "expired") return newest(filter, page, inState(filter.state, nowMs));
      // Accounts that expired since the last check are still stored as active.
      const expired = await newest(filter, page, inState("expired", nowMs));
      const ranOut = await newest({ ...filter, state: "" }, page, hasRunOut(nowMs));
      return [...expired, ...ranOut].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, page.limit);
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

/** Sorts by id without an index: few accounts have expired, and a plan in the order of ids would read all others first. */
const unindexed = sql`${connectedAccounts.id}::text desc`;

/** Chooses the index that fits the filter. */
function newestAccounts(
  projectId: ProjectId,
  { toolkitSlug, state }: ConnectedAccountFilter,
  before: string | undefined,
) {
  const table = connectedAccounts;
  const key = keyOf([table.state, state || undefined], [table.toolkitSlug, toolkitSlug || undefined]);
  return key === undefined
    ? newestOfProject(table, projectId, before)
    : newestWith(table, projectId, { ...key, before });
}

/** Returns the condition for a state; for active, also that the account has not expired. */
function inState(state: ConnectedAccountState | "", nowMs: number): SQL | undefined {
  const { state: column, expiresAt } = connectedAccounts;
  if (state === "") return undefined;
  if (state !== "active") return eq(column, state);
  // Only as a filter: without statistics, a plan read the whole index of active accounts.
  return and(filterColumn(column, state), or(isNull(expiresAt), gt(expiresAt, nowMs)));
}

/** The exact condition of the partial index: a generic plan matches no others. */
function hasRunOut(nowMs: number): SQL | undefined {
  const { state, expiresAt } = connectedAccounts;
  return and(sql`${state} = 'active' and ${expiresAt} is not null`, lte(expiresAt, nowMs));
}
