import { type AccountId, uuidOfId } from "@svc/core";
import { and, eq, inArray, isNotNull, ne } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { withTransaction } from "../connect.ts";
import { connectedAccounts, toolkitSources } from "../schema/connections.ts";
import { statement } from "../sql/statement.ts";
import { type ConnectedAccount, erased, type NewConnectedAccount } from "./account.ts";
import { releaseAccountReferences, routeAccountReferences } from "./references.ts";

/**
 * Columns to store when an account becomes active. `activateAccount` sets the other columns (state, references, lease for renewal, last
 * error).
 */
export type Activation = Omit<NewConnectedAccount, "state" | "references" | "refreshLeaseUntil" | "lastError">;

/** Options of `activateAccount`, which makes a connected account usable for calls. */
export type ActivationOptions = {
  /** True to insert a new account; false to activate an existing pending account. */
  isNew: boolean;
  /**
   * Returns the references (ids by which webhook posts find an account) that the activated account gets. `superseded`: the accounts that
   * the activated one replaces. `own`: the references that the account had while it was pending; empty for a new account.
   */
  referencesOf: (superseded: readonly ConnectedAccount[], own: readonly string[]) => readonly string[];
  /**
   * Returns the references (ids by which webhook posts find an account) that only one account of the deployment may have. svc routes
   * incoming events by these references.
   */
  exclusiveOf: (references: readonly string[]) => readonly string[];
};

const lockAccounts = statement<{ locked: string }>(
  "lock_accounts",
  "select pg_advisory_xact_lock(hashtextextended($1::text, 0))::text as locked",
);

/**
 * Makes an account active, and ends the previous active account of the same entity, toolkit and scheme.
 * - Returns the account; undefined if it is not pending any more.
 * - Throws the unique violation of `account_references_key`, and changes nothing, if another account has a reference from `exclusiveOf`.
 */
export function activateAccount(
  db: Executor,
  account: Activation,
  { isNew, referencesOf, exclusiveOf }: ActivationOptions,
): Promise<ConnectedAccount | undefined> {
  const { id, projectId, updatedAt } = account;
  return withTransaction(db, async (tx) => {
    // A first account has no row that could be locked, so activations wait for each other by an advisory lock.
    await lockAccounts(tx, [lockKeyOf(account)]);
    const pending = isNew ? undefined : await lockPending(tx, account);
    if (!isNew && pending === undefined) return undefined;
    await lockListing(tx, account);
    const superseded = await supersede(tx, account, updatedAt);
    const endedIds = superseded.map((other) => other.id);
    const references = [...referencesOf(superseded, pending?.references ?? [])];
    const row = { ...account, state: "active" as const, references, refreshLeaseUntil: null, lastError: "" };
    const [active] = isNew
      ? await tx.orm.insert(connectedAccounts).values(row).returning()
      : await tx.orm.update(connectedAccounts).set(row).where(eq(connectedAccounts.id, id)).returning();
    await releaseAccountReferences(tx, projectId, [id, ...endedIds]);
    await moveListing(tx, account, endedIds);
    await routeAccountReferences(tx, account, exclusiveOf(references));
    return active;
  });
}

function lockKeyOf({ projectId, toolkitSlug, isPrivate, isSandbox, entityId, scheme }: Activation): string {
  return JSON.stringify([
    "connected_accounts",
    uuidOfId(projectId),
    toolkitSlug,
    isPrivate,
    isSandbox,
    entityId,
    scheme,
  ]);
}

async function lockPending(tx: Executor, { id, projectId }: Activation): Promise<ConnectedAccount | undefined> {
  const table = connectedAccounts;
  const [row] = await tx.orm
    .select()
    .from(table)
    .where(and(eq(table.projectId, projectId), eq(table.id, id), eq(table.state, "pending")))
    .for("update");
  return row;
}

/** Returns the condition for the source of a private toolkit whose tools are listed with one of its accounts. */
function hasListing({ projectId, toolkitSlug }: Activation) {
  const { projectId: owner, slug, listingAccountId } = toolkitSources;
  return and(eq(owner, projectId), eq(slug, toolkitSlug), isNotNull(listingAccountId));
}

/**
 * Locks the source of a private toolkit before its accounts are locked. The deletion of a toolkit locks both in this order, too, so that the
 * two never wait for each other.
 */
async function lockListing(tx: Executor, account: Activation): Promise<void> {
  if (!account.isPrivate) return;
  await tx.orm.select({ slug: toolkitSources.slug }).from(toolkitSources).where(hasListing(account)).for("update");
}

/** Lets svc list the tools of an MCP server with the new account, if it listed them with one of those that the account replaces. */
async function moveListing(tx: Executor, account: Activation, endedIds: readonly AccountId[]): Promise<void> {
  if (!account.isPrivate || endedIds.length === 0) return;
  const isReplaced = inArray(toolkitSources.listingAccountId, [...endedIds]);
  await tx.orm
    .update(toolkitSources)
    .set({ listingAccountId: account.id })
    .where(and(hasListing(account), isReplaced));
}

/**
 * Sets the state `superseded` on connected accounts that are replaced, because another account was activated in their place. Returns the
 * replaced accounts as they were before.
 */
async function supersede(tx: Executor, account: Activation, nowMs: number): Promise<ConnectedAccount[]> {
  const table = connectedAccounts;
  const before = await tx.orm
    .select()
    .from(table)
    .where(
      and(
        eq(table.projectId, account.projectId),
        eq(table.toolkitSlug, account.toolkitSlug),
        eq(table.isPrivate, account.isPrivate),
        eq(table.isSandbox, account.isSandbox),
        eq(table.entityId, account.entityId),
        eq(table.scheme, account.scheme),
        inArray(table.state, ["active", "expired"]),
        ne(table.id, account.id),
      ),
    )
    .orderBy(table.id)
    .for("update");
  const ids = before.map(({ id }) => id);
  if (ids.length > 0) {
    await tx.orm
      .update(table)
      .set({ ...erased, state: "superseded", updatedAt: nowMs })
      .where(inArray(table.id, ids));
  }
  return before;
}
