import { type AccountId, idOfUuid, isoTime, type ProjectId } from "@svc/core";
import { and, eq, isNull, lte, or } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { connectedAccounts } from "../schema/connections.ts";
import { filterColumn } from "../sql/filter.ts";
import { statement } from "../sql/statement.ts";
import type { AttemptColumn, ConnectedAccount } from "./account.ts";

/** Condition that an account, found by its id, is active. Only as a filter: without statistics, a plan read all active accounts of the project. */
const isActive = filterColumn(connectedAccounts.state, "active");

/** Identifies an account by project and id. */
export type AccountKey = { projectId: ProjectId; id: AccountId };

/** A node's lease to renew an account until a time, epoch milliseconds. The time also identifies the lease: a later lease ends later. */
export type AccountRefreshLease = AccountKey & { leaseUntilMs: number };

const selectDue = statement<{ id: string; project_id: string }>(
  "list_due_refreshes",
  `select id, project_id from connected_accounts
   where state = 'active' and is_sandbox = $1::bool and refresh_at is not null and refresh_at <= $2::timestamptz
     and (refresh_lease_until is null or refresh_lease_until <= $2::timestamptz)
   order by refresh_at limit $3::int`,
);

/**
 * Returns accounts whose renewal or expiry is due and that no node is renewing, oldest first: sandbox or real accounts. Uses the index
 * connected_accounts_refresh.
 */
export async function listDueAccountRefreshes(
  db: Executor,
  { isSandbox, nowMs, limit }: { isSandbox: boolean; nowMs: number; limit: number },
): Promise<AccountKey[]> {
  const rows = await selectDue(db, [isSandbox, isoTime(nowMs), limit]);
  return rows.map((row) => ({ projectId: idOfUuid("prj", row.project_id), id: idOfUuid("acc", row.id) }));
}

/** Takes the lease and returns the account; undefined if another node holds it, or the account is not active. */
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

/** Changes of a renewal; an absent field stays. `state` is set if the account expires. */
export type AccountRefreshOutcome = Partial<
  Pick<ConnectedAccount, "credential" | "grantedScopes" | "expiresAt" | "refreshAt" | "lastError" | AttemptColumn>
> & { state?: "expired"; updatedAt: number };

/**
 * Stores the result of a renewal and releases the lease, in one statement. False if the lease was lost or the account ended. A new
 * credential is stored even without the lease, as long as the one it was made from, `replacing`, is still there. Otherwise a rotated
 * refresh token would be lost. That also ends another node's lease, whose result then has no effect.
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
        replacing === undefined ? eq(table.refreshLeaseUntil, lease.leaseUntilMs) : eq(table.credential, replacing),
      ),
    )
    .returning({ id: table.id });
  return rows.length > 0;
}

/** Returns the columns of a credential's use: the app accepted or refused it. */
function triedColumns(isTaken: boolean, nowMs: number): Pick<ConnectedAccount, AttemptColumn> {
  return { credentialTriedAt: nowMs, isCredentialTaken: isTaken };
}

/** Stores that the app accepted or refused an account's credential, unless a later use is stored. */
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

/** Sets an active account to `expired`, unless its credential has changed since it was read. `isRefused`: the app refused it. */
export async function expireAccount(
  db: Executor,
  { projectId, id }: AccountKey,
  change: { credential: Buffer; lastError: string; isRefused: boolean; nowMs: number },
): Promise<void> {
  const table = connectedAccounts;
  const { lastError, isRefused, nowMs } = change;
  await db.orm
    .update(table)
    .set({
      ...{ state: "expired", lastError, updatedAt: nowMs, refreshAt: null },
      ...(isRefused && triedColumns(false, nowMs)),
    })
    .where(and(eq(table.projectId, projectId), eq(table.id, id), isActive, eq(table.credential, change.credential)));
}
