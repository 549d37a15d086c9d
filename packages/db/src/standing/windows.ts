import { type EventId, idOfUuid, isoTime, type StandingProgramId, type StandingRunId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { standingDedupe, standingRunEvents, standingRuns } from "../schema/standing.ts";
import { fieldsBut, fieldsOf, int4, type NewRow, type Row, timestamptz, type ValuesOf } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { insertRows } from "../sql/insert-rows.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { runColumns, type StandingRunRecord } from "./runs.ts";

/** Names the window of a key of a program. */
export type WindowKey = { readonly programId: StandingProgramId; readonly lane: string };

/** By standing_runs_window, a probe each. */
const readWindows = compose(
  "read_standing_windows",
  { keys: rows(fieldsOf(standingRuns, "programId", "lane")) },
  ({ keys }) => query<RawRow<StandingRunRecord>>`select ${runColumns.text} from ${keys.from("w")} cross join lateral (
      select * from standing_runs where program_id = w.program_id and lane = w.lane and state = 'collecting' offset 0) r`,
);

/** The open windows of keys of locked programs. */
export async function readStandingWindows(tx: Executor, keys: readonly WindowKey[]): Promise<StandingRunRecord[]> {
  if (keys.length === 0) return [];
  return (await readWindows(tx, { keys })).map((row) => runColumns.read(row));
}

/**
 * When the oldest event was received that nothing was decided about yet, of the project of a program `w`: by standing_arrivals_key, from its
 * beginning. One that could not be decided about keeps nobody waiting.
 */
const oldestUndecided = `(select a.due_at from standing_arrivals a
    where a.project_id = (select p.project_id from standing_programs p where p.id = w.program_id) and a.attempt < 2
    order by a.project_id, a.due_at, a.event_id limit 1)`;

/**
 * By standing_runs_closing, the first of each program. Time is over for a window when it is over on the clock and for the events: those that
 * came before it closes are in it, however long it takes to come to them. By the clock alone a storm was cut into windows of a batch each.
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

/** Windows whose time is over and whose events are all there, the first of each program, `most` at most. */
export async function readClosingStandingWindows(
  db: Executor,
  ids: readonly StandingProgramId[],
  { nowMs, most }: { readonly nowMs: number; readonly most: number },
): Promise<StandingRunRecord[]> {
  if (ids.length === 0) return [];
  const programs = ids.map((programId) => ({ programId, nowMs, most }));
  return (await readClosing(db, { programs })).map((row) => runColumns.read(row));
}

/** By standing_runs_closing, a probe each. */
const nextCloses = statement<{ id: string; at: number | null; is_held: boolean }>(
  "next_standing_closes",
  `select w.program_id::text as id, (extract(epoch from n.not_before) * 1000)::float8 as at,
     coalesce(${oldestUndecided} < n.not_before, false) as is_held
   from unnest($1::uuid[]) as w(program_id) cross join lateral (
     select not_before from standing_runs
     where program_id = w.program_id and state in ('collecting', 'closing') and not_before is not null
     order by not_before limit 1 offset 0) n`,
);

/** When a window closes. `isHeld`: not before events are decided about that were received before it does. */
export type NextClose = { readonly at: number; readonly isHeld: boolean };

/** When the next window of each program closes, of those that have one. */
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

/** What becomes of a window: more events, or what a run becomes once it is closed. */
export type StandingWindowChange = ValuesOf<typeof changedFields>;

/** By primary key. Windows of locked programs are nobody else's to change. */
const changeWindows = compose(
  "change_standing_windows",
  { changes: rows(changedFields) },
  ({ changes }) =>
    query`update standing_runs r set ${changes.set("i", changedNames)} from ${changes.from("i")} where r.id = i.id`,
);

/** Writes what became of windows. Those that end to collect are to be written before others of their keys are opened. */
export async function changeStandingWindows(tx: Executor, changes: readonly StandingWindowChange[]): Promise<void> {
  if (changes.length > 0) await changeWindows(tx, { changes });
}

const insertEvents = insertRows("insert_standing_run_events", standingRunEvents);

/** Keeps which window collected events. An event a second time for a program is a unique violation of `standing_run_events_key`. */
export async function insertStandingRunEvents(
  tx: Executor,
  list: readonly NewRow<typeof standingRunEvents>[],
): Promise<void> {
  if (list.length > 0) await insertEvents(tx, list);
}

/** By standing_run_events_run, in its order. */
const readRunEvents = statement<{ run: string; event: string }>(
  "read_standing_run_events",
  `select w.id::text as run, e.event_id::text as event from unnest($1::uuid[]) as w(id) cross join lateral (
     select event_id from standing_run_events where run_id = w.id order by event_id limit $2::int4 offset 0) e`,
);

/** The events that windows collected, in the order in which they were received, the first `most` of each. */
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

/** By standing_run_events_run, from its end. */
const readLastEvents = statement<{ run: string; event: string }>(
  "read_last_standing_run_events",
  `select w.id::text as run, e.event_id::text as event from unnest($1::uuid[]) as w(id) cross join lateral (
     select event_id from standing_run_events where run_id = w.id order by event_id desc limit 1 offset 0) e`,
);

/** The last event of each window. */
export async function readLastStandingRunEvents(
  db: Executor,
  ids: readonly StandingRunId[],
): Promise<Map<StandingRunId, EventId[]>> {
  if (ids.length === 0) return new Map();
  const found = await readLastEvents(db, [arrayLiteral(ids.map(uuidOfId))]);
  return new Map(found.map(({ run, event }) => [idOfUuid("srn", run), [idOfUuid("evt", event)]]));
}

/** A key that a program has seen, and until when it is remembered. */
type RememberedKey = Readonly<Row<typeof standingDedupe>>;

const columns = selectList(standingDedupe, ["programId", "key", "until"], "d");

/** By primary key, a look-up each. */
const selectKnown = compose(
  "read_standing_dedupe",
  { keys: rows(fieldsOf(standingDedupe, "programId", "key")) },
  ({ keys }) => query<RawRow<RememberedKey>>`select ${columns.text} from ${keys.from("w")} cross join lateral (
      select * from standing_dedupe where program_id = w.program_id and key = w.key offset 0) d`,
);

/** Which keys locked programs have seen. */
export async function readKnownKeys(
  tx: Executor,
  keys: readonly { readonly programId: StandingProgramId; readonly key: string }[],
): Promise<RememberedKey[]> {
  if (keys.length === 0) return [];
  return (await selectKnown(tx, { keys })).map((row) => columns.read(row));
}

/** By primary key. */
const insertKnown = compose(
  "write_standing_dedupe",
  { seen: rows(fieldsBut(standingDedupe)) },
  ({ seen }) =>
    query`${seen.insertInto(standingDedupe)} on conflict (program_id, key) do update set until = excluded.until`,
);

/** Remembers keys of locked programs, each once. */
export async function writeKnownKeys(tx: Executor, seen: readonly NewRow<typeof standingDedupe>[]): Promise<void> {
  if (seen.length > 0) await insertKnown(tx, { seen });
}

/** By standing_dedupe_until, which forgets what is not remembered any more. What somebody writes at the moment is passed by. */
const deleteExpired = statement<{ key: string }>(
  "sweep_standing_dedupe",
  `delete from standing_dedupe where ctid = any(array(
     select ctid from standing_dedupe where until < $1::timestamptz order by until limit $2::int4 for update skip locked)) returning key`,
);

/** Forgets a batch of keys that are not remembered since `beforeMs`; answers how many. */
export async function sweepKnownKeys(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await deleteExpired(db, [isoTime(beforeMs), limit])).length;
}
