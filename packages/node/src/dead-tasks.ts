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

/** Numbers of dead rows above which tables of tasks are cleaned. */
export type DeadTaskLimits = {
  /** Dead rows above which a table is compacted. */
  readonly compactFrom: Readonly<Record<TaskTable, number>>;
  /** Further dead rows above which the next epoch of delivery_tasks begins, if the table cannot be compacted. */
  readonly advanceFrom: number;
};

// About what vacuum leaves in ordinary operation. Each claim walks over these rows at 0.3 us each: claims of deliveries come ten times a
// second under load, those of jobs 30 times. From 100,000 rows on, deliveries were a tenth slower while a snapshot was held.
const defaults: DeadTaskLimits = {
  compactFrom: { delivery_tasks: 25_000, job_tasks: 20_000 },
  advanceFrom: 50_000,
};

/** Rows that a compaction rewrites, at 20 us a row, while others wait. */
const compactedMax = 20_000;
/** Rows that are moved into the next epoch, at 10 us a row, while writers wait. */
const movedMax = 100_000;
/** svc's own statements end in milliseconds. A longer lock is most likely a dump's or a person's transaction. */
const lockMs = 100;
/** Others wait during a vain wait for the lock, so each retry comes twice as late, up to a minute. */
const heldPauseMs = { first: 5_000, max: 60_000 };
const adoptEveryMs = 600_000;

/**
 * Returns the sweep that runs every 5 seconds against dead rows that vacuum must keep while someone holds a snapshot. A table of tasks with
 * many dead rows gets a new file. If the table is also locked, deliveries get a new epoch. Otherwise every claim would walk over all of
 * them and find less and less.
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

/** Compacts a table when it has enough dead rows. After a failed lock or too many live rows it waits before the next try. */
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

/** Begins a new epoch of deliveries when the present one has enough dead rows. */
function createAdvancer(db: Executor, { advanceFrom }: DeadTaskLimits) {
  let known: { epoch: number; deadBefore: number } | undefined;
  return async (dead: number): Promise<void> => {
    // Vacuum or a compaction has removed them.
    if (known !== undefined && dead < known.deadBefore) known.deadBefore = 0;
    if (dead - (known?.deadBefore ?? 0) < advanceFrom) return;
    const epoch = await readDeliveryEpoch(db);
    const isOthers = known !== undefined && known.epoch !== epoch;
    const isNew = !isOthers && (await advanceDeliveryEpoch(db, { epoch, rowsMax: movedMax, lockMs }));
    if (isOthers) known = { epoch, deadBefore: dead };
    else if (isNew) known = { epoch: epoch + 1, deadBefore: dead };
  };
}
