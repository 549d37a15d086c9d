import { type AccountId, idOfUuid, isoTime, type ProjectId } from "@svc/core";
import { and, eq, isNull, lte, or } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { connectedAccounts } from "../schema/connections.ts";
import { filterColumn } from "../sql/filter.ts";
import { statement } from "../sql/statement.ts";
import type { AttemptColumn, ConnectedAccount } from "./account.ts";

/** Whether one account, found by its id, is active. As a filter alone: without statistics a plan went past all that a project has active. */
const isActive = filterColumn(connectedAccounts.state, "active");

/** An account by its project and id. */
export type AccountKey = { projectId: ProjectId; id: AccountId };

/** A node's right to renew an account until a time, epoch milliseconds. The time itself tells holders apart: a later lease ends later. */
export type AccountRefreshLease = AccountKey & { leaseUntilMs: number };

const selectDue = statement<{ id: string; project_id: string }>(
  "list_due_refreshes",
  `select id, project_id from connected_accounts
   where state = 'active' and is_sandbox = $1::bool and refresh_at is not null and refresh_at <= $2::timestamptz
     and (refresh_lease_until is null or refresh_lease_until <= $2::timestamptz)
   order by refresh_at limit $3::int`,
);

/**
 * Accounts whose renewal, or end, is due and which nobody renews now, those due for longest first: the sandbox's or the real
 * ones. connected_accounts_refresh serves it.
 */
export async function listDueAccountRefreshes(
  db: Executor,
  { isSandbox, nowMs, limit }: { isSandbox: boolean; nowMs: number; limit: number },
): Promise<AccountKey[]> {
  const rows = await selectDue(db, [isSandbox, isoTime(nowMs), limit]);
  return rows.map((row) => ({ projectId: idOfUuid("prj", row.project_id), id: idOfUuid("acc", row.id) }));
}

/** Takes the lease and returns the account as it stands; undefined when another holds it, or it is not active. */
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

/** What a renewal changes; an absent field stays. `state` is given when it ends the account's use. */
export type AccountRefreshOutcome = Partial<
  Pick<ConnectedAccount, "credential" | "grantedScopes" | "expiresAt" | "refreshAt" | "lastError" | AttemptColumn>
> & { state?: "expired"; updatedAt: number };

/**
 * Writes what came of a renewal and gives the lease back, in one statement. False when the lease was lost, or the account ended.
 * A new credential is written for as long as the one it came of, `replacing`, is still there: a rotated refresh token would
 * be lost with it. That ends another's lease too, whose answer is then of no effect.
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

/** The columns of a try of a credential: the app took it or refused it. */
function triedColumns(isTaken: boolean, nowMs: number): Pick<ConnectedAccount, AttemptColumn> {
  return { credentialTriedAt: nowMs, isCredentialTaken: isTaken };
}

/** Notes that the app took an account's credential or refused it, unless a later try is noted. */
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

/** Turns an active account `expired`, unless its credential has changed since it was read. `isRefused`: by the app's answer. */
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
