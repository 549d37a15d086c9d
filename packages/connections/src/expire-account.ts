import { isoTime } from "@svc/core";
import { type Database, type Executor, withTransaction } from "@svc/db/connect";
import type { ConnectedAccount } from "@svc/db/connections/account";
import { type OperationalFilters, occurrenceOf, publishOperationalEvents } from "@svc/db/events/operational";

/** An account that expires, as the operational event about it shows it. */
type ExpiringAccount = Pick<ConnectedAccount, "projectId" | "id" | "toolkitSlug" | "entityId">;

/**
 * Sets an account to `expired` by calling `change`, and stores the operational event about it in the same transaction. If `change` returns
 * false, nothing was changed; then no event is stored, and the result is false. `nowMs`: time of the change in epoch milliseconds.
 */
export function expireWithEvent(
  { db, filters }: { readonly db: Database; readonly filters: OperationalFilters },
  account: ExpiringAccount,
  { lastError, nowMs }: { readonly lastError: string; readonly nowMs: number },
  change: (tx: Executor) => Promise<boolean>,
): Promise<boolean> {
  return withTransaction(db, async (tx) => {
    if (!(await change(tx))) return false;
    const { projectId, id: accountId, toolkitSlug, entityId } = account;
    const payload = { accountId, toolkitSlug, entityId, expiredAt: isoTime(nowMs), lastError };
    const occurrence = occurrenceOf(accountId, nowMs);
    const event = { name: "account_expired", projectId, entityId, occurrence, payload } as const;
    await publishOperationalEvents(tx, [account], () => [event], { filters, nowMs });
    return true;
  });
}
