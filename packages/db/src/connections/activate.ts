import { uuidOfId } from "@svc/core";
import { and, eq, inArray, ne } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { withTransaction } from "../connect.ts";
import { connectedAccounts } from "../schema/connections.ts";
import { statement } from "../sql/statement.ts";
import { type ConnectedAccount, erased, type NewConnectedAccount } from "./account.ts";
import { releaseAccountReferences, routeAccountReferences } from "./references.ts";

/** Columns of an account when it is activated; state, references and lease times follow from it. */
export type Activation = Omit<NewConnectedAccount, "state" | "references" | "refreshLeaseUntil" | "lastError">;

/** Options of an activation. */
export type ActivationOptions = {
  /** True for a new row, false for a pending account. */
  isNew: boolean;
  /** Returns its references from those of the accounts it supersedes and, if it was pending, its own. */
  referencesOf: (superseded: readonly ConnectedAccount[], own: readonly string[]) => readonly string[];
  /** Returns the references that no other account of the deployment may have; incoming events are routed by them. */
  exclusiveOf: (references: readonly string[]) => readonly string[];
};

const lockAccounts = statement<{ locked: string }>(
  "lock_accounts",
  "select pg_advisory_xact_lock(hashtextextended($1::text, 0))::text as locked",
);

/**
 * Makes an account the active one of its entity, definition and scheme, and supersedes the previous one, in one transaction. Concurrent
 * activations take turns by an advisory lock, because a first account has no row to lock. Undefined if the account is no longer pending. A
 * reference in use is a unique violation of `account_references_key`, and nothing changes.
 */
export function activateAccount(
  db: Executor,
  account: Activation,
  { isNew, referencesOf, exclusiveOf }: ActivationOptions,
): Promise<ConnectedAccount | undefined> {
  const { id, projectId, updatedAt } = account;
  return withTransaction(db, async (tx) => {
    await lockAccounts(tx, [lockKeyOf(account)]);
    const pending = isNew ? undefined : await lockPending(tx, account);
    if (!isNew && pending === undefined) return undefined;
    const superseded = await supersede(tx, account, updatedAt);
    const references = [...referencesOf(superseded, pending?.references ?? [])];
    const row = { ...account, state: "active" as const, references, refreshLeaseUntil: null, lastError: "" };
    const [active] = isNew
      ? await tx.orm.insert(connectedAccounts).values(row).returning()
      : await tx.orm.update(connectedAccounts).set(row).where(eq(connectedAccounts.id, id)).returning();
    await releaseAccountReferences(tx, projectId, [id, ...superseded.map((other) => other.id)]);
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

/** Ends the entity's accounts in use, and returns them as they were. */
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
