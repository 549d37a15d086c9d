import type { Executor } from "../connect.ts";
import { dueTasks } from "../schema/standing.ts";
import { fieldsOf, type NewRow, type Row, timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList, values } from "../sql/select-list.ts";

/** Identifies one due task and the lease (time-limited right) under which a node works on it. */
export type DueTaskLease = Readonly<Row<typeof dueTasks, "ownerId" | "kind" | "subject" | "leaseToken">>;

/**
 * The leases (time-limited rights of one node to work on a task) of due tasks as SQL parameters: one array per column, with one element for
 * each lease.
 */
const dueLeaseRows = rows(fieldsOf(dueTasks, "ownerId", "kind", "subject", "leaseToken"));

/**
 * SQL condition that a lease (a time-limited right of one node to work on a task) still holds its task. `t` is the row of due_tasks, `i` a
 * row with the key and the token of the lease. False after the lease was released or another node took the task.
 */
const isDueTaskHeld =
  "t.owner_id = i.owner_id and t.kind = i.kind and t.subject = i.subject and t.lease_token = i.lease_token and t.lease_owner is not null";

/** A task of a schedule or replay to add: a piece of work that a node does when it is due at `dueAt`. */
export type NewDueTask = NewRow<typeof dueTasks, "ownerId" | "kind" | "subject" | "projectId" | "dueAt">;

/** New tasks as rows of SQL parameters. */
const newDueTaskRows = rows(fieldsOf(dueTasks, "ownerId", "kind", "subject", "projectId", "dueAt"));

const leaseColumns = selectList(dueTasks, ["ownerId", "kind", "subject", "leaseToken"], "t");

/**
 * Locks those tasks whose lease (time-limited right) this node still holds. Locks them in the order of the primary key of `due_tasks`, so
 * that two transactions cannot deadlock.
 */
const holdTasks = compose(
  "hold_due_tasks",
  { leases: dueLeaseRows },
  ({ leases }) => query<RawRow<DueTaskLease>>`
    select ${leaseColumns.text} from ${leases.from("i")} join due_tasks t on ${isDueTaskHeld}
    order by t.owner_id, t.kind, t.subject for update of t`,
);

/**
 * Locks tasks of schedules until the end of the transaction. To avoid deadlocks, lock the standing programs of the tasks first. Returns the
 * leases (time-limited rights) under which this node still holds the tasks.
 */
export async function holdDueTasks(tx: Executor, leases: readonly DueTaskLease[]): Promise<DueTaskLease[]> {
  return (await holdTasks(tx, { leases })).map((row) => leaseColumns.read(row));
}

/** Deletes those of the given tasks that the node still holds. Finds them by the primary key of `due_tasks`. */
const deleteTasks = compose(
  "delete_due_tasks",
  { tasks: dueLeaseRows },
  ({ tasks }) => query`delete from due_tasks t using ${tasks.from("i")} where ${isDueTaskHeld}`,
);

/** Deletes tasks whose leases (time-limited rights to the tasks) this node still has. Tasks that it has lost are not deleted. */
export async function deleteDueTasks(tx: Executor, leases: readonly DueTaskLease[]): Promise<void> {
  if (leases.length > 0) await deleteTasks(tx, { tasks: leases });
}

/** A task whose lease this node has, and its new due time `dueAt` in epoch milliseconds. */
export type DueTaskMove = DueTaskLease & { readonly dueAt: number };

/**
 * Releases tasks of schedules that a node holds under a lease (time-limited right) and sets new due times. Finds the tasks by the primary
 * key of `due_tasks`.
 */
const moveTasks = compose(
  "move_due_tasks",
  { moves: rows(fieldsOf(dueTasks, "ownerId", "kind", "subject", "leaseToken", "dueAt")) },
  ({ moves }) => query`
    update due_tasks t set due_at = i.due_at, attempt = 0, lease_owner = null, lease_until = null
    from ${moves.from("i")} where ${isDueTaskHeld}`,
);

/** Sets the next due times of tasks that this node has claimed, and releases their leases (time-limited claims). */
export async function moveDueTasks(tx: Executor, moves: readonly DueTaskMove[]): Promise<void> {
  if (moves.length > 0) await moveTasks(tx, { moves });
}

/**
 * Releases leases of tasks (a node's time-limited rights to them). It locks the tasks in the order of the primary key, so that two nodes
 * cannot deadlock. Uses the primary key.
 */
const releaseTasks = compose(
  "release_due_tasks",
  { leases: dueLeaseRows, task: values({ dueAtMs: timestamptz }) },
  ({ leases, task }) => query`
    with held as materialized (
      select t.owner_id, t.kind, t.subject from ${leases.from("i")} join due_tasks t on ${isDueTaskHeld}
      order by t.owner_id, t.kind, t.subject for update of t
    )
    update due_tasks t set lease_owner = null, lease_until = null, due_at = greatest(t.due_at, ${task.dueAtMs})
    from held h where t.owner_id = h.owner_id and t.kind = h.kind and t.subject = h.subject`,
);

/**
 * Releases leases of tasks (a node's time-limited rights to them) whose work is not done. The tasks are due again at `dueAtMs`, or at their
 * previous due time if that is later. Ignores leases that the node has lost.
 */
export async function releaseDueTasks(db: Executor, leases: readonly DueTaskLease[], dueAtMs: number): Promise<void> {
  if (leases.length > 0) await releaseTasks(db, { leases, task: { dueAtMs } });
}

/**
 * Adds due tasks, or makes existing ones due earlier. Inserts them in the order of the primary key of due_tasks. So two transactions that
 * add the same tasks lock them in the same order and cannot deadlock.
 */
const putTasks = compose(
  "put_due_tasks",
  { tasks: newDueTaskRows },
  ({ tasks }) => query`insert into due_tasks (${tasks.columns}) select ${tasks.values("i")} from ${tasks.from("i")}
    order by i.owner_id, i.kind, i.subject
    on conflict (owner_id, kind, subject) do update set due_at = least(due_tasks.due_at, excluded.due_at)`,
);

/**
 * Adds due tasks. If a task already exists, it keeps its lease (a node's time-limited right to it). Its due time becomes the new one only
 * if the new one is earlier.
 */
export async function putDueTasks(db: Executor, tasks: readonly NewDueTask[]): Promise<void> {
  if (tasks.length > 0) await putTasks(db, { tasks });
}

/**
 * Extends leases of tasks (a node's time-limited rights to them). It locks the tasks in the order of the primary key, so that two nodes
 * cannot deadlock. Uses the primary key.
 */
const renewTasks = compose(
  "renew_due_tasks",
  { leases: dueLeaseRows, until: values({ leaseUntilMs: timestamptz }) },
  ({ leases, until }) => query<RawRow<DueTaskLease>>`
    with held as materialized (
      select t.owner_id, t.kind, t.subject from ${leases.from("i")} join due_tasks t on ${isDueTaskHeld}
      order by t.owner_id, t.kind, t.subject for update of t
    )
    update due_tasks t set lease_until = ${until.leaseUntilMs} from held h
    where t.owner_id = h.owner_id and t.kind = h.kind and t.subject = h.subject
    returning ${leaseColumns.text}`,
);

/** Extends leases (time-limited rights of one node to work on a task). Returns the leases that this node still holds. */
export async function renewDueTasks(
  db: Executor,
  leases: readonly DueTaskLease[],
  leaseUntilMs: number,
): Promise<DueTaskLease[]> {
  if (leases.length === 0) return [];
  return (await renewTasks(db, { leases, until: { leaseUntilMs } })).map((row) => leaseColumns.read(row));
}
