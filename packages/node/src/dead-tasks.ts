import type { Sweep } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import {
  adoptDeliveryTasks,
  advanceDeliveryEpoch,
  compactTasks,
  countDeadTasks,
  readDeliveryEpoch,
  type TaskTable,
} from "@svc/db/task-tables/epochs";

/**
 * Numbers of dead rows above which svc cleans the task tables, which list due deliveries and jobs. Dead rows are deleted rows that vacuum
 * (the cleanup of PostgreSQL) has not removed yet.
 */
export type DeadTaskLimits = {
  /** For each task table: number of dead rows above which svc compacts the table (rewrites it without the dead rows). */
  readonly compactFrom: Readonly<Record<TaskTable, number>>;
  /**
   * Number of dead rows of delivery_tasks above which svc moves the live rows to a new part of the queue. svc does this only if it could
   * not compact the table.
   */
  readonly advanceFrom: number;
};

// Default limits, just above the number of dead rows that remain after vacuum in normal operation. Each claim (the query that takes due
// tasks) also reads the dead rows, at 0.3 us each. Under load there are 10 claims of deliveries and 30 of jobs a second. With more than
// 100,000 dead rows, deliveries became a tenth slower while a snapshot was held.
const defaults: DeadTaskLimits = {
  compactFrom: { delivery_tasks: 25_000, job_tasks: 20_000 },
  advanceFrom: 50_000,
};

/**
 * Maximum number of rows that a compaction of a task table rewrites. A compaction removes dead rows from the table. Each row takes 20 us,
 * and statements that use the table wait until all are rewritten.
 */
const compactedMax = 20_000;
/**
 * Maximum number of tasks that are moved to a new part of the delivery queue at once. Moving one task takes 10 microseconds, and writes to
 * the table wait meanwhile.
 */
const movedMax = 100_000;
/**
 * Maximum wait for a lock in milliseconds. Statements of svc end within milliseconds, so a longer lock most likely belongs to a dump or to
 * a person's transaction.
 */
const lockMs = 100;
/** Pauses in milliseconds before svc tries again to lock a table of tasks. The pause doubles after each failed try, up to `max`. */
const heldPauseMs = { first: 5_000, max: 60_000 };
const adoptEveryMs = 600_000;

/**
 * Returns the sweep (regular task) that removes dead rows from the task tables every 5 seconds. Vacuum cannot remove them while a long
 * transaction is open. If there are many dead rows, each search for a due task is slow.
 */
export function deadTaskSweep(db: Executor, limits: DeadTaskLimits = defaults): Sweep {
  const compactDeliveries = createCompactor(db, "delivery_tasks", limits);
  const compactJobs = createCompactor(db, "job_tasks", limits);
  const advance = createAdvancer(db, limits);
  let adoptAtMs = 0;
  return {
    what: "dead tasks",
    everyMs: 5_000,
    async *round(nowMs) {
      if (nowMs >= adoptAtMs) {
        await adoptDeliveryTasks(db);
        adoptAtMs = nowMs + adoptEveryMs;
      }
      const { dead, isCompact } = await compactDeliveries(nowMs);
      if (!isCompact) await advance(dead);
      yield false;
      await compactJobs(nowMs);
    },
  };
}

/**
 * Returns the function that compacts a table if the table has enough dead rows. If it could not lock the table, or the table has too many
 * live rows, the function waits before its next attempt.
 */
function createCompactor(db: Executor, table: TaskTable, { compactFrom }: DeadTaskLimits) {
  let pausedUntilMs = 0;
  let pauseMs = heldPauseMs.first;
  return async (nowMs: number): Promise<{ dead: number; isCompact: boolean }> => {
    const dead = await countDeadTasks(db, table);
    if (dead < compactFrom[table] || nowMs < pausedUntilMs) return { dead, isCompact: false };
    const isCompact = (await compactTasks(db, { table, rowsMax: compactedMax, lockMs })) === "done";
    pausedUntilMs = isCompact ? 0 : nowMs + pauseMs;
    pauseMs = isCompact ? heldPauseMs.first : Math.min(2 * pauseMs, heldPauseMs.max);
    return { dead, isCompact };
  };
}

/**
 * Returns the function that begins the next epoch (numbered part) of the delivery queue if the current epoch has many dead rows. The live
 * rows move to the new epoch, so queries no longer read the dead rows.
 */
function createAdvancer(db: Executor, { advanceFrom }: DeadTaskLimits) {
  let known: { epoch: number; deadBefore: number } | undefined;
  return async (dead: number): Promise<void> => {
    // The number of dead rows has fallen, so vacuum or a compaction has removed some.
    if (known !== undefined && dead < known.deadBefore) known.deadBefore = 0;
    if (dead - (known?.deadBefore ?? 0) < advanceFrom) return;
    const epoch = await readDeliveryEpoch(db);
    const isOthers = known !== undefined && known.epoch !== epoch;
    const isNew = !isOthers && (await advanceDeliveryEpoch(db, { epoch, rowsMax: movedMax, lockMs }));
    if (isOthers) known = { epoch, deadBefore: dead };
    else if (isNew) known = { epoch: epoch + 1, deadBefore: dead };
  };
}
