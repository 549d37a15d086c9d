import { type Id, type KeyId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import type { AskRecord } from "./repo.ts";

/** Finds out if a key belongs to a person who caused a job. Two keys belong to one person if they come from the same key. */
const readIsOneHand = statement<{ is_one_hand: boolean }>(
  "is_one_hand",
  // Each key is followed back to the key that created it or that approved its grant. With `offset 0`, PostgreSQL looks up one key at a
  // time.
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

/**
 * A job with a call that a person must confirm. `keyIds`: further keys that caused the call, for example the key of a person who changed
 * its arguments.
 */
type JobCausers = { readonly jobId: Id<"job">; readonly keyIds: readonly KeyId[] };

/**
 * Returns true if the person to whom the key `keyId` belongs also caused the job, so that this person must not confirm it. `keyIds`: keys
 * that caused the job, in addition to those that submitted or retried it.
 */
export async function isOneHand(db: Executor, { jobId, keyIds }: JobCausers, keyId: KeyId): Promise<boolean> {
  const [row] = await readIsOneHand(db, [
    uuidOfId(jobId),
    arrayLiteral(keyIds.map(uuidOfId)),
    arrayLiteral([uuidOfId(keyId)]),
  ]);
  return row?.is_one_hand ?? false;
}

/**
 * Finds out if svc asked a person to confirm a job or one of its parent jobs. Uses the primary key to go from the job up to its topmost
 * parent job. With `offset 0`, PostgreSQL looks up one job at a time, even if it estimates many rows.
 */
const readConfirmed = statement<{ was_confirmed: boolean }>(
  "was_job_confirmed",
  `with recursive family(id, parent_job_id) as (
     select id, parent_job_id from jobs where id = $1::uuid
     union all
     select p.id, p.parent_job_id from family f
     cross join lateral (select id, parent_job_id from jobs where jobs.id = f.parent_job_id offset 0) p)
   select exists (
     select from family f
     cross join lateral (select from job_asks a where a.job_id = f.id and a.kind = 'confirm' offset 0) asked
   ) as was_confirmed`,
);

/**
 * Returns true if svc asked a person to confirm this job or one of its parent jobs; otherwise false. A confirmed program includes the
 * skills that it runs. If the answer was no, the job ended. So a job that still runs was confirmed.
 */
export async function wasJobConfirmed(db: Executor, jobId: Id<"job">): Promise<boolean> {
  const [row] = await readConfirmed(db, [uuidOfId(jobId)]);
  return row?.was_confirmed ?? false;
}

/**
 * Finds those of the given tasks that still exist. Uses the whole primary key of job_tasks, one index lookup for each task. `offset 0`
 * prevents a join, which would read all tasks of a job.
 */
const readDue = statement<{ subject: string }>(
  "read_due_publications",
  `select due.subject from unnest($1::uuid[], $2::text[]) as due(job_id, subject)
   cross join lateral (
     select 1 from job_tasks t where t.job_id = due.job_id and t.kind = 'publish' and t.subject = due.subject offset 0) found`,
);

/**
 * Returns which of the given tasks still exist, as their `subject` texts. Each task sends an ask (a question of a job to a person) to the
 * project's endpoints.
 */
export async function readDuePublications(
  db: Executor,
  tasks: readonly { readonly jobId: Id<"job">; readonly subject: string }[],
): Promise<ReadonlySet<string>> {
  if (tasks.length === 0) return new Set();
  const rows = await readDue(db, [
    arrayLiteral(tasks.map(({ jobId }) => uuidOfId(jobId))),
    arrayLiteral(tasks.map(({ subject }) => subject)),
  ]);
  return new Set(rows.map(({ subject }) => subject));
}

/**
 * Reads the last logged delivery state of each ask (a question of a job). Reads the job's log from the newest entry, by the index
 * job_events_key. The condition uses `case` and not `and`, so that PostgreSQL parses only payloads of `ask-delivery-changed` entries.
 */
const readLogged = statement<{ id: string; state: string }>(
  "read_logged_ask_deliveries",
  `select a.id, e.state from unnest($1::uuid[], $2::text[]) as a(job_id, id)
   cross join lateral (
     select payload::jsonb ->> 'to' as state from job_events
     where job_id = a.job_id and case when type = 'ask-delivery-changed'
       then payload::jsonb ->> 'via' = 'endpoints' and payload::jsonb ->> 'requestId' = a.id else false end
     order by seq desc limit 1) e`,
);

/**
 * For each ask (a job's question to a person), returns the latest state of sending it to ask endpoints, by ask id. The states are read from
 * the logs of the asks' jobs. Asks without such a log entry are absent.
 */
export async function readLoggedAskDeliveries(
  db: Executor,
  asks: readonly Pick<AskRecord, "id" | "jobId">[],
): Promise<Map<Id<"ask">, string>> {
  if (asks.length === 0) return new Map();
  const rows = await readLogged(db, [
    arrayLiteral(asks.map(({ jobId }) => uuidOfId(jobId))),
    arrayLiteral(asks.map(({ id }) => id)),
  ]);
  const known = new Map(rows.map(({ id, state }) => [id, state]));
  return new Map(asks.flatMap(({ id }) => (known.has(id) ? [[id, known.get(id) ?? ""] as const] : [])));
}
