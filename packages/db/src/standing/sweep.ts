import { isoTime } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/**
 * Deletes ended runs of schedules, oldest first, found by the index standing_runs_ended. Also deletes the records of which events each run
 * collected, found by the index standing_run_events_run.
 */
const sweepRuns = statement<{ id: string }>(
  "sweep_standing_runs",
  `with gone as materialized (
     select id from standing_runs where ended_at < $1::timestamptz and ended_at is not null order by ended_at limit $2::int4
   ), events as (
     delete from standing_run_events where run_id = any(array(select id from gone))
   )
   delete from standing_runs where id = any(array(select id from gone)) returning id`,
);

/** Removes at most `limit` runs of schedules that ended before `beforeMs`, oldest first. Returns the number of removed runs. */
export async function sweepStandingRuns(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepRuns(db, [isoTime(beforeMs), limit])).length;
}

/**
 * Removes standing programs (schedules) that were deleted some time ago and have no rows left. Finds them by the index
 * standing_programs_deleted. A program with runs (index standing_runs_program) or known row ids (primary key) stays.
 */
const sweepPrograms = statement<{ id: string }>(
  "sweep_standing_programs",
  `with gone as materialized (
     select id from standing_programs p where deleted_at < $1::timestamptz and deleted_at is not null
       and not exists (select from standing_runs r where r.program_id = p.id offset 0)
       and not exists (select from standing_seen s where s.program_id = p.id offset 0)
     order by deleted_at limit $2::int4 for update of p skip locked
   ), versions as (
     delete from standing_versions where program_id = any(array(select id from gone))
   ), polled as (
     delete from standing_polls where program_id = any(array(select id from gone))
   ), heard as (
     delete from standing_listeners where program_id = any(array(select id from gone))
   ), seen as (
     delete from standing_dedupe where program_id = any(array(select id from gone))
   ), used as (
     delete from standing_usage where program_id = any(array(select id from gone))
   )
   delete from standing_programs where id = any(array(select id from gone)) returning id`,
);

/**
 * Removes at most `limit` standing programs (schedules) that were deleted before `beforeMs` and have no runs left. Returns the number of
 * removed programs.
 */
export async function sweepStandingPrograms(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepPrograms(db, [isoTime(beforeMs), limit])).length;
}

/**
 * Creates the task of active standing programs (schedules) whose due task is missing. Uses the index standing_programs_armed to find the
 * programs, and the primary key to find their tasks.
 */
const armLost = statement<{ id: string }>(
  "arm_lost_standing_programs",
  `insert into due_tasks (owner_id, kind, subject, project_id, due_at)
   select p.id, case p.source_kind when 'poll' then 'poll' else 'fire' end, '', p.project_id, p.next_at from standing_programs p
   where p.state = 'active' and p.next_at is not null and p.next_at < $1::timestamptz
     and not exists (select from due_tasks t where t.owner_id = p.id
       and t.kind = case p.source_kind when 'poll' then 'poll' else 'fire' end and t.subject = '' offset 0)
   order by p.next_at limit $2::int4
   on conflict do nothing returning owner_id as id`,
);

/**
 * Repairs active schedules that start no more runs. A schedule or poll is overdue and has no task only if the task was lost because of an
 * error. This function stores the lost tasks again, and returns how many tasks it stored.
 */
export async function armLostStandingPrograms(db: Executor, dueBeforeMs: number, limit: number): Promise<number> {
  return (await armLost(db, [isoTime(dueBeforeMs), limit])).length;
}
