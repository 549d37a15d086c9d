import { isoTime } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** Deletes replays that ended before a time, oldest first. Finds them by the index replays_ended. */
const sweepEnded = statement<{ id: string }>(
  "sweep_replays",
  `delete from replays where id = any(array(
     select id from replays where ended_at < $1::timestamptz and ended_at is not null order by ended_at limit $2::int4)) returning id`,
);

/** Deletes up to `limit` replays that ended before `beforeMs`; returns how many. */
export async function sweepReplays(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepEnded(db, [isoTime(beforeMs), limit])).length;
}

/**
 * Cancels replays that were paused before $1. Also cancels replays to endpoints of the portal that began before $1. Without this, a
 * customer could keep such a replay unfinished forever.
 */
const expirePaused = statement<{ id: string }>(
  "expire_paused_replays",
  `update replays set state = 'cancelled', reason = 'expired', ended_at = $2::timestamptz, updated_at = $2::timestamptz
   where id = any(array(
     select id from replays where ended_at is null and not of_pause and (state = 'paused' and updated_at < $1::timestamptz
       or created_at < $1::timestamptz and exists (select from subscriptions s where s.id = subscription_id and s.origin = 'portal' offset 0))
     limit $3::int4
     for update skip locked)) returning id`,
);

/**
 * Cancels up to `limit` old replays, and returns how many. These are replays paused since before `beforeMs`, and replays to portal
 * endpoints started before `beforeMs`.
 */
export async function expirePausedReplays(
  db: Executor,
  { beforeMs, nowMs, limit }: { beforeMs: number; nowMs: number; limit: number },
): Promise<number> {
  return (await expirePaused(db, [isoTime(beforeMs), isoTime(nowMs), limit])).length;
}

/**
 * Stores a new task for each running replay that has lost its task. Finds the replays by the index replays_unfinished, and their tasks by
 * the primary key of due_tasks.
 */
const armLost = statement<{ id: string }>(
  "arm_lost_replays",
  `insert into due_tasks (owner_id, kind, subject, project_id, due_at)
   select r.id, 'replay', '', r.project_id, $1::timestamptz from replays r
   where r.ended_at is null and r.state = 'running'
     and not exists (select from due_tasks t where t.owner_id = r.id and t.kind = 'replay' and t.subject = '' offset 0)
   limit $2::int4
   on conflict do nothing returning owner_id as id`,
);

/** Queues tasks for running replays that have lost their task because of an error. Returns how many. */
export async function armLostReplays(db: Executor, nowMs: number, limit: number): Promise<number> {
  return (await armLost(db, [isoTime(nowMs), limit])).length;
}
