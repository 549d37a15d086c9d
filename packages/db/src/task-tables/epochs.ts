import { type Executor, withTransaction } from "../connect.ts";
import { currentEpoch, lowPriorityEpoch } from "../deliveries/epoch.ts";
import { statement } from "../sql/statement.ts";

/** By the head of delivery_tasks_lane. */
const adoptLeft = statement<Record<never, never>>(
  "adopt_delivery_tasks",
  `update delivery_tasks set epoch = sign(epoch)::int4 * ${currentEpoch}
   where (epoch > 0 and epoch < ${currentEpoch}) or (epoch < 0 and epoch > ${lowPriorityEpoch})`,
);

/** A loose scan of the lanes that wait, one probe each, with the subscription of each by its key; then the tasks of those that ended. */
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
 * Puts tasks where looks for work find them: those that a node of an older version left in an epoch gone by, and those that wait for
 * a retry of a subscription that has ended since. Returns how many.
 */
export async function adoptDeliveryTasks(db: Executor): Promise<number> {
  return (await adoptLeft(db, [])).count + (await adoptEnded(db, [])).count;
}

/** A table whose rows live for milliseconds, and end by the million. */
export type TaskTable = "delivery_tasks" | "job_tasks";

/** How many dead rows a table has, by the server's own count, and the bytes of its rows, dead and alive. */
const sizeOf = statement<{ dead: string; bytes: string }>(
  "measure_task_table",
  "select pg_stat_get_dead_tuples($1::regclass) as dead, pg_relation_size($1::regclass) as bytes",
);

/** How many dead rows the server counts in a table of tasks, those included that a snapshot still holds. */
export async function countDeadTasks(db: Executor, table: TaskTable): Promise<number> {
  return Number((await sizeOf(db, [table]))[0]?.dead ?? 0);
}

/** What `compactTasks` takes. */
type Compaction = {
  readonly table: TaskTable;
  /** A table with more rows than this that are alive is left as it is: they are read and written again. */
  readonly rowsMax: number;
  /** How long others are held up at most while it waits for the table. */
  readonly lockMs: number;
};

/**
 * Rids a table of its dead rows though a snapshot is held that vacuum must keep them for: a new file, with the rows that are alive.
 * The table is locked meanwhile, and what waits for that sees the new file alone, since a statement takes its snapshot after its
 * locks. `held`: somebody has the table locked for longer than `lockMs`, as a dump does. A snapshot from before that reads the
 * table for the first time afterwards finds no row in it.
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

/** Locks a table of tasks for the rest of a transaction. Throws what `isLockTimeout` tells when that takes longer than `lockMs`. */
async function lockTasks(
  tx: Executor,
  table: TaskTable,
  mode: "access exclusive" | "exclusive",
  lockMs: number,
): Promise<void> {
  await tx.sql.unsafe(`set local lock_timeout = ${lockMs}`);
  await tx.sql.unsafe(`lock table ${table} in ${mode} mode`);
}

/** Whether a statement ended because a lock was not to be had in time. */
function isLockTimeout(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    if ("code" in cause && cause.code === "55P03") return true;
  }
  return false;
}

/** By primary key. */
const readEpoch = statement<{ epoch: number }>("read_delivery_epoch", "select epoch from delivery_epoch where id = 1");

/** By primary key. */
const nextEpoch = statement<{ epoch: number }>(
  "advance_delivery_epoch",
  "update delivery_epoch set epoch = epoch + 1 where id = 1 and epoch = $1::int4 returning epoch",
);

/** By the head of delivery_tasks_lane. */
const moveTasks = statement<Record<never, never>>(
  "move_delivery_tasks",
  "update delivery_tasks set epoch = epoch + sign(epoch)::int4 where epoch = any(array[$1::int4, -$1::int4])",
);

const countAlive = statement<{ count: number }>(
  "count_epoch_tasks",
  "select count(*)::int4 as count from (select from delivery_tasks where epoch = any(array[$1::int4, -$1::int4]) limit $2::int4) t",
);

/** The present epoch of delivery_tasks. */
export async function readDeliveryEpoch(db: Executor): Promise<number> {
  return (await readEpoch(db, []))[0]?.epoch ?? 1;
}

/**
 * Begins another epoch of delivery_tasks: the tasks of `epoch` move on, and its dead rows are in nobody's way any more, though they
 * stay in the table's file. For when the table cannot be compacted, since somebody reads it: writers alone are held up. A statement
 * takes its snapshot after its locks, so that it never names the old epoch when the tasks have moved. False when nothing was done: it
 * is another's epoch by now, more than `rowsMax` tasks are alive in it, or the lock was not to be had within `lockMs`.
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
