import { type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { statement } from "../sql/statement.ts";

/** A success ends the backoff. By primary key; guarded, so that the endless successes of a healthy endpoint write nothing. */
const recordRecoveries = statement<{ id: string }>(
  "record_recoveries",
  `update subscriptions set failing_since = null, backoff_until = null, backoff_set_at = null, backoff_ms = 0, gone_since = null, gone_count = 0
   where id = any($1::uuid[]) and failing_since is not null`,
);

/** Opens the subscriptions again that delivered. */
export async function reportSubscriptionRecoveries(db: Executor, ids: readonly SubscriptionId[]): Promise<void> {
  if (ids.length > 0) await recordRecoveries(db, [arrayLiteral(ids.map(uuidOfId))]);
}
