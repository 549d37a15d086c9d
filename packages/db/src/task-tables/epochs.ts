import { type Executor, withTransaction } from "../connect.ts";
import { currentEpoch, lowPriorityEpoch } from "../deliveries/epoch.ts";
import { statement } from "../sql/statement.ts";

/** Moves delivery tasks from older epochs to the current epoch of the same priority. An epoch is a part of the queue. */
const adoptLeft = statement<Record<never, never>>(
  "adopt_delivery_tasks",
  `update delivery_tasks set epoch = sign(epoch)::int4 * ${currentEpoch}
   where (epoch > 0 and epoch < ${currentEpoch}) or (epoch < 0 and epoch > ${lowPriorityEpoch})`,
);

/**
 * Moves waiting tasks of inactive or deleted subscriptions to the current epoch (the part of the queue in which tasks are claimed), so that
 * a node finds and ends them. The statement finds each subscription with waiting tasks by one index lookup, and checks the subscription by
 * its key.
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
      and not exists (select from subscriptions s where s.id = v.subscription_id and (s.active or s.inactive_reason = 'paused') offset 0)
  )
  update delivery_tasks t set epoch = ${currentEpoch}
  where t.epoch = 0 and t.subscription_id = any(array(select subscription_id from ended))`,
);

/**
 * Moves delivery tasks that nodes do not find to the current epoch (the part of the queue that nodes read). Returns the number of moved
 * tasks.
 */
export async function adoptDeliveryTasks(db: Executor): Promise<number> {
  // A node of an older version left tasks in an old epoch. Other tasks wait for a retry, but their subscription has ended.
  return (await adoptLeft(db, [])).count + (await adoptEnded(db, [])).count;
}

/**
 * Name of a table of tasks. Its rows live only for milliseconds. So millions of deleted rows, which vacuum has not yet removed, can collect
 * in it.
 */
export type TaskTable = "delivery_tasks" | "job_tasks";

/** Returns the number of dead rows of a table, as PostgreSQL counts them, and the size in bytes of all its rows, dead and alive. */
const sizeOf = statement<{ dead: string; bytes: string }>(
  "measure_task_table",
  "select pg_stat_get_dead_tuples($1::regclass) as dead, pg_relation_size($1::regclass) as bytes",
);

/**
 * Returns the number of dead rows (deleted rows that still take space) in a task table, as PostgreSQL counts them. Rows that vacuum cannot
 * remove because of an old snapshot count too.
 */
export async function countDeadTasks(db: Executor, table: TaskTable): Promise<number> {
  return Number((await sizeOf(db, [table]))[0]?.dead ?? 0);
}

/** Options of `compactTasks`. */
type Compaction = {
  readonly table: TaskTable;
  /** Maximum live rows. A table with more live rows is not compacted, because the compaction reads and writes each of them. */
  readonly rowsMax: number;
  /** Maximum time to wait for the lock of the table, milliseconds. Other statements are blocked during this time. */
  readonly lockMs: number;
};

/**
 * Writes the live rows of a locked task table into a new file, to remove dead rows that vacuum cannot remove.
 * - `done`: the dead rows are removed.
 * - `held`: another session kept the table locked for longer than `lockMs`.
 * - `full`: the table has more than `rowsMax` live rows.
 */
export async function compactTasks(db: Executor, compaction: Compaction): Promise<"done" | "held" | "full"> {
  const { table, rowsMax, lockMs } = compaction;
  const [before] = await sizeOf(db, [table]);
  try {
    return await withTransaction(db, async (tx) => {
      await lockTasks(tx, table, "access exclusive", lockMs);
      const [now] = await sizeOf(tx, [table]);
      // If the table has become smaller, another node has compacted it in the meantime.
      if (Number(now?.bytes) < Number(before?.bytes)) return "done";
      const [alive] = await tx.sql.unsafe<{ count: number; rows: string }[]>(
        `select count(*)::int4 as count, coalesce(json_agg(t), '[]')::text as rows from (select * from ${table} limit ${rowsMax + 1}) t`,
      );
      if (alive === undefined || alive.count > rowsMax) return "full";
      // Statements that wait for the lock read the new file, because a statement takes its snapshot after its locks. Only a transaction
      // with an older snapshot that has not read the table before can find it empty.
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

/**
 * Locks a task table until the end of the transaction. If the lock is not free within `lockMs`, throws an error for which `isLockTimeout`
 * returns true.
 */
async function lockTasks(
  tx: Executor,
  table: TaskTable,
  mode: "access exclusive" | "exclusive",
  lockMs: number,
): Promise<void> {
  await tx.sql.unsafe(`set local lock_timeout = ${lockMs}`);
  await tx.sql.unsafe(`lock table ${table} in ${mode} mode`);
}

/** Returns true if an error means that a statement did not get a lock in time (error code 55P03 of PostgreSQL); otherwise false. */
function isLockTimeout(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    if ("code" in cause && cause.code === "55P03") return true;
  }
  return false;
}

const readEpoch = statement<{ epoch: number }>("read_delivery_epoch", "select epoch from delivery_epoch where id = 1");

/** Adds one to the current epoch, if it is still the epoch that the caller read. An epoch is a numbered part of the delivery queue. */
const nextEpoch = statement<{ epoch: number }>(
  "advance_delivery_epoch",
  "update delivery_epoch set epoch = epoch + 1 where id = 1 and epoch = $1::int4 returning epoch",
);

/** Moves the delivery tasks of an epoch (a numbered part of the queue) to the next epoch. Their priority stays the same. */
const moveTasks = statement<Record<never, never>>(
  // Finds the tasks by the first column of the index delivery_tasks_lane.
  "move_delivery_tasks",
  "update delivery_tasks set epoch = epoch + sign(epoch)::int4 where epoch = any(array[$1::int4, -$1::int4])",
);

const countAlive = statement<{ count: number }>(
  "count_epoch_tasks",
  "select count(*)::int4 as count from (select from delivery_tasks where epoch = any(array[$1::int4, -$1::int4]) limit $2::int4) t",
);

/**
 * Returns the current epoch of delivery_tasks. An epoch is a number in the table's key that separates current tasks from dead rows of the
 * past.
 */
export async function readDeliveryEpoch(db: Executor): Promise<number> {
  return (await readEpoch(db, []))[0]?.epoch ?? 1;
}

/**
 * Moves all rows of `delivery_tasks` to a new epoch, so that scans no longer read the dead rows of the old one. The epoch is the first
 * column of the table's key.
 * - Use it if a long read prevents `compactTasks`.
 * - Returns false, without a change, if `epoch` is not the current one or has more than `rowsMax` tasks, or if the lock was not free
 *   within `lockMs`.
 */
export async function advanceDeliveryEpoch(
  db: Executor,
  { epoch, rowsMax, lockMs }: { epoch: number; rowsMax: number; lockMs: number },
): Promise<boolean> {
  try {
    return await withTransaction(db, async (tx) => {
      // The lock blocks only writers. A statement takes its snapshot after its locks, so after the move it never uses the old epoch.
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
