import { type EventId, idOfUuid, isoTime, type StandingProgramId, type StandingRunId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { standingDedupe, standingRunEvents, standingRuns } from "../schema/standing.ts";
import { fieldsBut, fieldsOf, int4, type NewRow, type Row, timestamptz, type ValuesOf } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { insertRows } from "../sql/insert-rows.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { runColumns, type StandingRunRecord } from "./runs.ts";

/** Identifies a window (a run that still collects events) by its program and its concurrency key. `lane` is the concurrency key. */
export type WindowKey = { readonly programId: StandingProgramId; readonly lane: string };

/**
 * Reads windows: runs of a schedule that still collect events. Finds the window of each schedule and concurrency key with one lookup in the
 * index standing_runs_window.
 */
const readWindows = compose(
  "read_standing_windows",
  { keys: rows(fieldsOf(standingRuns, "programId", "lane")) },
  ({ keys }) => query<RawRow<StandingRunRecord>>`select ${runColumns.text} from ${keys.from("w")} cross join lateral (
      select * from standing_runs where program_id = w.program_id and lane = w.lane and state = 'collecting' offset 0) r`,
);

/**
 * Returns the runs that still collect events (open windows). Each of the `keys` names a standing program (a schedule) and the concurrency
 * key (`lane`) of one window. The caller must have locked the programs.
 */
export async function readStandingWindows(tx: Executor, keys: readonly WindowKey[]): Promise<StandingRunRecord[]> {
  if (keys.length === 0) return [];
  return (await readWindows(tx, { keys })).map((row) => runColumns.read(row));
}

/**
 * SQL for the receipt time of the project's oldest event that svc has not yet given to its schedules. Events that svc failed to process do
 * not count. The outer query must have a row `w` with a `program_id`.
 */
const oldestUndecided = `(select a.due_at from standing_arrivals a
    where a.project_id = (select p.project_id from standing_programs p where p.id = w.program_id) and a.attempt < 2
    order by a.project_id, a.due_at, a.event_id limit 1)`;

/**
 * Finds runs of schedules whose collect window (the time in which they gather events) can end, by the index standing_runs_closing. A window
 * ends under two conditions: its end time has passed, and all events received before it are in the run. So events that svc processes late
 * are still in the right run. With the first condition alone, a burst of events was split into several runs.
 */
const readClosing = compose(
  "read_closing_standing_windows",
  { programs: rows({ ...fieldsOf(standingRuns, "programId"), nowMs: timestamptz, most: int4 }) },
  ({ programs }) => query<
    RawRow<StandingRunRecord>
  >`select ${runColumns.text} from ${programs.from("w")} cross join lateral (
      select least(w.now_ms, ${oldestUndecided}) as until offset 0) u cross join lateral (
      select * from standing_runs where program_id = w.program_id and state in ('collecting', 'closing')
        and not_before <= u.until order by not_before limit w.most offset 0) r`,
);

/**
 * Returns collect windows (times in which events are gathered into one run) that have ended and have received all their events. Returns at
 * most `most` windows of each program, those that end first.
 */
export async function readClosingStandingWindows(
  db: Executor,
  ids: readonly StandingProgramId[],
  { nowMs, most }: { readonly nowMs: number; readonly most: number },
): Promise<StandingRunRecord[]> {
  if (ids.length === 0) return [];
  const programs = ids.map((programId) => ({ programId, nowMs, most }));
  return (await readClosing(db, { programs })).map((row) => runColumns.read(row));
}

/**
 * Returns for each program when its next collect window (the time in which events are gathered into one run) ends, and if older events are
 * still to be processed. Uses the index standing_runs_closing, with one lookup for each program.
 */
const nextCloses = statement<{ id: string; at: number | null; is_held: boolean }>(
  "next_standing_closes",
  `select w.program_id::text as id, (extract(epoch from n.not_before) * 1000)::float8 as at,
     coalesce(${oldestUndecided} < n.not_before, false) as is_held
   from unnest($1::uuid[]) as w(program_id) cross join lateral (
     select not_before from standing_runs
     where program_id = w.program_id and state in ('collecting', 'closing') and not_before is not null
     order by not_before limit 1 offset 0) n`,
);

/**
 * Time at which a collect window (a run that gathers events until a set time) closes. `isHeld`: true if svc has not yet added all events to
 * it that were received before this time. Then the window cannot close yet.
 */
export type NextClose = { readonly at: number; readonly isHeld: boolean };

/** Returns for each program the time at which its next collect window closes. Programs without a window are left out. */
export async function nextStandingCloses(
  tx: Executor,
  ids: readonly StandingProgramId[],
): Promise<Map<StandingProgramId, NextClose>> {
  if (ids.length === 0) return new Map();
  const found = await nextCloses(tx, [arrayLiteral(ids.map(uuidOfId))]);
  return new Map(
    found.flatMap(({ id, at, is_held: isHeld }) =>
      at === null ? [] : [[idOfUuid("stp", id), { at, isHeld }] as const],
    ),
  );
}

const changedNames = [
  "state",
  "reason",
  "detail",
  "lane",
  "rateKey",
  "input",
  "count",
  "bytes",
  "lastAt",
  "decidedAt",
  "notBefore",
  "startFailures",
  "startedAt",
  "endedAt",
  "jobId",
  "blockingJobId",
] as const;
const changedFields = fieldsOf(standingRuns, "id", ...changedNames);

/** A change of a collect window (a run that still gathers events): the window gets more events, or it ends and its run is queued. */
export type StandingWindowChange = ValuesOf<typeof changedFields>;

/**
 * Stores changes of collect windows (times in which events are gathered into one run). Finds the windows by the primary key of
 * standing_runs. No other transaction changes them, because the caller holds the locks on their programs.
 */
const changeWindows = compose(
  "change_standing_windows",
  { changes: rows(changedFields) },
  ({ changes }) =>
    query`update standing_runs r set ${changes.set("i", changedNames)} from ${changes.from("i")} where r.id = i.id`,
);

/**
 * Stores changes of windows (runs that collect events until a time). A schedule can have only one open window for each concurrency key. So
 * store the changes that end windows before you open new windows with the same keys.
 */
export async function changeStandingWindows(tx: Executor, changes: readonly StandingWindowChange[]): Promise<void> {
  if (changes.length > 0) await changeWindows(tx, { changes });
}

const insertEvents = insertRows("insert_standing_run_events", standingRunEvents);

/**
 * Stores which collect window (a run that gathers events) has gathered which events. If a schedule has already gathered an event, throws a
 * unique violation of `standing_run_events_key`.
 */
export async function insertStandingRunEvents(
  tx: Executor,
  list: readonly NewRow<typeof standingRunEvents>[],
): Promise<void> {
  if (list.length > 0) await insertEvents(tx, list);
}

/**
 * Reads the events that collecting runs of a standing program (a schedule) have gathered. Reads them in the order of the index
 * standing_run_events_run, so that no sorting is needed.
 */
const readRunEvents = statement<{ run: string; event: string }>(
  "read_standing_run_events",
  `select w.id::text as run, e.event_id::text as event from unnest($1::uuid[]) as w(id) cross join lateral (
     select event_id from standing_run_events where run_id = w.id order by event_id limit $2::int4 offset 0) e`,
);

/**
 * Returns the first `most` events of each collect window (a run that gathers events until a set time), in the order in which svc received
 * them.
 */
export async function readStandingRunEvents(
  db: Executor,
  ids: readonly StandingRunId[],
  most: number,
): Promise<Map<StandingRunId, EventId[]>> {
  const found = new Map<StandingRunId, EventId[]>();
  if (ids.length === 0) return found;
  for (const { run, event } of await readRunEvents(db, [arrayLiteral(ids.map(uuidOfId)), most])) {
    const id = idOfUuid("srn", run);
    found.set(id, [...(found.get(id) ?? []), idOfUuid("evt", event)]);
  }
  return found;
}

/**
 * Finds the last event that each of the given runs has collected. Reads only the last entry of each run in the index
 * standing_run_events_run.
 */
const readLastEvents = statement<{ run: string; event: string }>(
  "read_last_standing_run_events",
  `select w.id::text as run, e.event_id::text as event from unnest($1::uuid[]) as w(id) cross join lateral (
     select event_id from standing_run_events where run_id = w.id order by event_id desc limit 1 offset 0) e`,
);

/**
 * Returns the last event that each of these runs has collected. A run with a collect window gathers events for some time before it starts.
 */
export async function readLastStandingRunEvents(
  db: Executor,
  ids: readonly StandingRunId[],
): Promise<Map<StandingRunId, EventId[]>> {
  if (ids.length === 0) return new Map();
  const found = await readLastEvents(db, [arrayLiteral(ids.map(uuidOfId))]);
  return new Map(found.map(({ run, event }) => [idOfUuid("srn", run), [idOfUuid("evt", event)]]));
}

/**
 * A deduplication key that a standing program (a schedule) remembers until a time, so that it ignores later occurrences with the same key.
 */
type RememberedKey = Readonly<Row<typeof standingDedupe>>;

const columns = selectList(standingDedupe, ["programId", "key", "until"], "d");

/** Finds those of the given deduplication keys that are stored. Uses one lookup for each key by the primary key of standing_dedupe. */
const selectKnown = compose(
  "read_standing_dedupe",
  { keys: rows(fieldsOf(standingDedupe, "programId", "key")) },
  ({ keys }) => query<RawRow<RememberedKey>>`select ${columns.text} from ${keys.from("w")} cross join lateral (
      select * from standing_dedupe where program_id = w.program_id and key = w.key offset 0) d`,
);

/** Returns those of the given deduplication keys that are already stored. The caller must have locked the programs of these keys. */
export async function readKnownKeys(
  tx: Executor,
  keys: readonly { readonly programId: StandingProgramId; readonly key: string }[],
): Promise<RememberedKey[]> {
  if (keys.length === 0) return [];
  return (await selectKnown(tx, { keys })).map((row) => columns.read(row));
}

/** Stores deduplication keys, or a new expiry for keys that are stored already. Finds them by the primary key of `standing_dedupe`. */
const insertKnown = compose(
  "write_standing_dedupe",
  { seen: rows(fieldsBut(standingDedupe)) },
  ({ seen }) =>
    query`${seen.insertInto(standingDedupe)} on conflict (program_id, key) do update set until = excluded.until`,
);

/**
 * Stores deduplication keys of locked programs, so that a later occurrence with the same key is recognized as a duplicate. The list `seen`
 * must not contain the same key of a program twice.
 */
export async function writeKnownKeys(tx: Executor, seen: readonly NewRow<typeof standingDedupe>[]): Promise<void> {
  if (seen.length > 0) await insertKnown(tx, { seen });
}

/**
 * Deletes expired deduplication keys of schedules, found by the index standing_dedupe_until. Skips rows that another transaction is
 * writing.
 */
const deleteExpired = statement<{ key: string }>(
  "sweep_standing_dedupe",
  `delete from standing_dedupe where ctid = any(array(
     select ctid from standing_dedupe where until < $1::timestamptz order by until limit $2::int4 for update skip locked)) returning key`,
);

/** Removes at most `limit` deduplication keys of schedules that expired before `beforeMs`. Returns the number of removed keys. */
export async function sweepKnownKeys(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await deleteExpired(db, [isoTime(beforeMs), limit])).length;
}
