import { type AccountId, type ProjectId, uuidOfId } from "@svc/core";
import { and, eq, notInArray, sql } from "drizzle-orm";
import { putAccountReferences } from "../account-references/repo.ts";
import { type Executor, withTransaction } from "../connect.ts";
import { touchRouting } from "../projects/repo.ts";
import { connectedAccounts } from "../schema/connections.ts";
import { accountReferences } from "../schema/triggers.ts";
import { arrayLiteral } from "../sql/statement.ts";
import type { ConnectedAccount } from "./account.ts";

/**
 * Removes the references of accounts from the routing of incoming events. If any were removed, increments the deployment's routing version.
 */
export async function releaseAccountReferences(
  tx: Executor,
  projectId: ProjectId,
  accountIds: readonly AccountId[],
): Promise<void> {
  if (accountIds.length === 0) return;
  const released = await tx.orm
    .delete(accountReferences)
    .where(
      and(
        eq(accountReferences.projectId, projectId),
        sql`${accountReferences.accountId} = any(${arrayLiteral(accountIds.map(uuidOfId))}::uuid[])`,
      ),
    )
    .returning({ reference: accountReferences.reference });
  if (released.length > 0) await touchRouting(tx);
}

/**
 * Stores an account's references (ids in webhook posts), so that svc routes events by them. Throws the unique violation of
 * `account_references_key` if another account has one of them. They are stored in a fixed order, so that two transactions do not deadlock.
 */
export async function routeAccountReferences(
  tx: Executor,
  account: Pick<ConnectedAccount, "projectId" | "id" | "toolkitSlug" | "entityId">,
  references: readonly string[],
): Promise<void> {
  if (references.length === 0) return;
  const { projectId, id: accountId, toolkitSlug, entityId } = account;
  const rows = references.map((reference) => ({ toolkitSlug, reference, projectId, accountId, entityId }));
  await putAccountReferences(
    tx,
    rows.sort((a, b) => (a.reference < b.reference ? -1 : 1)),
  );
}

/**
 * Stores the references of an account; returns undefined if the account has ended. `exclusive`: the references by which svc finds the
 * account of an event. Rejects with a unique violation if another account has one of these.
 */
export function setAccountReferences(
  db: Executor,
  account: Pick<ConnectedAccount, "projectId" | "id">,
  change: { references: readonly string[]; exclusive: readonly string[]; nowMs: number },
): Promise<ConnectedAccount | undefined> {
  const { projectId, id } = account;
  return withTransaction(db, async (tx) => {
    const [row] = await tx.orm
      .update(connectedAccounts)
      .set({ references: [...change.references], updatedAt: change.nowMs })
      .where(
        and(
          eq(connectedAccounts.projectId, projectId),
          eq(connectedAccounts.id, id),
          notInArray(connectedAccounts.state, ["superseded", "revoked"]),
        ),
      )
      .returning();
    if (row === undefined) return undefined;
    await releaseAccountReferences(tx, projectId, [id]);
    await routeAccountReferences(tx, row, change.exclusive);
    return row;
  });
}
