import { type Id, idOfUuid, isoTime, type StandingProgramId, type StandingRunId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { standingRuns } from "../schema/standing.ts";
import { fieldsOf, int4, timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { lastUuid, runColumns, type StandingRunRecord } from "./runs.ts";

// Queries about concurrency keys (values for which the runs of a program follow one another). Thousands of runs may wait for one key, and
// every batch of events reads them. So each query reads only as many runs as its decision needs.

/**
 * A concurrency key of a standing program (a schedule). Runs of the program with the same key follow one another; those with different keys
 * can run at the same time.
 */
export type ConcurrencyKey = { readonly programId: StandingProgramId; readonly lane: string };

/** How many runs with one concurrency key are queued or running, with the ids of their jobs. */
export type ConcurrencyKeyUsage = ConcurrencyKey & {
  readonly started: number;
  /** Queued runs, counted up to the requested maximum. */
  readonly queued: number;
  /** Ids of the running jobs, oldest first. */
  readonly jobIds: readonly Id<"job">[];
  /** Id of the newest queued run; null if none is queued. */
  readonly newestQueued: StandingRunId | null;
};

/** Maximum job ids returned per concurrency key. Every overlap policy allows fewer running jobs. */
const jobIdsMax = 1_000;

// The caller only decides if one more run may wait. An exact count of a queue of 100,000 runs took 420 ms per 100 events.
/**
 * Reads how many runs of each concurrency key are queued and running, by the indexes standing_runs_queued and standing_runs_running. Queued
 * runs are counted only up to a maximum.
 */
const readUsages = compose(
  "read_standing_lanes",
  { lanes: rows({ ...fieldsOf(standingRuns, "programId", "lane"), most: int4 }) },
  ({ lanes }) => query<{
    programId: string;
    lane: string;
    started: number;
    queued: number;
    jobIds: string[];
    newestQueued: string | null;
  }>`select w.program_id::text as "programId", w.lane, s.started, s."jobIds", q.queued,
      case when n.program_id = w.program_id and n.lane = w.lane then n.id::text end as "newestQueued"
    from ${lanes.from("w")} cross join lateral (
      select count(*)::int4 as started, coalesce(array_agg(job_id::text order by id), '{}') as "jobIds" from (
        select id, job_id from standing_runs where program_id = w.program_id and lane = w.lane and state = 'started'
        order by program_id, lane, id limit ${String(jobIdsMax)} offset 0) r) s
    cross join lateral (
      select count(*)::int4 as queued from (
        select from standing_runs where program_id = w.program_id and lane = w.lane and state = 'queued'
        order by program_id, lane, id limit w.most offset 0) r) q
    left join lateral (
      select program_id, lane, id from standing_runs
      where (program_id, lane, id) <= (w.program_id, w.lane, ${lastUuid}) and state = 'queued'
      order by program_id desc, lane desc, id desc limit 1 offset 0) n on true`,
);

/**
 * Returns for each concurrency key how many runs have started and how many are queued. `most`: queued runs are counted up to this number.
 * The caller must have locked the programs.
 */
export async function readConcurrencyKeyUsages(
  tx: Executor,
  lanes: readonly (ConcurrencyKey & { readonly most: number })[],
): Promise<ConcurrencyKeyUsage[]> {
  if (lanes.length === 0) return [];
  return (await readUsages(tx, { lanes })).map((row) => ({
    ...row,
    programId: idOfUuid("stp", row.programId),
    jobIds: row.jobIds.map((id) => idOfUuid("job", id)),
    newestQueued: row.newestQueued === null ? null : idOfUuid("srn", row.newestQueued),
  }));
}

/**
 * Counts the queued and the started runs of programs. Uses the indexes standing_runs_queued and standing_runs_running. Counting all runs is
 * slow: use it to display a program, not for decisions.
 */
const countOpen = statement<{ programId: string; queued: number; started: number }>(
  "count_open_standing_runs",
  `select w.id::text as "programId", (
      select count(*)::int4 from standing_runs where program_id = w.id and state = 'queued' offset 0) as queued, (
      select count(*)::int4 from standing_runs where program_id = w.id and state = 'started' offset 0) as started
    from unnest($1::uuid[]) as w(id)`,
);

/** Returns how many runs of each standing program (schedule) are queued and how many have started and not ended, for display. */
export async function countOpenStandingRuns(
  db: Executor,
  ids: readonly StandingProgramId[],
): Promise<Map<StandingProgramId, { readonly queued: number; readonly started: number }>> {
  if (ids.length === 0) return new Map();
  const found = await countOpen(db, [arrayLiteral(ids.map(uuidOfId))]);
  return new Map(found.map(({ programId, ...counts }) => [idOfUuid("stp", programId), counts]));
}

/**
 * Finds the concurrency keys of programs that have queued runs. Uses the index standing_runs_queued: each index lookup finds the next
 * concurrency key after the previous one.
 */
const listWaiting = statement<{ programId: string; lane: string }>(
  "list_waiting_standing_lanes",
  `with recursive found as (
     select w.id, (select lane from standing_runs where program_id = w.id and state = 'queued'
       order by program_id, lane, id limit 1) as lane from unnest($1::uuid[]) as w(id)
     union all
     select f.id, (select lane from standing_runs where program_id = f.id and lane > f.lane and state = 'queued'
       order by program_id, lane, id limit 1) from found f where f.lane is not null
   )
   select id::text as "programId", lane from found where lane is not null`,
);

/**
 * Returns the concurrency keys for which the given standing programs (schedules) have queued runs. The caller must have locked the
 * programs.
 */
export async function listWaitingConcurrencyKeys(
  tx: Executor,
  ids: readonly StandingProgramId[],
): Promise<ConcurrencyKey[]> {
  if (ids.length === 0) return [];
  const found = await listWaiting(tx, [arrayLiteral(ids.map(uuidOfId))]);
  return found.map(({ programId, lane }) => ({ programId: idOfUuid("stp", programId), lane }));
}

/**
 * A concurrency key of a schedule, for which queued runs are to be read. Runs with the same key run one after another. `room`: maximum
 * number of runs to read.
 */
export type ConcurrencyKeySlots = ConcurrencyKey & { readonly room: number };

/** Reads the oldest queued runs of each concurrency key, in the order of the index standing_runs_queued. */
const readQueued = compose(
  "read_queued_standing_runs",
  { lanes: rows({ ...fieldsOf(standingRuns, "programId", "lane"), room: int4 }) },
  ({ lanes }) => query<RawRow<StandingRunRecord>>`select ${runColumns.text} from ${lanes.from("w")} cross join lateral (
      select * from standing_runs where program_id = w.program_id and lane = w.lane and state = 'queued'
      order by program_id, lane, id limit w.room offset 0) r
    order by r.program_id, r.id`,
);

/**
 * Returns queued runs of the given concurrency keys, oldest first. Runs with the same concurrency key (a value of the event) run one after
 * another. `room` limits the number for each key.
 */
export async function readQueuedStandingRuns(
  tx: Executor,
  lanes: readonly ConcurrencyKeySlots[],
): Promise<StandingRunRecord[]> {
  if (lanes.length === 0) return [];
  return (await readQueued(tx, { lanes })).map((row) => runColumns.read(row));
}

/** Times that say when svc must check again if queued runs of a standing program (a schedule) can start. */
export type StandingWakes = {
  readonly programId: StandingProgramId;
  /** The earliest `notBefore` time of a queued run that is still in the future, epoch milliseconds; null if there is none. */
  readonly nextNotBefore: number | null;
  /** True if a queued run has reached its `notBefore` time. */
  readonly hasReady: boolean;
  /** When svc decided to start the oldest queued run; null if no run is queued. */
  readonly oldestDecidedAt: number | null;
};

/**
 * Reads facts about the queued runs of each program: if one may start now, the next start time, and the oldest run. Uses the indexes
 * standing_runs_ready and standing_runs_oldest.
 */
const readWakes = statement<Omit<StandingWakes, "programId"> & { programId: string }>(
  "read_standing_wakes",
  `select w.id::text as "programId",
     (extract(epoch from (select not_before from standing_runs where program_id = w.id and not_before > $2::timestamptz
       and state = 'queued' and not_before is not null order by program_id, not_before limit 1)) * 1000)::float8 as "nextNotBefore",
     exists (select from standing_runs where program_id = w.id and not_before <= $2::timestamptz
       and state = 'queued' and not_before is not null offset 0) as "hasReady",
     (extract(epoch from (select decided_at from standing_runs where program_id = w.id and state = 'queued'
       order by program_id, decided_at limit 1)) * 1000)::float8 as "oldestDecidedAt"
   from unnest($1::uuid[]) as w(id)`,
);

/**
 * Returns for each schedule with queued runs the times from which svc computes when it must check these runs again. The caller must have
 * locked the programs.
 */
export async function readStandingWakes(
  tx: Executor,
  ids: readonly StandingProgramId[],
  nowMs: number,
): Promise<StandingWakes[]> {
  if (ids.length === 0) return [];
  const found = await readWakes(tx, [arrayLiteral(ids.map(uuidOfId)), isoTime(nowMs)]);
  return found.map((row) => ({ ...row, programId: idOfUuid("stp", row.programId) }));
}

/** Time limit for the queued runs of a schedule: runs that were queued before `beforeMs` have waited too long and are skipped. */
export type LatenessLimit = { readonly programId: StandingProgramId; readonly beforeMs: number };

/** Maximum number of queued runs that have waited too long and that one check skips. The next check skips the others. */
const lateMax = 1_000;

/**
 * Marks queued runs of schedules as skipped if they have waited too long. Finds the oldest queued runs with the index standing_runs_oldest,
 * then changes them by their primary key.
 */
const skipLate = compose(
  "skip_late_standing_runs",
  { bounds: rows({ ...fieldsOf(standingRuns, "programId"), beforeMs: timestamptz, endedAtMs: timestamptz }) },
  ({ bounds }) => query<{
    programId: string;
  }>`update standing_runs r set state = 'skipped', reason = 'late', not_before = null, ended_at = w.ended_at_ms
    from ${bounds.from("w")} cross join lateral (
      select id from standing_runs where program_id = w.program_id and state = 'queued' and decided_at < w.before_ms
      order by program_id, decided_at limit ${String(lateMax)} offset 0) l
    where r.id = l.id
    returning r.program_id::text as "programId"`,
);

/**
 * Skips queued runs that have waited longer than their schedule allows, oldest first. Returns the schedule's id for each skipped run, so an
 * id may occur several times.
 */
export async function skipLateStandingRuns(
  tx: Executor,
  bounds: readonly LatenessLimit[],
  nowMs: number,
): Promise<StandingProgramId[]> {
  if (bounds.length === 0) return [];
  const found = await skipLate(tx, { bounds: bounds.map((bound) => ({ ...bound, endedAtMs: nowMs })) });
  return found.map(({ programId }) => idOfUuid("stp", programId));
}
