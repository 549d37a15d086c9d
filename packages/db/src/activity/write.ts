import type { ProjectId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { activityHours, activityMinutes } from "../schema/activity.ts";
import { fieldsBut } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows } from "../sql/parts.ts";

/** So often something happened within the minute that begins at `at`, epoch milliseconds. */
export type ActivityCount = {
  readonly projectId: ProjectId;
  readonly series: string;
  readonly subject: string;
  readonly at: number;
  readonly outcome: string;
  readonly count: number;
};

/**
 * Adds to the counts that are there, by their keys. In the order of the keys, so that two nodes that add to the same ones wait for
 * each other and not both.
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

/** Adds counts of minutes, no two with the same key. */
export async function addActivityMinutes(db: Executor, counts: readonly ActivityCount[]): Promise<void> {
  await addMinutes(db, { counts });
}

/** Adds counts of hours, no two with the same key. */
export async function addActivityHours(db: Executor, counts: readonly ActivityCount[]): Promise<void> {
  await addHours(db, { counts });
}
