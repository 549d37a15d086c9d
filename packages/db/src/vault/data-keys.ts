import type { DataKeyUse, KeyScope, ProjectId } from "@svc/core";
import { eq, inArray, isNull, type SQL, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { dataKeys, projects } from "../schema/index.ts";

/** A data key (it encrypts stored values of a project or of the deployment) as stored. `wrapped`: the key, encrypted with a vault key. */
export type DataKeyRow = {
  readonly number: number;
  readonly scope: KeyScope;
  readonly use: DataKeyUse;
  readonly rotation: number;
  readonly wrapped: Buffer;
};

/** A data key to store, with all columns except its number, which the database assigns. */
export type NewDataKey = Omit<DataKeyRow, "number">;

const columns = {
  number: dataKeys.number,
  projectId: dataKeys.projectId,
  use: dataKeys.use,
  rotation: dataKeys.rotation,
  wrapped: dataKeys.wrapped,
};

const rowsMax = 1_000;

/**
 * Returns at most 1,000 data keys of the deployment and of all projects, in the order of their numbers, beginning after the number `after`.
 */
export async function listDataKeys(db: Executor, after: number): Promise<DataKeyRow[]> {
  const rows = await db.orm
    .select(columns)
    .from(dataKeys)
    .where(sql`${dataKeys.number} > ${after}`)
    .orderBy(dataKeys.number)
    .limit(rowsMax);
  return rows.map(rowOf);
}

/** Returns the data keys (encryption keys) of the given scopes. A scope is one project, or the deployment itself. */
export async function findDataKeys(db: Executor, scopes: readonly KeyScope[]): Promise<DataKeyRow[]> {
  const ids = scopes.filter((scope): scope is ProjectId => scope !== "deployment");
  const ofProjects =
    ids.length === 0 ? [] : await db.orm.select(columns).from(dataKeys).where(inArray(dataKeys.projectId, ids));
  const own = scopes.includes("deployment")
    ? await db.orm.select(columns).from(dataKeys).where(isNull(dataKeys.projectId))
    : [];
  return [...ofProjects, ...own].map(rowOf);
}

/** Returns the numbers of all stored data keys. A node compares them with the data keys in its memory, to find keys that were deleted. */
export async function listDataKeyNumbers(db: Executor): Promise<Set<number>> {
  const rows = await db.orm.select({ number: dataKeys.number }).from(dataKeys);
  return new Set(rows.map(({ number }) => number));
}

/**
 * Stores data keys. If a data key of the same scope (project or deployment) and `use` was already made for the same vault key rotation, the
 * new one is not stored. Keys of deleted projects are not stored.
 */
export async function putDataKeys(db: Executor, keys: readonly NewDataKey[], nowMs: number): Promise<void> {
  const ids = keys.flatMap(({ scope }) => (scope === "deployment" ? [] : [scope]));
  const known =
    ids.length === 0 ? [] : await db.orm.select({ id: projects.id }).from(projects).where(inArray(projects.id, ids));
  const there = new Set<KeyScope>(["deployment", ...known.map(({ id }) => id)]);
  const rows = keys.flatMap(({ scope, ...key }) =>
    there.has(scope) ? [{ ...key, projectId: scope === "deployment" ? null : scope, createdAt: nowMs }] : [],
  );
  if (rows.length > 0) await db.orm.insert(dataKeys).values(rows).onConflictDoNothing();
}

/** Replaces the encrypted form of a data key, after the data key was encrypted with another vault key. */
export async function rewrapDataKey(db: Executor, number: number, wrapped: Buffer): Promise<void> {
  await db.orm.update(dataKeys).set({ wrapped }).where(eq(dataKeys.number, number));
}

/**
 * Deletes the data keys with the use `seal` (encryption) that a rotation of the vault key has replaced: those numbered up to
 * `lastOldNumber`. A data key is deleted only if its owner (a project, or the deployment) has a newer one. The caller's transaction has
 * locked the table (`lockDataKeys`), so that no data key is created meanwhile.
 */
export async function removeReplacedDataKeys(db: Executor, lastOldNumber: number): Promise<void> {
  const isReplaced = (scope: SQL) =>
    sql`exists (select from data_keys n where ${scope} and n.use = 'seal' and n.number > ${lastOldNumber} offset 0)`;
  await db.orm.execute(sql`delete from data_keys k where k.use = 'seal' and k.number <= ${lastOldNumber}
    and case when k.project_id is null then ${isReplaced(sql`n.project_id is null`)} else ${isReplaced(sql`n.project_id = k.project_id`)} end`);
}

/** Locks the table of data keys, so that no data key is created until the end of the transaction. */
export async function lockDataKeys(tx: Executor): Promise<void> {
  await tx.orm.execute(sql`lock table data_keys in exclusive mode`);
}

/**
 * Deletes the data keys of a project, in the transaction that deletes the project. Values sealed with these keys can never be opened again,
 * even if some rows are left. Nodes remove these keys from their memory within seconds.
 */
export async function destroyDataKeys(db: Executor, projectId: ProjectId): Promise<void> {
  await db.orm.delete(dataKeys).where(eq(dataKeys.projectId, projectId));
}

function rowOf({ projectId, ...row }: Omit<DataKeyRow, "scope"> & { projectId: ProjectId | null }): DataKeyRow {
  return { ...row, scope: projectId ?? "deployment" };
}
