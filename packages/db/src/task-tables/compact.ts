import { type Executor, withTransaction } from "../connect.ts";
import { statement } from "../sql/statement.ts";

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
export type Compaction = {
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
export async function lockTasks(
  tx: Executor,
  table: TaskTable,
  mode: "access exclusive" | "exclusive",
  lockMs: number,
): Promise<void> {
  await tx.sql.unsafe(`set local lock_timeout = ${lockMs}`);
  await tx.sql.unsafe(`lock table ${table} in ${mode} mode`);
}

/** Whether a statement ended because a lock was not to be had in time. */
export function isLockTimeout(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    if ("code" in cause && cause.code === "55P03") return true;
  }
  return false;
}
