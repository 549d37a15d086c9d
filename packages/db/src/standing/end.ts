import { isoTime, type ProjectId, type StandingProgramId, type StandingRunId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import type { JobStatus } from "../schema/words.ts";
import { statement } from "../sql/statement.ts";

/** A run of a schedule whose job has ended, with the numbers of tool calls and writes that the job made. */
export type EndedStandingRun = {
  readonly runId: StandingRunId;
  readonly programId: StandingProgramId;
  readonly projectId: ProjectId;
  readonly status: JobStatus;
  readonly toolCalls: number;
  readonly writes: number;
  /** Reason for which svc pauses the standing program (the schedule) because of this run. Empty if svc does not pause it. */
  readonly pauseText: string;
  readonly nowMs: number;
};

/**
 * Ends a run of a schedule. Finds the run by its primary key. The job of a run can end twice if it is resumed. The condition `state =
 * 'started'` lets the run end only once.
 */
const endRun = statement<{ id: string }>(
  "end_standing_run",
  `with ended as (
     update standing_runs set state = 'ended', job_status = $4::text, tool_calls = $5::int4, writes = $6::int4, ended_at = $7::timestamptz,
       reason = case when $8::text = '' then reason else 'fail_step' end, detail = case when $8::text = '' then detail else $8::text end
     where id = $1::uuid and state = 'started' returning id
   )
   insert into due_tasks (owner_id, kind, subject, project_id, due_at)
   select $2::uuid, 'admit', '', $3::uuid, $7::timestamptz from ended
   on conflict (owner_id, kind, subject) do update set due_at = least(due_tasks.due_at, excluded.due_at)`,
);

/**
 * Ends a run of a schedule, in the transaction of its job's last commit. Also queues a task that starts the schedule's next queued run, if
 * a run may start now.
 */
export async function endStandingRun(tx: Executor, ended: EndedStandingRun): Promise<void> {
  const { runId, programId, projectId, status, toolCalls, writes, pauseText, nowMs } = ended;
  const ids = [uuidOfId(runId), uuidOfId(programId), uuidOfId(projectId)];
  await endRun(tx, [...ids, status, toolCalls, writes, isoTime(nowMs), pauseText]);
}

/**
 * Counts the started runs of a project whose jobs are not parked (stored, with no node working on it), up to $2. Finds the runs by the
 * index standing_runs_started, and their jobs by primary key.
 */
const countStarted = statement<{ count: string }>(
  "count_started_standing_runs",
  `select count(*) as count from (
     select from (select job_id from standing_runs where project_id = $1::uuid and state = 'started' offset 0) r
     cross join lateral (select from jobs where id = r.job_id and status <> 'parked' offset 0) j limit $2::int8) c`,
);

/** Counts the started runs of a project whose jobs are not parked. Returns at most `most`. */
export async function countStartedStandingRuns(tx: Executor, projectId: ProjectId, most: number): Promise<number> {
  const [row] = await countStarted(tx, [uuidOfId(projectId), most]);
  return Number(row?.count ?? 0);
}

/**
 * Counts the started runs of a project that have not ended, at most $2. It reads only the index standing_runs_started and not the jobs. So
 * it also counts runs whose jobs are parked.
 */
const countWithParked = statement<{ count: string }>(
  "count_unended_standing_runs",
  `select count(*) as count from (
     select from standing_runs where project_id = $1::uuid and state = 'started' limit $2::int8) c`,
);

/**
 * Returns the number of a project's started runs, including those with parked jobs (which wait for a person or a time), counted up to
 * `most`. It looks up no jobs.
 */
export async function countUnendedStandingRuns(tx: Executor, projectId: ProjectId, most: number): Promise<number> {
  const [row] = await countWithParked(tx, [uuidOfId(projectId), most]);
  return Number(row?.count ?? 0);
}

/**
 * Takes an advisory lock for the starts of a project's runs; locks no row. A transaction that counts running jobs before it starts runs
 * takes the exclusive lock, so that such transactions run one after the other. Transactions with the shared lock do not wait for each
 * other.
 */
const lockStarts = statement<{ locked: string }>(
  "lock_standing_starts",
  `select case when $2::bool then pg_advisory_xact_lock_shared(k.key)::text else pg_advisory_xact_lock(k.key)::text end as locked
   from (select hashtextextended('svc.standing.' || $1::uuid, 0) as key) k`,
);

/**
 * Prevents other transactions from starting runs of a project until this transaction ends. With `isShared`, it blocks only transactions
 * that take the lock without `isShared`. Use `isShared` if the project is so far from its limit that concurrent starts cannot exceed it.
 */
export async function lockStandingStarts(
  tx: Executor,
  projectId: ProjectId,
  { isShared }: { readonly isShared: boolean },
): Promise<void> {
  await lockStarts(tx, [uuidOfId(projectId), isShared]);
}

/**
 * Queues a task for each schedule with runs that wait for the project's limit of active runs. Finds the waiting runs by the index
 * standing_runs_waiting, oldest run first. Finds the schedules' tasks by primary key.
 */
const wakeWaiting = statement<{ id: string }>(
  "wake_waiting_standing_runs",
  `insert into due_tasks (owner_id, kind, subject, project_id, due_at)
   select distinct on (w.program_id) w.program_id, 'admit', '', $1::uuid, $3::timestamptz from (
     select program_id from standing_runs where project_id = $1::uuid and state = 'queued' and reason = 'project_runs'
     order by id limit $2::int4) w
   order by w.program_id
   on conflict (owner_id, kind, subject) do update set due_at = least(due_tasks.due_at, excluded.due_at)`,
);

/**
 * Makes svc check the `most` oldest runs that wait for the project's limit of active runs. Stores a task for each of their standing
 * programs, which starts the runs if the limit allows it.
 */
export async function wakeWaitingStandingRuns(
  db: Executor,
  { projectId, most, nowMs }: { projectId: ProjectId; most: number; nowMs: number },
): Promise<void> {
  await wakeWaiting(db, [uuidOfId(projectId), most, isoTime(nowMs)]);
}
