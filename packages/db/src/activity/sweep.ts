import { isoTime } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** From the old end, whatever project they are of. */
function textOf(table: string): string {
  return `with old as materialized (
      select project_id, series, subject, at, outcome from ${table} where at < $1::timestamptz order by at limit $2::int4 for update skip locked)
    delete from ${table} a using old o
    where a.project_id = o.project_id and a.series = o.series and a.subject = o.subject and a.at = o.at and a.outcome = o.outcome
    returning 1 as one`;
}

const sweepMinutes = statement<{ one: number }>("sweep_activity_minutes", textOf("activity_minutes"));
const sweepHours = statement<{ one: number }>("sweep_activity_hours", textOf("activity_hours"));

/** Removes up to `limit` counts of minutes, or of hours, before `beforeMs`; returns how many. */
export async function sweepActivity(
  db: Executor,
  of: "minutes" | "hours",
  beforeMs: number,
  limit: number,
): Promise<number> {
  return (await (of === "minutes" ? sweepMinutes : sweepHours)(db, [isoTime(beforeMs), limit])).length;
}
