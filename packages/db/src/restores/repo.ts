import { isoTime } from "@svc/core";
import { desc, isNull, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { countPendingDeliveries } from "../deliveries/repo.ts";
import { restores } from "../schema/index.ts";
import { jobStatuses } from "../schema/words.ts";

/** A restore: the backup that the database was restored from, and when. Times are in epoch milliseconds. See the table `restores`. */
export type Restore = typeof restores.$inferSelect;

/** A restore of the database from a backup. `key`: the key of the restore. `backupEndsAt`: the end of the backup. */
export type RestoreNote = Pick<Restore, "key" | "backupEndsAt">;

/** Numbers of deliveries and jobs that wait, because svc sends nothing after a restore of the database until an operator resumes it. */
export type PausedWork = { readonly deliveries: number; readonly jobs: number };

/**
 * Records that the database was restored from a backup. From now on, its deliveries and jobs wait until an operator resumes them. Does
 * nothing if the restore is already recorded.
 */
export async function noteRestore(db: Executor, note: RestoreNote, nowMs: number): Promise<void> {
  await db.orm
    .insert(restores)
    .values({ ...note, restoredAt: nowMs })
    .onConflictDoNothing();
}

/** Returns the last restore of this database from a backup; undefined if it was never restored. */
export async function findRestore(db: Executor): Promise<Restore | undefined> {
  const [row] = await db.orm.select().from(restores).orderBy(desc(restores.restoredAt)).limit(1);
  return row;
}

/** Statuses of jobs that have not ended, as an SQL list: all statuses that precede `succeeded`. */
const live = sql.raw(`('${jobStatuses.slice(0, jobStatuses.indexOf("succeeded")).join("', '")}')`);

/**
 * Returns the number of pending deliveries, and the number of unfinished jobs that make real calls (not simulation runs) and have no parent
 * job. Counts all of them, project by project.
 */
export async function countHeldWork(db: Executor): Promise<PausedWork> {
  const deliveries = await countPendingDeliveries(db);
  const [row] = await db.orm.execute<{ jobs: number }>(
    sql`select count(*)::int4 as jobs from projects p cross join lateral (
      select 1 from jobs where project_id = p.id and mode = 'live' and parent_job_id is null and status in ${live} offset 0) j`,
  );
  return { deliveries, jobs: row?.jobs ?? 0 };
}

/**
 * Resumes the deliveries and jobs that wait since the database was restored from a backup. Returns the restore and how many waited;
 * undefined if nothing waits. `isNothingSince`: true if the original deployment sent nothing after the backup. If false, people must decide
 * about the unfinished writes of the restored jobs.
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
 * Marks the unfinished jobs that came from the backup, except simulation runs. Jobs that were submitted after the restore are not marked.
 */
async function doubtRestoredJobs(tx: Executor, { backupEndsAt, restoredAt }: Restore): Promise<void> {
  const isDoubted = sql`mode = 'live' and status in ${live} and created_at < ${isoTime(restoredAt)}::timestamptz`;
  // Project by project, an index finds the unfinished jobs, so that the many ended ones are not read.
  await tx.orm.execute(sql`update jobs set restored_from = ${isoTime(backupEndsAt)}::timestamptz
    where ${isDoubted} and id = any(array(
      select j.id from projects p cross join lateral (
        select id from jobs where project_id = p.id and parent_job_id is null and ${isDoubted} offset 0) j
      union all select id from jobs where parent_job_id is not null and ${isDoubted}))`);
}
