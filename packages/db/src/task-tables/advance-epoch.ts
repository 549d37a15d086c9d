import { type Executor, withTransaction } from "../connect.ts";
import { statement } from "../sql/statement.ts";
import { isLockTimeout, lockTasks } from "./compact.ts";

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
