import { isoTime, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/**
 * The activity counts that a caller requests. `series`: the kinds of counts, such as events. `subject`: counts only this subscription (id)
 * or toolkit (slug); empty for the whole project. Times are in epoch milliseconds.
 */
export type ActivityQuery = {
  readonly series: readonly string[];
  readonly subject: string;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly stepMs: number;
};

/**
 * Number of activities (for example calls) of one series that had one outcome in one time step. `step`: number of the time step since
 * `sinceMs`, from 0.
 */
export type ActivityStep = {
  readonly series: string;
  readonly outcome: string;
  readonly step: number;
  readonly count: number;
};

/** Returns the SQL query for the activity counts in one table. For each series it reads one range of times by the table's primary key. */
function textOf(table: string): string {
  return `select a.series, a.outcome, floor(extract(epoch from a.at - $4::timestamptz) * 1000 / $6::float8)::int4 as step, sum(a.count)::float8 as count
    from unnest($2::text[]) as s(series) cross join lateral (
      select series, outcome, at, count from ${table}
      where (project_id, series, subject, at) >= ($1::uuid, s.series, $3::text, $4::timestamptz)
        and (project_id, series, subject, at) < ($1::uuid, s.series, $3::text, $5::timestamptz) offset 0) a
    group by 1, 2, 3 order by 1, 2, 3`;
}

const selectMinutes = statement<ActivityStep>("query_activity_minutes", textOf("activity_minutes"));
const selectHours = statement<ActivityStep>("query_activity_hours", textOf("activity_hours"));

/** Returns a project's activity in time steps of whole minutes or whole hours. Steps without activity are absent. */
export async function queryActivity(
  db: Executor,
  projectId: ProjectId,
  by: "minutes" | "hours",
  { series, subject, sinceMs, untilMs, stepMs }: ActivityQuery,
): Promise<ActivityStep[]> {
  const select = by === "minutes" ? selectMinutes : selectHours;
  const range = [isoTime(sinceMs), isoTime(untilMs), stepMs];
  return await select(db, [uuidOfId(projectId), arrayLiteral(series), subject, ...range]);
}
