import { idOfUuid, type StandingProgramId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { dueTasks, standingPrograms } from "../schema/standing.ts";
import { fieldsOf, type ValuesOf } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/** Reads the stored version of time zone data. The table standing_state has a single row. */
const readTzVersion = statement<{ version: string }>(
  "read_tz_version",
  "select tz_version as version from standing_state where id = 1",
);

/** Returns the newest version of time zone data that schedules have used. Empty if none is stored yet. */
export async function readStandingTzVersion(db: Executor): Promise<string> {
  const [row] = await readTzVersion(db, []);
  return row?.version ?? "";
}

/** Stores a version of time zone data, unless the stored version is newer. The table standing_state has a single row. */
const raiseTzVersion = statement<{ version: string }>(
  "raise_tz_version",
  `insert into standing_state (id, tz_version) values (1, $1::text)
   on conflict (id) do update set tz_version = greatest(standing_state.tz_version, excluded.tz_version) returning tz_version as version`,
);

/** Stores the version of time zone data that schedules use from now on. A version older than the stored one changes nothing. */
export async function raiseStandingTzVersion(db: Executor, version: string): Promise<void> {
  await raiseTzVersion(db, [version]);
}

/** Lists up to $2 active schedules whose time zone is not UTC, in the order of their ids, after the id $1. */
const listZoned = statement<{ id: string }>(
  "list_zoned_standing_programs",
  // `is true` keeps PostgreSQL from using the index of next due times, which has a different order.
  `select id::text from standing_programs where id > $1::uuid and (state = 'active' and next_at is not null) is true
     and source_kind = 'schedule' and time_zone <> 'UTC' order by id limit $2::int4`,
);

const noId = "00000000-0000-0000-0000-000000000000";

/**
 * Returns active schedules whose time zone is not UTC, in the order of their ids, beginning after the id `after`. New time zone data can
 * change their times.
 */
export async function listZonedStandingPrograms(
  db: Executor,
  after: StandingProgramId | undefined,
  limit: number,
): Promise<StandingProgramId[]> {
  const found = await listZoned(db, [after === undefined ? noId : uuidOfId(after), limit]);
  return found.map(({ id }) => idOfUuid("stp", id));
}

const movedFields = {
  ...fieldsOf(standingPrograms, "id", "nextAt", "updatedAt"),
  ...fieldsOf(dueTasks, "dueAt"),
};

/** A schedule and its next due time, computed again because a node has newer time zone data. */
export type RearmedSchedule = ValuesOf<typeof movedFields>;

/**
 * Stores new next due times of schedules after the time zone data has changed. Uses the primary keys of programs and tasks. A node that
 * works on such a task has used the old due time, so it loses its lease (its right to work on the task).
 */
const rearm = compose(
  "rearm_standing_schedules",
  { moved: rows(movedFields) },
  ({ moved }) => query`with programs as (
      update standing_programs p set next_at = i.next_at, updated_at = i.updated_at from ${moved.from("i")} where p.id = i.id
    )
    update due_tasks t set due_at = i.due_at, attempt = 0, lease_owner = null, lease_until = null, lease_token = t.lease_token + 1
    from ${moved.from("i")} where t.owner_id = i.id and t.kind = 'fire' and t.subject = ''`,
);

/**
 * Stores new next due times of locked schedules. Each schedule has a task that a node works on when the schedule is due; the task gets the
 * same new time.
 */
export async function rearmStandingSchedules(tx: Executor, moved: readonly RearmedSchedule[]): Promise<void> {
  if (moved.length > 0) await rearm(tx, { moved });
}
