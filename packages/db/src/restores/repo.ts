import { isoTime } from "@svc/core";
import { desc, isNull, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { countPendingDeliveries } from "../deliveries/repo.ts";
import { restores } from "../schema/index.ts";
import { jobStatuses } from "../schema/words.ts";

/** A backup that the store was restored from; times in epoch milliseconds. See the table. */
export type Restore = typeof restores.$inferSelect;

/** What tells that the store was restored: by which key it is known, and what the backup holds. */
export type RestoreNote = Pick<Restore, "key" | "backupEndsAt">;

/** What a held store would send or do by itself. */
export type PausedWork = { readonly deliveries: number; readonly jobs: number };

/** Holds the store from now on, unless this restore is known. */
export async function noteRestore(db: Executor, note: RestoreNote, nowMs: number): Promise<void> {
  await db.orm
    .insert(restores)
    .values({ ...note, restoredAt: nowMs })
    .onConflictDoNothing();
}

/** The last restore; undefined where there was none. */
export async function findRestore(db: Executor): Promise<Restore | undefined> {
  const [row] = await db.orm.select().from(restores).orderBy(desc(restores.restoredAt)).limit(1);
  return row;
}

/** Statuses of jobs that have not ended. */
const live = sql.raw(`('${jobStatuses.slice(0, jobStatuses.indexOf("succeeded")).join("', '")}')`);

/** Deliveries that are pending, and live jobs that have not ended and no other job runs. All of them are gone through, project by project. */
export async function countHeldWork(db: Executor): Promise<PausedWork> {
  const deliveries = await countPendingDeliveries(db);
  const [row] = await db.orm.execute<{ jobs: number }>(
    sql`select count(*)::int4 as jobs from projects p cross join lateral (
      select 1 from jobs where project_id = p.id and mode = 'live' and parent_job_id is null and status in ${live} offset 0) j`,
  );
  return { deliveries, jobs: row?.jobs ?? 0 };
}

/**
 * Ends the hold, and answers the restore and what waited; undefined where the store is not held. Unless nothing was sent since the backup,
 * what jobs from before the restore would write is in doubt from then on.
 */
export function resumeRestored(
  db: Executor,
  { nowMs, isNothingSince }: { readonly nowMs: number; readonly isNothingSince: boolean },
): Promise<{ readonly restore: Restore; readonly waited: PausedWork } | undefined> {
  return withTransaction(db, async (tx) => {
    const waited = await countHeldWork(tx);
    const resumed = await tx.orm
      .update(restores)
      .set({ resumedAt: nowMs, isNothingSince })
      .where(isNull(restores.resumedAt))
      .returning();
    const restore = resumed.toSorted((a, b) => b.restoredAt - a.restoredAt)[0];
    if (restore === undefined) return undefined;
    if (!isNothingSince) {
      await doubtRestoredJobs(tx, restore);
    }
    return { restore, waited };
  });
}

/**
 * Notes in the live jobs that have not ended that they stand as of the backup. What was submitted to this store itself, nobody else knows of.
 * Those that no other job runs are found project by project: any number of jobs have ended.
 */
async function doubtRestoredJobs(tx: Executor, { backupEndsAt, restoredAt }: Restore): Promise<void> {
  const isDoubted = sql`mode = 'live' and status in ${live} and created_at < ${isoTime(restoredAt)}::timestamptz`;
  await tx.orm.execute(sql`update jobs set restored_from = ${isoTime(backupEndsAt)}::timestamptz
    where ${isDoubted} and id = any(array(
      select j.id from projects p cross join lateral (
        select id from jobs where project_id = p.id and parent_job_id is null and ${isDoubted} offset 0) j
      union all select id from jobs where parent_job_id is not null and ${isDoubted}))`);
}
