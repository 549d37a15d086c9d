import {
  type Id,
  idOfUuid,
  isoTime,
  type ProjectId,
  type StandingProgramId,
  type StandingRunId,
  uuidOfId,
} from "@svc/core";
import { and, eq } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { standingRuns } from "../schema/standing.ts";
import type { StandingRunReason } from "../schema/words.ts";
import { fieldsOf, int4, type Row, text, timestamptz, type ValuesOf } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { insertRows } from "../sql/insert-rows.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { listStandingRuns, type StandingRunFilter, type StandingRunPosition } from "./list-runs.ts";

/** A run of a standing program (which starts jobs on a schedule or event), with the columns of its row. */
export type StandingRunRecord = Readonly<Row<typeof standingRuns>>;

const names = [
  "id",
  "projectId",
  "programId",
  "version",
  "kind",
  "sourceKey",
  "lane",
  "state",
  "reason",
  "detail",
  "count",
  "fireAt",
  "lastAt",
  "bytes",
  "missed",
  "previousAt",
  "input",
  "rateKey",
  "rowCount",
  "callerKeyId",
  "decidedAt",
  "notBefore",
  "startFailures",
  "startedAt",
  "endedAt",
  "jobId",
  "jobStatus",
  "blockingJobId",
  "toolCalls",
  "writes",
  "isCounted",
  "backfillId",
] as const;

/** The columns of a run, as SQL for the table alias `r`. */
export const runColumns = selectList(standingRuns, names, "r");

/**
 * The highest UUID, as SQL. Queries for the newest run of a program compare run ids with this upper limit. The comparison makes PostgreSQL
 * use the index that orders the runs of a program by their ids.
 */
export const lastUuid = "'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid";

const insert = insertRows("insert_standing_runs", standingRuns);

/** A new run of a schedule to store: the columns of its row that the caller sets. */
export type NewStandingRun = Parameters<typeof insert>[1][number];

/**
 * Stores new runs of schedules. If one of their occurrences (due times or events) already has a run, throws a unique violation of
 * `standing_runs_source`.
 */
export async function insertStandingRuns(tx: Executor, list: readonly NewStandingRun[]): Promise<void> {
  if (list.length > 0) await insert(tx, list);
}

const changedNames = [
  "state",
  "reason",
  "detail",
  "notBefore",
  "startFailures",
  "startedAt",
  "endedAt",
  "jobId",
  "blockingJobId",
] as const;
const changedFields = fieldsOf(standingRuns, "id", ...changedNames);

/** Columns of a queued run that a change writes, for example when the run starts, or when svc finds a reason why it cannot start yet. */
export type StandingRunChange = ValuesOf<typeof changedFields>;

/**
 * Changes runs of schedules, each found by its primary key. The caller has locked the schedules of these runs. So no other transaction
 * changes the runs at the same time, and no further check is needed.
 */
const changeRuns = compose(
  "change_standing_runs",
  { changes: rows(changedFields) },
  ({ changes }) =>
    query`update standing_runs r set ${changes.set("i", changedNames)} from ${changes.from("i")} where r.id = i.id`,
);

/** Stores changes of queued runs, such as that a run starts. The caller has locked the schedules of these runs. */
export async function changeStandingRuns(tx: Executor, changes: readonly StandingRunChange[]): Promise<void> {
  if (changes.length > 0) await changeRuns(tx, { changes });
}

/** An ended run that is now being added to its program's daily usage and its number of failures in a row. */
export type RunToCount = {
  readonly programId: StandingProgramId;
  readonly jobStatus: string;
  readonly endedAt: number;
  readonly toolCalls: number;
  readonly writes: number;
  /** Reason for which svc pauses the program. Empty if it does not pause the program. */
  readonly pauseText: string;
};

/**
 * Marks ended runs of schedules as counted and returns their usage, so that the caller adds each run to its schedule's usage once. Uses the
 * index standing_runs_uncounted, which has only ended runs that are not yet counted.
 */
const countEnded = statement<{
  programId: string;
  jobStatus: string;
  endedAt: number;
  toolCalls: number;
  writes: number;
  pauseText: string;
}>(
  "count_ended_standing_runs",
  `update standing_runs r set is_counted = true
   where r.program_id = any($1::uuid[]) and r.state = 'ended' and not r.is_counted
   returning r.program_id::text as "programId", r.job_status as "jobStatus", (extract(epoch from r.ended_at) * 1000)::float8 as "endedAt",
     r.tool_calls as "toolCalls", r.writes, case when r.reason = 'fail_step' then r.detail else '' end as "pauseText"`,
);

/**
 * Marks ended runs as counted (added to the program's daily usage and its failures in a row). Returns them in the order of their ends. The
 * caller's transaction must hold the locks on the programs.
 */
export async function countEndedStandingRuns(tx: Executor, ids: readonly StandingProgramId[]): Promise<RunToCount[]> {
  if (ids.length === 0) return [];
  const found = await countEnded(tx, [arrayLiteral(ids.map(uuidOfId))]);
  const runs = found.map((row) => ({ ...row, programId: idOfUuid("stp", row.programId) }));
  return runs.sort((a, b) => a.endedAt - b.endedAt);
}

const mergedFields = { ...fieldsOf(standingRuns, "programId", "reason", "lane"), at: timestamptz, more: int4 };

/**
 * Adds skipped runs of a program to the count that the row of its newest run holds. This happens only if the newest run was also skipped,
 * for the same reason and with the same concurrency key. Uses the index standing_runs_program, with one lookup for each skipped run.
 */
const mergeSkipped = compose(
  "merge_skipped_standing_runs",
  { skips: rows({ ...mergedFields, place: int4, reason: text }) },
  ({ skips }) => query<{ place: number }>`update standing_runs r set count = r.count + w.more, last_at = w.at
    from ${skips.from("w")} cross join lateral (
      select id, program_id from standing_runs where (program_id, id) <= (w.program_id, ${lastUuid})
      order by program_id desc, id desc limit 1 offset 0) n
    where r.id = n.id and n.program_id = w.program_id and r.state = 'skipped' and r.reason = w.reason and r.lane = w.lane
    returning w.place`,
);

/**
 * Repeated skips of a schedule's runs, which may need no rows. If the newest run was skipped for the same `reason` and concurrency key
 * (`lane`), svc only adds `more` to that run's count. `more`: number of skipped runs. `at`: time of the last of them.
 */
export type RepeatedSkip = {
  readonly programId: StandingProgramId;
  readonly reason: StandingRunReason;
  readonly lane: string;
  readonly at: number;
  readonly more: number;
};

/**
 * Counts repeated skips of runs without storing new rows. If the newest run of a schedule was skipped for the same reason, its count grows.
 * Returns the positions in `skips` of the skips that were counted in this way.
 */
export async function mergeSkippedStandingRuns(tx: Executor, skips: readonly RepeatedSkip[]): Promise<Set<number>> {
  if (skips.length === 0) return new Set();
  const merged = await mergeSkipped(tx, { skips: skips.map((skip, place) => ({ ...skip, place })) });
  return new Set(merged.map(({ place }) => place));
}

/** Reads the newest run of each program, with one lookup in the index standing_runs_program. */
const readLast = statement<RawRow<StandingRunRecord>>(
  "read_last_standing_runs",
  `select ${runColumns.text} from unnest($1::uuid[]) as w(id) cross join lateral (
     select * from standing_runs where (program_id, id) <= (w.id, ${lastUuid})
     order by program_id desc, id desc limit 1 offset 0) r
   where r.program_id = w.id`,
);

/** Returns the newest run of each of these standing programs (schedules). A program without runs is absent. */
export async function readLastStandingRuns(
  db: Executor,
  ids: readonly StandingProgramId[],
): Promise<Map<StandingProgramId, StandingRunRecord>> {
  const found = (await readLast(db, [arrayLiteral(ids.map(uuidOfId))])).map((row) => runColumns.read(row));
  return new Map(found.map((run) => [run.programId, run]));
}

/** Functions that read and write the runs of one project's standing programs (schedules). */
export type StandingRunRepository = {
  find(id: StandingRunId): Promise<StandingRunRecord | undefined>;
  findBySource(programId: StandingProgramId, sourceKey: string): Promise<StandingRunRecord | undefined>;
  /**
   * Returns a page of the runs of a standing program (a schedule), newest first. `page`: where the previous page ended, and the number of
   * runs.
   */
  list(
    programId: StandingProgramId,
    filter: StandingRunFilter,
    page: StandingRunPosition,
  ): Promise<StandingRunRecord[]>;
  /** Skips all runs of a locked program that have not started. Returns the number of skipped runs. */
  skipOpen(programId: StandingProgramId, reason: StandingRunReason, nowMs: number): Promise<number>;
  /** Returns the ids of the jobs that a standing program (a schedule) has started and that have not ended. */
  listStartedJobs(programId: StandingProgramId): Promise<Id<"job">[]>;
};

/**
 * Skips the runs of a program that have not started. Uses the indexes standing_runs_queued and standing_runs_closing to find the runs, then
 * the primary key to change them. The statement contains the exact conditions of these indexes. If the states were parameters, PostgreSQL
 * would read all runs of the program.
 */
const skipOpen = statement<{ id: string }>(
  "skip_open_standing_runs",
  `update standing_runs set state = 'skipped', reason = $3::text, not_before = null, ended_at = $4::timestamptz
   where id = any(array(select id from (
     (select id, project_id from standing_runs where program_id = $1::uuid and state = 'queued' offset 0) union all
     (select id, project_id from standing_runs where program_id = $1::uuid and state in ('collecting', 'closing') offset 0)) r
     where project_id = $2::uuid))
   returning id::text as id`,
);

/**
 * Lists the jobs that runs of a standing program (a schedule) have started. Uses the index standing_runs_running. The statement repeats the
 * exact condition of this index, because PostgreSQL uses the index only then.
 */
const listStarted = statement<{ jobId: string }>(
  "list_started_standing_jobs",
  `select job_id::text as "jobId" from (
     select job_id, project_id from standing_runs where program_id = $1::uuid and state = 'started' offset 0) r
   where project_id = $2::uuid and job_id is not null`,
);

/** Returns the repository of one project's runs (decisions about due times and events of schedules, most of which started a job). */
export function standingRunsForProject(db: Executor, projectId: ProjectId): StandingRunRepository {
  const own = eq(standingRuns.projectId, projectId);
  const ofProgram = (id: StandingProgramId) => and(own, eq(standingRuns.programId, id));
  return {
    async find(id) {
      const [row] = await db.orm
        .select()
        .from(standingRuns)
        .where(and(own, eq(standingRuns.id, id)));
      return row;
    },
    async findBySource(programId, sourceKey) {
      const [row] = await db.orm
        .select()
        .from(standingRuns)
        .where(and(ofProgram(programId), eq(standingRuns.sourceKey, sourceKey)));
      return row;
    },
    list: (programId, filter, page) => listStandingRuns(db, { projectId, programId }, filter, page),
    async skipOpen(programId, reason, nowMs) {
      return (await skipOpen(db, [uuidOfId(programId), uuidOfId(projectId), reason, isoTime(nowMs)])).length;
    },
    async listStartedJobs(programId) {
      const found = await listStarted(db, [uuidOfId(programId), uuidOfId(projectId)]);
      return found.map(({ jobId }) => idOfUuid("job", jobId));
    },
  };
}
