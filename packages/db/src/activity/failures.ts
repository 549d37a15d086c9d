import { type FailureRemedy, type Id, idOfUuid, isoTime, type ProjectId, uuidOfId } from "@svc/core";
import { sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { failureGroups } from "../schema/projects.ts";
import type { failureKinds } from "../schema/words.ts";
import { arrayLiteral, bytesArrayLiteral, plainArrayLiteral, statement } from "../sql/statement.ts";

/** Id of something that failed: a tool call, a delivery (prefix `dlv`), or a job. */
export type FailedId = Id<"call"> | Id<"dlv"> | Id<"job">;

/**
 * Failures that have the same cause and happened on one day. `hours`: number of failures in each of the 24 hours. `title`: a sentence about
 * the failure, encrypted.
 */
export type FailureCount = {
  readonly fingerprint: string;
  readonly kind: (typeof failureKinds)[number];
  readonly hours: readonly number[];
  readonly firstAt: number;
  readonly lastAt: number;
  readonly newestId: FailedId;
  readonly remedies: readonly FailureRemedy[];
  readonly title: Buffer;
};

/** Maximum number of failure groups (failures with the same cause) that svc stores for one project and day. */
export const failureGroupsMax = 1_000;

/**
 * Adds counts to the groups of one project and day, by the primary key. A new group is stored only while the day has less than 1,000; the
 * groups with the most failures come first. Rows are written in the order of their keys, so that two nodes do not deadlock.
 */
const addGroups = statement(
  "add_failure_groups",
  `with g as materialized (
     select u.*, exists (select from failure_groups k
       where k.project_id = $1::uuid and k.day = $2::timestamptz and k.fingerprint = u.fingerprint) as is_known
     from unnest($3::text[], $4::text[], $5::int8[], $6::text[], $7::timestamptz[], $8::timestamptz[], $9::uuid[], $10::text[], $11::bytea[])
       as u(fingerprint, kind, count, hours, first_at, last_at, newest_id, remedies, title)),
   stored as (select count(*)::int4 as count from (
     select from failure_groups where project_id = $1::uuid and day = $2::timestamptz limit ${failureGroupsMax}) s)
   insert into failure_groups as f (project_id, day, fingerprint, kind, count, hours, first_at, last_at, newest_id, remedies, title)
   select $1::uuid, $2::timestamptz, n.fingerprint, n.kind, n.count, n.hours::int4[], n.first_at, n.last_at, n.newest_id, n.remedies::text[], n.title
   from (select g.*, row_number() over (partition by g.is_known order by g.count desc, g.fingerprint) as place from g) n, stored
   where n.is_known or n.place <= ${failureGroupsMax} - stored.count order by n.fingerprint
   on conflict (project_id, day, fingerprint) do update set
     count = f.count + excluded.count, hours = (select array_agg(x.old + x.new order by x.hour)
       from unnest(f.hours, excluded.hours) with ordinality as x(old, new, hour)),
     first_at = least(f.first_at, excluded.first_at), last_at = greatest(f.last_at, excluded.last_at),
     newest_id = greatest(f.newest_id, excluded.newest_id), title = excluded.title, remedies = excluded.remedies`,
);

/**
 * Adds failures to the stored groups of a project's failures on one day. A group has the failures with one cause (fingerprint). `dayMs`:
 * start of the day. All given fingerprints must be different.
 */
export async function addFailureGroups(
  db: Executor,
  { projectId, dayMs }: { readonly projectId: ProjectId; readonly dayMs: number },
  groups: readonly FailureCount[],
): Promise<void> {
  const column = <Value>(read: (group: FailureCount) => Value) => groups.map(read);
  await addGroups(db, [
    ...[uuidOfId(projectId), isoTime(dayMs)],
    ...[arrayLiteral(column(({ fingerprint }) => fingerprint)), arrayLiteral(column(({ kind }) => kind))],
    arrayLiteral(column(({ hours }) => hours.reduce((sum, count) => sum + count, 0))),
    arrayLiteral(column(({ hours }) => plainArrayLiteral(hours))),
    ...[arrayLiteral(column(({ firstAt }) => isoTime(firstAt))), arrayLiteral(column(({ lastAt }) => isoTime(lastAt)))],
    arrayLiteral(column(({ newestId }) => uuidOfId(newestId))),
    arrayLiteral(column(({ remedies }) => plainArrayLiteral(remedies))),
    bytesArrayLiteral(column(({ title }) => title)),
  ]);
}

/** A stored group of failures that have the same cause and happened on one day. `dayMs`: start of the day in epoch milliseconds. */
export type StoredFailures = FailureCount & { readonly dayMs: number };

const prefixes = { call: "call", delivery: "dlv", job: "job" } as const;

/** Returns the groups of a project's failures (failures with the same cause) on the days from `sinceMs` to `untilMs`. */
export async function listFailureGroups(
  db: Executor,
  projectId: ProjectId,
  { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
): Promise<StoredFailures[]> {
  // A comparison of whole rows uses the primary key alone. Otherwise PostgreSQL could read the days of all projects.
  const key = sql`(${failureGroups.projectId}, ${failureGroups.day})`;
  const [project, first, last] = [uuidOfId(projectId), isoTime(dayOf(sinceMs)), isoTime(dayOf(untilMs))];
  const rows = await db.orm
    .select()
    .from(failureGroups)
    .where(
      sql`${key} >= (${project}::uuid, ${first}::timestamptz) and ${key} <= (${project}::uuid, ${last}::timestamptz)`,
    );
  return rows.map(({ day: dayMs, newestId, ...row }) => {
    return { ...row, dayMs, newestId: idOfUuid(prefixes[row.kind], newestId) };
  });
}

const dayMs = 86_400_000;

/** Returns the start of the day (UTC) of a time, in epoch milliseconds. */
export function dayOf(atMs: number): number {
  return atMs - (atMs % dayMs);
}

/** Finds the oldest groups of failures by the index failure_groups_day. */
const sweepGroups = statement<{ one: number }>(
  "sweep_failure_groups",
  `with old as materialized (
     select project_id, day, fingerprint from failure_groups where day < $1::timestamptz order by day limit $2::int4 for update skip locked)
   delete from failure_groups f using old o where f.project_id = o.project_id and f.day = o.day and f.fingerprint = o.fingerprint
   returning 1 as one`,
);

/** Deletes up to `limit` groups of failures whose day is before `beforeMs`. Returns the number of deleted groups. */
export async function sweepFailureGroups(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepGroups(db, [isoTime(beforeMs), limit])).length;
}
