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

/** From how many dead rows on tables of tasks are rid of them. */
export type DeadTaskLimits = {
  /** A table is compacted. */
  readonly compactFrom: Readonly<Record<TaskTable, number>>;
  /** Where delivery_tasks cannot be, its next epoch begins, with so many dead rows more. */
  readonly advanceFrom: number;
};

// About what vacuum leaves in ordinary times. Up to here each look for work walks over them, in 0.3 us each: those for deliveries come
// ten times a second under load, those for jobs 30 times. From 100,000 on, deliveries lost a tenth while a snapshot was held.
const defaults: DeadTaskLimits = {
  compactFrom: { delivery_tasks: 25_000, job_tasks: 20_000 },
  advanceFrom: 50_000,
};

/** Read and written again by a compaction, in 20 us a row, while others wait. */
const compactedMax = 20_000;
/** Moved into the next epoch, in 10 us a row, while writers wait. */
const movedMax = 100_000;
/** Statements of ours end in milliseconds: what holds a table for longer is most likely a dump, or a person's transaction. */
const lockMs = 100;
/** Others wait while the lock is waited for in vain: after each time it is tried again twice as late, up to a minute. */
const heldPauseMs = { first: 5_000, max: 60_000 };
const adoptEveryMs = 600_000;

/**
 * Every 5 seconds, against the dead rows that vacuum must leave while somebody holds a snapshot: a table of tasks that has many gets a
 * new file; where somebody has the table locked as well, deliveries get another epoch. Every look for work would walk over all of
 * them otherwise, and find less and less.
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

/** Compacts a table once it has dead rows enough; not at once again after somebody held it, or too much of it was alive. */
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

/** Begins another epoch of deliveries once the present one has dead rows enough. */
function createAdvancer(db: Executor, { advanceFrom }: DeadTaskLimits) {
  let known: { epoch: number; deadBefore: number } | undefined;
  return async (dead: number): Promise<void> => {
    // Vacuum or a compaction has been there.
    if (known !== undefined && dead < known.deadBefore) known.deadBefore = 0;
    if (dead - (known?.deadBefore ?? 0) < advanceFrom) return;
    const epoch = await readDeliveryEpoch(db);
    const isOthers = known !== undefined && known.epoch !== epoch;
    const isNew = !isOthers && (await advanceDeliveryEpoch(db, { epoch, rowsMax: movedMax, lockMs }));
    if (isOthers) known = { epoch, deadBefore: dead };
    else if (isNew) known = { epoch: epoch + 1, deadBefore: dead };
  };
}
