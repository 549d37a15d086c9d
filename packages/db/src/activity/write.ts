import { isoTime, type ProjectId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { activityHours, activityMinutes } from "../schema/projects.ts";
import { fieldsBut } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/**
 * A count of things that happened (such as deliveries with one outcome) in one minute or hour. `at`: start of the minute or hour in epoch
 * milliseconds.
 */
export type ActivityCount = {
  readonly projectId: ProjectId;
  readonly series: string;
  readonly subject: string;
  readonly at: number;
  readonly outcome: string;
  readonly count: number;
};

/**
 * Adds counts of a project's activity per minute to the stored counts. Writes the rows in the order of their keys, so that two nodes do not
 * deadlock.
 */
const addMinutes = compose(
  "add_activity_minutes",
  { counts: rows(fieldsBut(activityMinutes)) },
  ({ counts }) => query`insert into activity_minutes as a (${counts.columns})
    select ${counts.values("c")} from ${counts.from("c")} order by c.project_id, c.series, c.subject, c.at, c.outcome
    on conflict (project_id, series, subject, at, outcome) do update set count = a.count + excluded.count`,
);

const addHours = compose(
  "add_activity_hours",
  { counts: rows(fieldsBut(activityHours)) },
  ({ counts }) => query`insert into activity_hours as a (${counts.columns})
    select ${counts.values("c")} from ${counts.from("c")} order by c.project_id, c.series, c.subject, c.at, c.outcome
    on conflict (project_id, series, subject, at, outcome) do update set count = a.count + excluded.count`,
);

/** Adds counts of activity per minute to the stored counts. The given counts must differ in project, series, subject, outcome or minute. */
export async function addActivityMinutes(db: Executor, counts: readonly ActivityCount[]): Promise<void> {
  await addMinutes(db, { counts });
}

/** Adds counts of activity per hour to the stored counts. The given counts must differ in project, series, subject, outcome or hour. */
export async function addActivityHours(db: Executor, counts: readonly ActivityCount[]): Promise<void> {
  await addHours(db, { counts });
}

/** Returns the query that deletes the oldest activity counts (such as numbers of events and calls by minute), for all projects. */
function textOf(table: string): string {
  return `with old as materialized (
      select project_id, series, subject, at, outcome from ${table} where at < $1::timestamptz order by at limit $2::int4 for update skip locked)
    delete from ${table} a using old o
    where a.project_id = o.project_id and a.series = o.series and a.subject = o.subject and a.at = o.at and a.outcome = o.outcome
    returning 1 as one`;
}

const sweepMinutes = statement<{ one: number }>("sweep_activity_minutes", textOf("activity_minutes"));
const sweepHours = statement<{ one: number }>("sweep_activity_hours", textOf("activity_hours"));

/**
 * Deletes up to `limit` activity counts older than `beforeMs`. `of`: deletes the counts per minute or those per hour. Returns the number of
 * deleted counts.
 */
export async function sweepActivity(
  db: Executor,
  of: "minutes" | "hours",
  beforeMs: number,
  limit: number,
): Promise<number> {
  return (await (of === "minutes" ? sweepMinutes : sweepHours)(db, [isoTime(beforeMs), limit])).length;
}
