import {
  type BackfillId,
  type EventId,
  idOfUuid,
  isoTime,
  type ProjectId,
  type StandingProgramId,
  uuidOfId,
} from "@svc/core";
import { and, eq, isNull } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { standingBackfills, standingRuns } from "../schema/standing.ts";
import type { BackfillReason } from "../schema/words.ts";
import { fieldsOf, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { type NewDueTask, putDueTasks } from "./task.ts";

/** A backfill (runs for past times or events of a schedule), with all columns of its row. */
export type BackfillRecord = Readonly<Row<typeof standingBackfills>>;

/**
 * Stores a new backfill of a standing program, and the task that makes svc run the backfill. A backfill with `endedAt` gets no task. The
 * caller must have locked the program, and its earlier backfills must have ended.
 */
export async function addBackfill(tx: Executor, backfill: BackfillRecord): Promise<void> {
  await tx.orm.insert(standingBackfills).values(backfill);
  if (backfill.endedAt === null) await putDueTasks(tx, [taskOf(backfill, backfill.createdAt)]);
}

/** Returns a backfill of a project; undefined if the project has no backfill with this id. */
export async function findBackfill(
  db: Executor,
  projectId: ProjectId,
  id: BackfillId,
): Promise<BackfillRecord | undefined> {
  const [row] = await db.orm
    .select()
    .from(standingBackfills)
    .where(and(eq(standingBackfills.projectId, projectId), eq(standingBackfills.id, id)));
  return row;
}

/** Returns the unfinished backfill of a standing program (a schedule); undefined if there is none. */
export async function findRunningBackfill(
  db: Executor,
  programId: StandingProgramId,
): Promise<BackfillRecord | undefined> {
  const [row] = await db.orm
    .select()
    .from(standingBackfills)
    .where(and(eq(standingBackfills.programId, programId), isNull(standingBackfills.endedAt)));
  return row;
}

/** Progress of a backfill: its id, and the columns that one step of its progress changes. */
export type BackfillMove = Partial<
  Pick<
    BackfillRecord,
    "state" | "reason" | "started" | "skipped" | "passed" | "positionAt" | "positionEventId" | "pacedAt" | "endedAt"
  >
> &
  Pick<BackfillRecord, "id" | "updatedAt">;

/**
 * Stores the progress of a backfill (runs for past times) of a standing program (a schedule). The caller's transaction must hold the lock
 * on the program.
 */
export async function moveBackfill(tx: Executor, { id, ...moved }: BackfillMove): Promise<void> {
  await tx.orm.update(standingBackfills).set(moved).where(eq(standingBackfills.id, id));
}

/**
 * Makes the task that continues the unfinished backfill of a standing program (a schedule) due. The caller must have locked the program.
 * Does nothing if the program has no unfinished backfill.
 */
export async function armBackfill(tx: Executor, programId: StandingProgramId, nowMs: number): Promise<void> {
  const running = await findRunningBackfill(tx, programId);
  if (running !== undefined) await putDueTasks(tx, [taskOf(running, nowMs)]);
}

/**
 * Cancels a backfill (runs for past times) of a standing program (a schedule), and skips its queued runs. The caller's transaction must
 * hold the lock on the program. Returns the number of skipped runs.
 */
export async function cancelBackfill(
  tx: Executor,
  { id, programId }: Pick<BackfillRecord, "id" | "programId">,
  { reason, nowMs }: { readonly reason: BackfillReason; readonly nowMs: number },
): Promise<number> {
  const skipped = await skipQueued(tx, [uuidOfId(programId), uuidOfId(id), isoTime(nowMs)]);
  await moveBackfill(tx, { id, state: "cancelled", reason, endedAt: nowMs, updatedAt: nowMs });
  return skipped.length;
}

/**
 * Marks the queued runs of a backfill as skipped. Finds the queued runs of the schedule by the index standing_runs_queued, and changes them
 * by their primary key.
 */
const skipQueued = statement<{ id: string }>(
  "skip_queued_backfill_runs",
  `update standing_runs r set state = 'skipped', reason = 'cancelled', not_before = null, ended_at = $3::timestamptz
   from (select id, backfill_id from standing_runs where program_id = $1::uuid and state = 'queued' offset 0) w
   where r.id = w.id and w.backfill_id = $2::uuid
   returning r.id::text as id`,
);

function taskOf(
  { programId: ownerId, projectId }: Pick<BackfillRecord, "programId" | "projectId">,
  dueAt: number,
): NewDueTask {
  return { ownerId, kind: "backfill", subject: "", projectId, dueAt };
}

/** Counts the queued runs of a standing program (a schedule), up to $2, by the index standing_runs_queued. */
const countWaiting = statement<{ count: number }>(
  "count_waiting_standing_runs",
  `select count(*)::int4 as count from (
     select from standing_runs where program_id = $1::uuid and state = 'queued'
     order by program_id, lane, id limit $2::int4 offset 0) r`,
);

/** Returns the number of queued runs of a standing program (a schedule), counted up to `most`. */
export async function countWaitingRuns(tx: Executor, programId: StandingProgramId, most: number): Promise<number> {
  const [row] = await countWaiting(tx, [uuidOfId(programId), most]);
  return row?.count ?? 0;
}

/** A run of a schedule, found by its `sourceKey`: the key of the occurrence that caused it (a time, an event, or rows of a poll). */
export type SourceRun = Readonly<Row<typeof standingRuns, "id" | "sourceKey" | "state">>;

const sourceColumns = selectList(standingRuns, ["id", "sourceKey", "state"], "r");

/**
 * Finds the runs with the given source keys (names of the runs' causes). Uses the index standing_runs_source, with one lookup for each
 * source key.
 */
const findSources = compose(
  "find_standing_run_sources",
  { keys: rows(fieldsOf(standingRuns, "programId", "sourceKey")) },
  ({ keys }) => query<RawRow<SourceRun>>`select ${sourceColumns.text} from ${keys.from("w")} cross join lateral (
      select id, source_key, state from standing_runs where program_id = w.program_id and source_key = w.source_key offset 0) r`,
);

/**
 * Returns the existing runs for the given source keys. A source key identifies one occurrence of the program (for example one event). The
 * key of the result is the source key.
 */
export async function findSourceRuns(
  db: Executor,
  programId: StandingProgramId,
  sourceKeys: readonly string[],
): Promise<Map<string, SourceRun>> {
  if (sourceKeys.length === 0) return new Map();
  const found = await findSources(db, { keys: sourceKeys.map((sourceKey) => ({ programId, sourceKey })) });
  return new Map(found.map((row) => sourceColumns.read(row)).map((run) => [run.sourceKey, run]));
}

/**
 * Changes the source keys (texts that identify what a run is for) of runs, so that the old keys can be used again. Finds the runs by their
 * primary key.
 */
const renameSources = compose(
  "rename_standing_run_sources",
  { runs: rows(fieldsOf(standingRuns, "id", "sourceKey")) },
  ({ runs }) => query`update standing_runs r set source_key = i.source_key from ${runs.from("i")} where r.id = i.id`,
);

/**
 * Gives runs new source keys (keys of the occurrences that caused them). New runs can then use the old keys and replace these runs. The
 * caller's transaction must hold the lock on the program.
 */
export async function renameSourceRuns(
  tx: Executor,
  runs: readonly Pick<SourceRun, "id" | "sourceKey">[],
): Promise<void> {
  if (runs.length > 0) await renameSources(tx, { runs });
}

/**
 * Reads up to $6 events of one trigger and project for a backfill, in the order of their ids. `isOwn`: true if the backfill uses the event.
 */
const walkEvents = statement<{ id: string; isOwn: boolean; receivedAt: number }>(
  "walk_backfill_events",
  // The row comparisons cover all columns of the index events_trigger, so that PostgreSQL uses this index. Events of other entities count
  // towards the limit, so that the cost is limited even if few events match.
  `select e.id::text as id, e.kind = 'event' and ($5::text is null or e.entity_id = $5::text) as "isOwn",
     (extract(epoch from e.received_at) * 1000)::float8 as "receivedAt"
   from events e where (e.trigger_slug, e.project_id, e.id) >= ($1::text, $2::uuid, $3::uuid)
     and (e.trigger_slug, e.project_id, e.id) < ($1::text, $2::uuid, $4::uuid)
   order by e.trigger_slug, e.project_id, e.id limit $6::int4`,
);

/**
 * The events that a backfill of a schedule reads: those of one trigger with ids from `fromUuid` (inclusive) to `beforeUuid` (exclusive), in
 * the order in which svc received them.
 */
export type BackfillWalk = {
  readonly projectId: ProjectId;
  readonly triggerSlug: string;
  /** Entity (customer or user) that the events belong to. Undefined means that events of every entity are counted. */
  readonly entityId: string | undefined;
  readonly fromUuid: string;
  readonly beforeUuid: string;
};

/**
 * An event in the time range of a backfill (runs for past events). `isOwn`: true if the backfill uses the event. False, for example, for
 * test events and for events of other entities (customers or users).
 */
export type WalkedEvent = { readonly id: EventId; readonly isOwn: boolean; readonly receivedAt: number };

/** Returns the next events in the time range of a backfill (runs for past events), at most `limit`. */
export async function walkBackfillEvents(db: Executor, walk: BackfillWalk, limit: number): Promise<WalkedEvent[]> {
  const { projectId, triggerSlug, entityId = null, fromUuid, beforeUuid } = walk;
  const found = await walkEvents(db, [triggerSlug, uuidOfId(projectId), fromUuid, beforeUuid, entityId, limit]);
  return found.map((row) => ({ ...row, id: idOfUuid("evt", row.id) }));
}

/** Counts the events of one trigger that a backfill (runs for past events) would process. Scans a range of the index events_trigger. */
const countEvents = statement<{ count: number; walked: number; last: string | null }>(
  "count_backfill_events",
  `select count(*) filter (where "isOwn")::int4 as count, count(*)::int4 as walked, max(id) as last from (
     select e.id::text as id, e.kind = 'event' and ($5::text is null or e.entity_id = $5::text) as "isOwn"
     from events e where (e.trigger_slug, e.project_id, e.id) >= ($1::text, $2::uuid, $3::uuid)
     and (e.trigger_slug, e.project_id, e.id) < ($1::text, $2::uuid, $4::uuid)
     order by e.trigger_slug, e.project_id, e.id limit $6::int4 offset 0) e`,
);

/**
 * Counts the events that a backfill (runs for past events) would use, with one statement that scans at most `limit` events. `last`: the
 * last scanned event, if there may be more events after it.
 */
export async function countBackfillEvents(
  db: Executor,
  walk: BackfillWalk,
  limit: number,
): Promise<{ readonly count: number; readonly last: EventId | undefined }> {
  const { projectId, triggerSlug, entityId = null, fromUuid, beforeUuid } = walk;
  const parameters = [triggerSlug, uuidOfId(projectId), fromUuid, beforeUuid, entityId, limit];
  const [found] = await countEvents(db, parameters);
  const { count = 0, walked = 0, last = null } = found ?? {};
  return { count, last: walked < limit || last === null ? undefined : idOfUuid("evt", last) };
}

/**
 * Finds which of the given events a schedule has already received. Looks up each event in standing_arrivals (events without a decision) and
 * in standing_run_events (collected events), by their primary keys.
 */
const findTaken = statement<{ id: string; isUndecided: boolean }>(
  "find_taken_events",
  `select w.id::text as id, w.is_undecided as "isUndecided" from (
     select i.id, exists (select from standing_arrivals a
         where a.due_at = i.at and a.project_id = $2::uuid and a.event_id = i.id offset 0) as is_undecided,
       exists (select from standing_run_events e where e.event_id = i.id and e.program_id = $1::uuid offset 0) as is_collected
     from unnest($3::uuid[], $4::timestamptz[]) as i(id, at)) w
   where w.is_undecided or w.is_collected`,
);

/**
 * Returns the events that a backfill must not process: events without a decision yet (`isUndecided`), and events that a run has already
 * collected.
 */
export async function findTakenEvents(
  db: Executor,
  { programId, projectId }: { readonly programId: StandingProgramId; readonly projectId: ProjectId },
  events: readonly { readonly id: EventId; readonly receivedAt: number }[],
): Promise<Map<EventId, { readonly isUndecided: boolean }>> {
  if (events.length === 0) return new Map();
  const ids = arrayLiteral(events.map(({ id }) => uuidOfId(id)));
  const times = arrayLiteral(events.map(({ receivedAt }) => isoTime(receivedAt)));
  const found = await findTaken(db, [uuidOfId(programId), uuidOfId(projectId), ids, times]);
  return new Map(found.map(({ id, isUndecided }) => [idOfUuid("evt", id), { isUndecided }]));
}

/**
 * Stores a new task for each running backfill that has lost its task. Uses the index standing_backfills_running, which contains only the
 * few unfinished backfills. Finds programs and tasks by their keys.
 */
const armLost = statement<{ id: string }>(
  "arm_lost_backfills",
  `insert into due_tasks (owner_id, kind, subject, project_id, due_at)
   select b.program_id, 'backfill', '', b.project_id, $1::timestamptz from standing_backfills b
   cross join lateral (
     select from standing_programs where id = b.program_id and state in ('active', 'ended') and deleted_at is null offset 0) p
   where b.ended_at is null
     and not exists (select from due_tasks t where t.owner_id = b.program_id and t.kind = 'backfill' and t.subject = '' offset 0)
   limit $2::int4
   on conflict do nothing returning owner_id as id`,
);

/**
 * Stores new tasks for up to `limit` unfinished backfills that have lost their task because of an error. Without a task, a backfill does
 * not continue. Returns the number of new tasks.
 */
export async function armLostBackfills(db: Executor, nowMs: number, limit: number): Promise<number> {
  return (await armLost(db, [isoTime(nowMs), limit])).length;
}

/**
 * Finds backfills (runs for past events or times) that have made no progress for some time. Uses the index standing_backfills_running,
 * which has only the few unfinished backfills. Normally, only the backfill of a paused schedule is found.
 */
const listStill = statement<{ id: string; programId: string }>(
  "list_still_backfills",
  `select id::text as id, program_id::text as "programId" from standing_backfills
   where ended_at is null and updated_at < $1::timestamptz limit $2::int4`,
);

/**
 * Returns unfinished backfills (runs for past times or events of a schedule) that have made no progress since `beforeMs`, at most `limit`.
 */
export async function listStillBackfills(
  db: Executor,
  beforeMs: number,
  limit: number,
): Promise<Pick<BackfillRecord, "id" | "programId">[]> {
  const found = await listStill(db, [isoTime(beforeMs), limit]);
  return found.map(({ id, programId }) => ({ id: idOfUuid("bkf", id), programId: idOfUuid("stp", programId) }));
}

/** Deletes up to $2 backfills that ended before the time $1, oldest end first. Finds them by the index standing_backfills_ended. */
const sweepEnded = statement<{ id: string }>(
  "sweep_backfills",
  `delete from standing_backfills where id = any(array(
     select id from standing_backfills where ended_at < $1::timestamptz and ended_at is not null
     order by ended_at limit $2::int4)) returning id`,
);

/** Deletes up to `limit` backfills that ended before `beforeMs`. Returns the number of deleted backfills. */
export async function sweepBackfills(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepEnded(db, [isoTime(beforeMs), limit])).length;
}
