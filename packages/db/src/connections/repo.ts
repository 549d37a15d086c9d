import { type AccountId, type ProjectId, uuidOfId } from "@svc/core";
import { and, desc, eq, gt, inArray, isNull, lt, lte, or, type SQL, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { withTransaction } from "../connect.ts";
import { connectedAccounts, toolkitSources } from "../schema/connections.ts";
import type { ConnectedAccountState } from "../schema/words.ts";
import { filterColumn } from "../sql/filter.ts";
import { keyOf, newestOfProject, newestWith } from "../sql/newest-first.ts";
import { arrayLiteral } from "../sql/statement.ts";
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
  /** Stores a new account, for example a pending one, which the person has not connected yet. Returns the stored account. */
  create(account: Omit<NewConnectedAccount, "projectId">): Promise<ConnectedAccount>;
  find(id: AccountId): Promise<ConnectedAccount | undefined>;
  /**
   * Returns the accounts that match, newest first, beginning after the id `after`. An active account whose expiresAt has passed counts as
   * expired.
   */
  list(filter: ConnectedAccountFilter, page: AccountPage, nowMs: number): Promise<ConnectedAccount[]>;
  /**
   * Returns the newest account of an entity (customer or user) that waits for consent or has expired. Callers use it to explain why the
   * entity has no active account. Undefined if there is none.
   */
  findUnusable(definition: AccountDefinition, entityId: string): Promise<ConnectedAccount | undefined>;
  /**
   * Returns the project's own active or expired account of a toolkit, which has the scheme `client_credentials` and belongs to no entity
   * (customer or user). Returns undefined if there is none.
   */
  findOwn(definition: AccountDefinition): Promise<ConnectedAccount | undefined>;
  /**
   * Ends an account permanently: clears its credential and releases its references. Returns false if the project has no such account, or it
   * is already revoked.
   */
  revoke(id: AccountId, nowMs: number): Promise<boolean>;
  /**
   * Reserves a pending account for the exchange of its authorization code, which is allowed only once. Returns the account. Undefined if it
   * is not pending, was not created after `createdAfterMs`, or is already reserved.
   */
  claimPending(id: AccountId, createdAfterMs: number, nowMs: number): Promise<ConnectedAccount | undefined>;
  /**
   * Ends a pending account whose connection failed. Deletes its credential. Also deletes its account references, by which svc finds the
   * account of an incoming event.
   */
  abandon(id: AccountId, lastError: string, nowMs: number): Promise<void>;
  /**
   * Ends (state `revoked`) the pending accounts of an entity (the customer or user) that were created at `createdBeforeMs` or earlier.
   * Their connection never finished. Deletes their credentials and references.
   */
  abandonStale(
    definition: AccountDefinition,
    entityId: string,
    change: { createdBeforeMs: number; lastError: string; nowMs: number },
  ): Promise<void>;
  /**
   * Returns the OAuth scopes that the next consent of an entity requests in addition to those of the toolkit's definition, because calls
   * lacked them. They are of the newest account that is active or expired.
   */
  extraScopes(definition: AccountDefinition, entityId: string): Promise<readonly string[]>;
  /** Adds OAuth scopes that a call lacked to those that the next consent requests. An account has at most 50 of them. */
  addExtraScopes(id: AccountId, scopes: readonly string[]): Promise<void>;
  /** Removes these scopes from all accounts of an entity, because the app does not know one of them. */
  clearExtraScopes(definition: AccountDefinition, entityId: string): Promise<void>;
};

/** Maximum OAuth scopes of an account that a consent requests in addition to those of the toolkit's definition. */
const extraScopesMax = 50;

type AccountPage = { readonly after: AccountId | undefined; readonly limit: number };

/** Returns the repository of one project's connected accounts. */
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
  const end = (executor: Executor, where: SQL | undefined, change: { lastError?: string; updatedAt: number }) =>
    withTransaction(executor, async (tx) => {
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
      // The second query finds accounts that are still stored as active although their expiresAt has passed.
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
      withTransaction(db, async (tx) => {
        // Comes before the account is locked: the deletion of a toolkit locks both in this order, too.
        await tx.orm
          .update(toolkitSources)
          .set({ listingAccountId: null })
          .where(and(eq(toolkitSources.listingAccountId, id), eq(toolkitSources.projectId, projectId)));
        const isOpen = inArray(table.state, ["pending", "active", "expired", "superseded"]);
        return end(tx, and(own(id), isOpen), { updatedAt: nowMs });
      }),
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
      await end(db, and(own(id), eq(table.state, "pending")), { lastError, updatedAt: nowMs });
    },
    async abandonStale(definition, entityId, { createdBeforeMs, lastError, nowMs }) {
      const isStale = and(eq(table.state, "pending"), lte(table.createdAt, createdBeforeMs));
      await end(db, and(ofEntity(definition, entityId), isStale), { lastError, updatedAt: nowMs });
    },
    async extraScopes(definition, entityId) {
      const isKnown = and(eq(table.scheme, "oauth2"), inArray(table.state, ["active", "expired"]));
      const [row] = await db.orm
        .select({ extraScopes: table.extraScopes })
        .from(table)
        .where(and(ofEntity(definition, entityId), isKnown))
        .orderBy(desc(table.id))
        .limit(1);
      return row?.extraScopes ?? [];
    },
    async addExtraScopes(id, scopes) {
      const all = sql`${table.extraScopes} || ${arrayLiteral(scopes)}::text[]`;
      await db.orm
        .update(table)
        .set({
          extraScopes: sql`array(select distinct scope from unnest(${all}) scope order by scope limit ${extraScopesMax})`,
        })
        .where(own(id));
    },
    async clearExtraScopes(definition, entityId) {
      const hasSome = sql`cardinality(${table.extraScopes}) > 0`;
      await db.orm
        .update(table)
        .set({ extraScopes: [] })
        .where(and(ofEntity(definition, entityId), hasSome));
    },
  };
}

/** Orders accounts by id without an index. With the index of ids, PostgreSQL would read all accounts to find the few expired ones. */
const unindexed = sql`${connectedAccounts.id}::text desc`;

/**
 * Returns the SQL condition and order for a project's newest accounts that match the filter. The SQL is written so that PostgreSQL uses an
 * index.
 */
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

/**
 * Returns the SQL condition that is true for accounts in the given state. For `active`, the condition also requires that `expiresAt` is
 * null or in the future. Returns undefined if `state` is empty.
 */
function inState(state: ConnectedAccountState | "", nowMs: number): SQL | undefined {
  const { state: column, expiresAt } = connectedAccounts;
  if (state === "") return undefined;
  if (state !== "active") return eq(column, state);
  // In this form, PostgreSQL uses no index for the state. Without statistics, it read the whole index of active accounts.
  return and(filterColumn(column, state), or(isNull(expiresAt), gt(expiresAt, nowMs)));
}

/**
 * Returns the condition that an active account's expiresAt has passed. It has exactly the text of the condition in the partial index,
 * because PostgreSQL's generic plan uses the index only then.
 */
function hasRunOut(nowMs: number): SQL | undefined {
  const { state, expiresAt } = connectedAccounts;
  return and(sql`${state} = 'active' and ${expiresAt} is not null`, lte(expiresAt, nowMs));
}
