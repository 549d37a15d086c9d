import { type Executor, withTransaction } from "../connect.ts";
import { currentEpoch, lowPriorityEpoch } from "../deliveries/epoch.ts";
import { statement } from "../sql/statement.ts";

/** By the first column of delivery_tasks_lane. */
const adoptLeft = statement<Record<never, never>>(
  "adopt_delivery_tasks",
  `update delivery_tasks set epoch = sign(epoch)::int4 * ${currentEpoch}
   where (epoch > 0 and epoch < ${currentEpoch}) or (epoch < 0 and epoch > ${lowPriorityEpoch})`,
);

/**
 * A loose scan of the queues with waiting tasks, one index lookup each, with each subscription by its key; then the tasks of ended
 * subscriptions.
 */
const adoptEnded = statement<Record<never, never>>(
  "adopt_ended_deliveries",
  `with recursive visited as (
    (select t.subscription_id from delivery_tasks t where t.epoch = 0 order by t.subscription_id limit 1)
    union all
    select (select t.subscription_id from delivery_tasks t
            where t.epoch = 0 and t.subscription_id > v.subscription_id order by t.subscription_id limit 1)
    from visited v where v.subscription_id is not null
  ), ended as materialized (
    select v.subscription_id from visited v where v.subscription_id is not null
      and not exists (select from subscriptions s where s.id = v.subscription_id and s.active offset 0)
  )
  update delivery_tasks t set epoch = ${currentEpoch}
  where t.epoch = 0 and t.subscription_id = any(array(select subscription_id from ended))`,
);

/**
 * Moves tasks to where claims find them: tasks that a node of an older version left in an old epoch, and tasks that wait for a retry
 * although their subscription has ended. Returns how many.
 */
export async function adoptDeliveryTasks(db: Executor): Promise<number> {
  return (await adoptLeft(db, [])).count + (await adoptEnded(db, [])).count;
}

/** A table whose rows live for milliseconds, and of which millions are deleted. */
export type TaskTable = "delivery_tasks" | "job_tasks";

/** Dead rows of a table by the server's own count, and the size of its rows in bytes, dead and alive. */
const sizeOf = statement<{ dead: string; bytes: string }>(
  "measure_task_table",
  "select pg_stat_get_dead_tuples($1::regclass) as dead, pg_relation_size($1::regclass) as bytes",
);

/** Returns the number of dead rows in a task table by the server's count, including those that a snapshot still holds. */
export async function countDeadTasks(db: Executor, table: TaskTable): Promise<number> {
  return Number((await sizeOf(db, [table]))[0]?.dead ?? 0);
}

/** Options of `compactTasks`. */
type Compaction = {
  readonly table: TaskTable;
  /** A table with more live rows is left alone, because they are read and written again. */
  readonly rowsMax: number;
  /** Maximum time that others are blocked while it waits for the table's lock. */
  readonly lockMs: number;
};

/**
 * Removes dead rows although an old snapshot forces vacuum to keep them: it writes a new file with the live rows. The table is locked
 * meanwhile. Statements that wait for the lock read only the new file, because a statement takes its snapshot after its locks. `held`:
 * another session, such as a dump, kept the table locked for longer than `lockMs`. An older snapshot that reads the table for the first
 * time afterwards finds no rows.
 */
export async function compactTasks(db: Executor, compaction: Compaction): Promise<"done" | "held" | "full"> {
  const { table, rowsMax, lockMs } = compaction;
  const [before] = await sizeOf(db, [table]);
  try {
    return await withTransaction(db, async (tx) => {
      await lockTasks(tx, table, "access exclusive", lockMs);
      const [now] = await sizeOf(tx, [table]);
      // Another node did it meanwhile.
      if (Number(now?.bytes) < Number(before?.bytes)) return "done";
      const [alive] = await tx.sql.unsafe<{ count: number; rows: string }[]>(
        `select count(*)::int4 as count, coalesce(json_agg(t), '[]')::text as rows from (select * from ${table} limit ${rowsMax + 1}) t`,
      );
      if (alive === undefined || alive.count > rowsMax) return "full";
      await tx.sql.unsafe(`truncate ${table}`);
      await tx.sql.unsafe(`insert into ${table} select * from json_populate_recordset(null::${table}, $1::json)`, [
        alive.rows,
      ]);
      return "done";
    });
  } catch (error) {
    if (isLockTimeout(error)) return "held";
    throw error;
  }
}

/** Locks a task table for the rest of a transaction. Throws an error that `isLockTimeout` recognizes after `lockMs`. */
async function lockTasks(
  tx: Executor,
  table: TaskTable,
  mode: "access exclusive" | "exclusive",
  lockMs: number,
): Promise<void> {
  await tx.sql.unsafe(`set local lock_timeout = ${lockMs}`);
  await tx.sql.unsafe(`lock table ${table} in ${mode} mode`);
}

/** True if a statement failed because it did not get a lock in time. */
function isLockTimeout(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    if ("code" in cause && cause.code === "55P03") return true;
  }
  return false;
}

/** Uses the primary key. */
const readEpoch = statement<{ epoch: number }>("read_delivery_epoch", "select epoch from delivery_epoch where id = 1");

/** Uses the primary key. */
const nextEpoch = statement<{ epoch: number }>(
  "advance_delivery_epoch",
  "update delivery_epoch set epoch = epoch + 1 where id = 1 and epoch = $1::int4 returning epoch",
);

/** By the first column of delivery_tasks_lane. */
const moveTasks = statement<Record<never, never>>(
  "move_delivery_tasks",
  "update delivery_tasks set epoch = epoch + sign(epoch)::int4 where epoch = any(array[$1::int4, -$1::int4])",
);

const countAlive = statement<{ count: number }>(
  "count_epoch_tasks",
  "select count(*)::int4 as count from (select from delivery_tasks where epoch = any(array[$1::int4, -$1::int4]) limit $2::int4) t",
);

/** Returns the current epoch of delivery_tasks. */
export async function readDeliveryEpoch(db: Executor): Promise<number> {
  return (await readEpoch(db, []))[0]?.epoch ?? 1;
}

/**
 * Begins a new epoch of delivery_tasks: the tasks of `epoch` move to it. The dead rows stay in the table's file, but scans no longer read
 * them. Use it if a reader prevents the compaction of the table: it blocks only writers. A statement takes its snapshot after its locks, so
 * it never uses the old epoch after the move. Returns false if nothing was done: the epoch has changed already, more than `rowsMax` tasks
 * are live in it, or the lock was not free within `lockMs`.
 */
export async function advanceDeliveryEpoch(
  db: Executor,
  { epoch, rowsMax, lockMs }: { epoch: number; rowsMax: number; lockMs: number },
): Promise<boolean> {
  try {
    return await withTransaction(db, async (tx) => {
      await lockTasks(tx, "delivery_tasks", "exclusive", lockMs);
      const [alive] = await countAlive(tx, [epoch, rowsMax + 1]);
      if (alive === undefined || alive.count > rowsMax) return false;
      if ((await nextEpoch(tx, [epoch])).length === 0) return false;
      await moveTasks(tx, [epoch]);
      return true;
    });
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}
