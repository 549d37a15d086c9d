import { type AccountId, idOfUuid, isoTime, type ProjectId } from "@svc/core";
import { and, eq, isNull, lte, or } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { connectedAccounts } from "../schema/connections.ts";
import { filterColumn } from "../sql/filter.ts";
import { statement } from "../sql/statement.ts";
import type { AttemptColumn, ConnectedAccount } from "./account.ts";

/**
 * Condition that an account is active, in a form for which PostgreSQL uses no index. The statement then finds the account by its id. With
 * an index on this condition, PostgreSQL without statistics could choose that index and read all active accounts of the project.
 */
const isActive = filterColumn(connectedAccounts.state, "active");

/** Identifies an account by project and id. */
export type AccountKey = { projectId: ProjectId; id: AccountId };

/**
 * The lease (time-limited right) under which only one node renews an account's credential. `leaseUntilMs`: end of the lease, epoch
 * milliseconds. It also identifies the lease, because a later lease of the account has a later end.
 */
export type AccountRefreshLease = AccountKey & { leaseUntilMs: number };

const selectDue = statement<{ id: string; project_id: string }>(
  "list_due_refreshes",
  `select id, project_id from connected_accounts
   where state = 'active' and is_sandbox = $1::bool and refresh_at is not null and refresh_at <= $2::timestamptz
     and (refresh_lease_until is null or refresh_lease_until <= $2::timestamptz)
   order by refresh_at limit $3::int`,
);

/**
 * Returns active accounts whose credential must be renewed or has expired and that no node is renewing, oldest first. `isSandbox`: true for
 * sandbox accounts, false for real ones. Uses the index connected_accounts_refresh.
 */
export async function listDueAccountRefreshes(
  db: Executor,
  { isSandbox, nowMs, limit }: { isSandbox: boolean; nowMs: number; limit: number },
): Promise<AccountKey[]> {
  const rows = await selectDue(db, [isSandbox, isoTime(nowMs), limit]);
  return rows.map((row) => ({ projectId: idOfUuid("prj", row.project_id), id: idOfUuid("acc", row.id) }));
}

/**
 * Takes the lease (time-limited right) to renew an account, and returns the account. Undefined if another node holds the lease, or the
 * account is not active.
 */
export async function claimAccountRefresh(
  db: Executor,
  { projectId, id, leaseUntilMs }: AccountRefreshLease,
  nowMs: number,
): Promise<ConnectedAccount | undefined> {
  const table = connectedAccounts;
  const [row] = await db.orm
    .update(table)
    .set({ refreshLeaseUntil: leaseUntilMs })
    .where(
      and(
        eq(table.projectId, projectId),
        eq(table.id, id),
        isActive,
        or(isNull(table.refreshLeaseUntil), lte(table.refreshLeaseUntil, nowMs)),
      ),
    )
    .returning();
  return row;
}

/**
 * Columns of an account that a renewal of its token changes. A column that is absent keeps its value. `state` is present only if the
 * renewal has ended the account, which is then `expired`.
 */
export type AccountRefreshOutcome = Partial<
  Pick<ConnectedAccount, "credential" | "grantedScopes" | "expiresAt" | "refreshAt" | "lastError" | AttemptColumn>
> & { state?: "expired"; updatedAt: number };

/**
 * Stores the result of a renewal, and ends the node's right to renew. Returns false and stores nothing if the account is not active, or if
 * the node has lost this right. If `replacing` (the old credential) is given, the account must have that credential; the right is then not
 * needed.
 */
export async function settleAccountRefresh(
  db: Executor,
  lease: AccountRefreshLease,
  outcome: AccountRefreshOutcome,
  replacing?: Buffer,
): Promise<boolean> {
  const table = connectedAccounts;
  const rows = await db.orm
    .update(table)
    .set({ ...outcome, refreshLeaseUntil: null })
    .where(
      and(
        eq(table.projectId, lease.projectId),
        eq(table.id, lease.id),
        isActive,
        // The app no longer accepts the old refresh token, so the new credential must not be lost with the lease.
        replacing === undefined ? eq(table.refreshLeaseUntil, lease.leaseUntilMs) : eq(table.credential, replacing),
      ),
    )
    .returning({ id: table.id });
  return rows.length > 0;
}

/** Returns the columns about the last use of a credential. `isTaken`: true if the app accepted it, false if the app refused it. */
function triedColumns(isTaken: boolean, nowMs: number): Pick<ConnectedAccount, AttemptColumn> {
  return { credentialTriedAt: nowMs, isCredentialTaken: isTaken };
}

/** Stores that the app accepted or refused an account's credential at `nowMs`. Does nothing if the stored last use is later. */
export async function noteCredentialTry(
  db: Executor,
  { projectId, id }: AccountKey,
  { isTaken, nowMs }: { isTaken: boolean; nowMs: number },
): Promise<void> {
  const table = connectedAccounts;
  const isLater = or(isNull(table.credentialTriedAt), lte(table.credentialTriedAt, nowMs));
  await db.orm
    .update(table)
    .set(triedColumns(isTaken, nowMs))
    .where(and(eq(table.projectId, projectId), eq(table.id, id), isLater));
}

/**
 * Sets an active account to `expired`, if its credential is still `credential`. `isRefused`: true if the app refused the credential. Returns
 * false if nothing was changed.
 */
export async function expireAccount(
  db: Executor,
  { projectId, id }: AccountKey,
  change: { credential: Buffer; lastError: string; isRefused: boolean; nowMs: number },
): Promise<boolean> {
  const table = connectedAccounts;
  const { lastError, isRefused, nowMs } = change;
  const rows = await db.orm
    .update(table)
    .set({
      ...{ state: "expired", lastError, updatedAt: nowMs, refreshAt: null },
      ...(isRefused && triedColumns(false, nowMs)),
    })
    .where(and(eq(table.projectId, projectId), eq(table.id, id), isActive, eq(table.credential, change.credential)))
    .returning({ id: table.id });
  return rows.length > 0;
}
