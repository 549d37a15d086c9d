import { type Id, type KeyId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { statement } from "../sql/statement.ts";

/**
 * By primary keys and `grants_key`: `offset 0` keeps each look to one key, whatever rows are expected. `given` climbs from a key to the key
 * that its grant was given with, or that made it, so two keys are of one hand if they meet on the way up.
 */
const readIsOneHand = statement<{ is_one_hand: boolean }>(
  "is_one_hand",
  `with recursive family(id, parent_job_id, key_id, attempt_key_id) as (
     select id, parent_job_id, key_id, attempt_key_id from jobs where id = $1::uuid
     union all
     select p.* from family f
     cross join lateral (
       select id, parent_job_id, key_id, attempt_key_id from jobs where jobs.id = f.parent_job_id offset 0) p),
   causer(id) as (
     select unnest($2::uuid[])
     union select key_id from family
     union select attempt_key_id from family where attempt_key_id is not null
     union select a.retry_key_id from family f
       cross join lateral (select retry_key_id from job_attempts where job_attempts.job_id = f.id offset 0) a),
   given(side, id) as (
     select 'causer', id from causer
     union select 'other', unnest($3::uuid[])
     union select g.side, v.from_key_id from given g
       cross join lateral (
         (select voucher_key_id as from_key_id from grants where grants.key_id = g.id offset 0)
         union all (select maker_key_id from api_keys where api_keys.id = g.id offset 0)) v
       where v.from_key_id is not null)
   select exists (
     select from given c join given o on o.id = c.id and o.side = 'other' where c.side = 'causer') as is_one_hand`,
);

/** A job whose calls are to be confirmed, and keys that had a hand in it beside those that its rows name. */
export type JobCausers = { readonly jobId: Id<"job">; readonly keyIds: readonly KeyId[] };

/**
 * True if a key is of the same hand as one that caused what a job does: the same key, one that the other comes from (as a grant of it, or as
 * a key that it made), or two that come from the same one. The keys of a job are those that submitted it, tried it again, or did so with the jobs that run it.
 */
export async function isOneHand(db: Executor, { jobId, keyIds }: JobCausers, keyId: KeyId): Promise<boolean> {
  const [row] = await readIsOneHand(db, [
    uuidOfId(jobId),
    arrayLiteral(keyIds.map(uuidOfId)),
    arrayLiteral([uuidOfId(keyId)]),
  ]);
  return row?.is_one_hand ?? false;
}
