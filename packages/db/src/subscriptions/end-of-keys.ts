import { isoTime, type KeyId, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { touchProjectRouting } from "../projects/repo.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** Keys by their primary key, grants by grants_project, subscriptions by subscriptions_key. A grant ends with the key that it was given with. */
const endOfKey = statement<{ id: string }>(
  "end_subscriptions_of_key",
  `with ended as materialized (
    select $1::uuid as id union all
    select g.key_id from (select project_id from api_keys where id = $1::uuid offset 0) k
      cross join lateral (select key_id, voucher_key_id from grants where project_id = k.project_id offset 0) g
    where g.voucher_key_id = $1::uuid
  )
  update subscriptions s set active = false, inactive_reason = 'revoked', expires_at = $2::timestamptz
  where s.key_id = any(array(select id from ended)) and s.inactive_reason <> 'revoked' returning s.id`,
);

/** By subscriptions_key. */
const endNarrowed = statement<{ id: string }>(
  "end_narrowed_subscriptions",
  `update subscriptions s set active = false, inactive_reason = 'revoked', expires_at = $2::timestamptz
   where s.key_id = $1::uuid and s.inactive_reason <> 'revoked' and s.toolkit_slug <> all($3::text[]) returning s.id`,
);

/** What ends a key: whose, which, when (epoch milliseconds). */
export type KeyEnd = { readonly projectId: ProjectId; readonly keyId: KeyId; readonly nowMs: number };

/**
 * Ends the subscriptions that agents made with a key, or with a grant that was given with it: nothing is delivered from the commit on, and
 * the next sweep removes them. In the transaction that ends the key.
 */
export async function endSubscriptionsOfKey(tx: Executor, { projectId, keyId, nowMs }: KeyEnd): Promise<void> {
  const ended = await endOfKey(tx, [uuidOfId(keyId), isoTime(nowMs)]);
  if (ended.length > 0) await touchProjectRouting(tx, projectId);
}

/** The same with those alone whose toolkit is none of these. */
export async function endNarrowedSubscriptions(
  tx: Executor,
  { projectId, keyId, nowMs }: KeyEnd,
  toolkitSlugs: readonly string[],
): Promise<void> {
  const ended = await endNarrowed(tx, [uuidOfId(keyId), isoTime(nowMs), arrayLiteral(toolkitSlugs)]);
  if (ended.length > 0) await touchProjectRouting(tx, projectId);
}
