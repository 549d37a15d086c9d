import { coreFaults, isoTime, type NodeId, type ProjectId, uuidOfId } from "@svc/core";
import { and, eq, getTableName, inArray, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { touchRouting } from "../projects/repo.ts";
import {
  accountReferences,
  connectedAccounts,
  deliveryTasks,
  dueTasks,
  erasures,
  jobTasks,
  projects,
  standingArrivals,
} from "../schema/index.ts";
import type { ProjectHold } from "../schema/words.ts";

/** A project as a move sees it. */
export type MovedProject = {
  readonly id: ProjectId;
  readonly name: string;
  readonly hold: ProjectHold;
  readonly movedTo: string;
};

/** End of the leases with which a move holds the tasks of a project. No node has such a lease, so it marks them. */
const heldUntil = sql.raw(`'9999-12-31T00:00:00Z'::timestamptz`);

/**
 * Returns the project with this id or name, and the state of its move to another deployment. Undefined if this deployment has no such
 * project.
 */
export async function findMovedProject(
  db: Executor,
  wanted: { readonly id: ProjectId } | { readonly name: string },
): Promise<MovedProject | undefined> {
  const { id, name, hold, movedTo } = projects;
  const isWanted = "id" in wanted ? eq(id, wanted.id) : eq(name, wanted.name);
  const [row] = await db.orm.select({ id, name, hold, movedTo }).from(projects).where(isWanted);
  return row;
}

/** Returns true if an erasure of the project or of one of its entities is not finished. */
export async function hasOpenErasure(db: Executor, projectId: ProjectId): Promise<boolean> {
  const [row] = await db.orm
    .select({ id: erasures.id })
    .from(erasures)
    .where(and(eq(erasures.projectId, projectId), sql`${erasures.finishedAt} is null`))
    .limit(1);
  return row !== undefined;
}

/**
 * Changes the state of a project's move to `to`, if it is one of the states `from`. Returns true if it was changed. Nodes then read the
 * project's routing again before they store another webhook post, so no post is stored by the old state.
 */
export async function setHold(
  tx: Executor,
  projectId: ProjectId,
  { from, to, movedTo }: { readonly from: readonly ProjectHold[]; readonly to: ProjectHold; readonly movedTo: string },
): Promise<boolean> {
  const version = sql`${projects.routingVersion} + 1`;
  const rows = await tx.orm
    .update(projects)
    .set({ hold: to, movedTo, routingVersion: version, catalogVersion: sql`${projects.catalogVersion} + 1` })
    .where(and(eq(projects.id, projectId), inArray(projects.hold, [...from])))
    .returning({ id: projects.id });
  return rows.length > 0;
}

/** Returns the transactions that write at this moment, without the caller's. When they have ended, their writes are visible. */
export async function writingNow(db: Executor): Promise<Set<string>> {
  const rows = await db.orm.execute<{ name: string }>(sql`select distinct virtualtransaction as name from pg_locks
    where locktype = 'relation' and mode = 'RowExclusiveLock' and granted and pid <> pg_backend_pid()
      and database = (select oid from pg_database where datname = current_database())`);
  return new Set(rows.map(({ name }) => name));
}

/** The numbers of a project's tasks that nodes still work on, by name of the task table. */
export type BusyTasks = Readonly<Record<string, number>>;

/**
 * Takes all tasks of a project that no node works on, so that none of them starts during a move. `force`: also takes tasks of jobs,
 * deliveries and schedules from their nodes; except outcomes of tool calls, their work is done again. Returns the tasks that nodes still
 * have.
 */
export function holdTasks(
  db: Executor,
  projectId: ProjectId,
  { owner, force }: { readonly owner: NodeId; readonly force: boolean },
): Promise<BusyTasks> {
  return withTransaction(db, async (tx) => {
    const id = uuidOfId(projectId);
    const mover = sql`${uuidOfId(owner)}::uuid`;
    // Whoever writes a task of a job locks the job first.
    await tx.orm.execute(sql`select id from jobs where id = any(array(select job_id from ${jobTasks}
      where project_id = ${id}::uuid and ${isNotHeld})) order by id for no key update`);
    const isTaken = force ? isNotHeld : isFree;
    for (const table of [jobTasks, dueTasks, standingArrivals])
      await tx.orm.execute(sql`update ${table} set lease_owner = ${mover}, lease_until = ${heldUntil}, lease_token = lease_token + 1
        where project_id = ${id}::uuid and ${isTaken}`);
    await tx.orm.execute(sql`update ${deliveryTasks} set lease_owner = ${mover}, lease_until = ${heldUntil}
      where project_id = ${id}::uuid and ${isTaken}`);
    await tx.orm.execute(sql`update ${connectedAccounts} set refresh_lease_until = ${heldUntil}
      where project_id = ${id}::uuid and (refresh_lease_until is null or refresh_lease_until <= now())`);
    return busyTasks(tx, id);
  });
}

const isFree = sql`(lease_until is null or lease_until <= now())`;
const isNotHeld = sql`(lease_until is null or lease_until < ${heldUntil})`;

async function busyTasks(tx: Executor, id: string): Promise<BusyTasks> {
  const counts = [jobTasks, dueTasks, standingArrivals, deliveryTasks].map(
    (table) => sql`select ${sql.raw(`'${getTableName(table)}'`)} as name, count(*)::int4 as count from ${table}
      where project_id = ${id}::uuid and ${isNotHeld}`,
  );
  const refreshing = sql`select 'connected_accounts', count(*)::int4 from ${connectedAccounts}
    where project_id = ${id}::uuid and (refresh_lease_until is null or refresh_lease_until < ${heldUntil})`;
  const calling = sql`select 'tool_calls', count(*)::int4 from tool_calls where project_id = ${id}::uuid and failure is null and outcome = 'running'`;
  const rows = await tx.orm.execute<{ name: string; count: number }>(
    sql.join([...counts, refreshing, calling], sql` union all `),
  );
  return Object.fromEntries(rows.filter(({ count }) => count > 0).map(({ name, count }) => [name, count]));
}

/**
 * Ends the hold of a project, and makes its tasks due again, so that the project works in this deployment. Returns false and changes nothing
 * if the state of its move is not one of `from`.
 */
export function releaseProject(
  db: Executor,
  projectId: ProjectId,
  { from, nowMs }: { readonly from: readonly ProjectHold[]; readonly nowMs: number },
): Promise<boolean> {
  return withTransaction(db, async (tx) => {
    await touchRouting(tx);
    if (!(await setHold(tx, projectId, { from, to: "", movedTo: "" }))) return false;
    const id = uuidOfId(projectId);
    const isHeld = sql`project_id = ${id}::uuid and lease_until = ${heldUntil}`;
    for (const table of [jobTasks, dueTasks, standingArrivals, deliveryTasks])
      await tx.orm.execute(sql`update ${table} set lease_owner = null, lease_until = null where ${isHeld}`);
    await tx.orm.execute(sql`update ${connectedAccounts} set refresh_lease_until = null
      where project_id = ${id}::uuid and refresh_lease_until = ${heldUntil}`);
    // Nodes look for lost calls after this id only, and the project may have brought older ones.
    await tx.orm.execute(sql`update ledger_state set settled_before = least(settled_before, c.first)
      from (select min(id::text)::uuid as first from tool_calls
        where project_id = ${id}::uuid and failure is null and outcome = 'running' and created_at <= ${isoTime(nowMs)}::timestamptz) c
      where ledger_state.id = 1 and c.first is not null`);
    return true;
  });
}

/**
 * Locks the rows of projects until the end of the transaction, so that no move of these projects begins. Rejects with the error
 * PROJECT_MOVING if one of them is already moving.
 */
export async function lockUnheld(tx: Executor, projectIds: readonly ProjectId[]): Promise<void> {
  const rows = await tx.orm
    .select({ hold: projects.hold, movedTo: projects.movedTo })
    .from(projects)
    .where(inArray(projects.id, [...projectIds]))
    .orderBy(projects.id)
    .for("share");
  for (const { hold, movedTo } of rows) if (hold !== "") throw coreFaults.PROJECT_MOVING(hold, movedTo);
}

/**
 * Takes the lock that allows only one move of projects at a time, until the end of the transaction. Returns false if another transaction has
 * the lock.
 */
export async function lockMove(tx: Executor): Promise<boolean> {
  const [row] = await tx.orm.execute<{ locked: boolean }>(
    sql`select pg_try_advisory_xact_lock(hashtextextended('svc projects move', 0)) as locked`,
  );
  return row?.locked === true;
}

/**
 * Returns the number of the project's account references. By these ids, svc finds the account that a webhook post is about, if the app sends
 * the posts of all projects to one address.
 */
export async function countSharedAccounts(db: Executor, projectId: ProjectId): Promise<number> {
  return db.orm.$count(accountReferences, eq(accountReferences.projectId, projectId));
}
