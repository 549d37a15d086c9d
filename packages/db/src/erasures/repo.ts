import { createId, type ErasureId, type ProjectId } from "@svc/core";
import { and, eq, getTableName, isNull, lte, or } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { exportEntity } from "../entity-export/walk.ts";
import { erasedTables, type NamedEntity } from "../schema/erased-tables.ts";
import { apiKeys, erasures } from "../schema/index.ts";
import { keyColumns } from "../schema/sealed-columns.ts";

/** An erasure: the deletion of all data of an entity (customer or user) or a project. It may be running or done. */
export type Erasure = typeof erasures.$inferSelect;

/**
 * Target of an erasure (the deletion of all data): an entity of a project, which is a customer or user. If `entityId` is undefined, the
 * target is the whole project.
 */
type ErasureTarget = { readonly projectId: ProjectId; readonly entityId: string | undefined };

/**
 * Begins an erasure (the deletion of all data) of an entity (customer or user) or a project, unless an erasure of the same target is
 * running. In the same transaction, revokes all keys of the project, or those that are limited to the entity. Returns the new or running
 * erasure.
 */
export function beginErasure(
  db: Executor,
  { projectId, entityId }: ErasureTarget,
  { nowMs }: { nowMs: number },
): Promise<Erasure> {
  return withTransaction(db, async (tx) => {
    const kind = entityId === undefined ? "project" : "entity";
    const named = entityId ?? "";
    await tx.orm
      .insert(erasures)
      .values({
        ...{ id: createId("ers", nowMs), projectId, kind, entityId: named },
        ...{ state: "running", counts: {}, createdAt: nowMs },
      })
      .onConflictDoNothing();
    const ofEntity = entityId === undefined ? undefined : eq(apiKeys.entityId, entityId);
    await tx.orm
      .update(apiKeys)
      .set({ revokedAt: nowMs })
      .where(and(eq(apiKeys.projectId, projectId), ofEntity, isNull(apiKeys.revokedAt)));
    const [row] = await tx.orm
      .select()
      .from(erasures)
      .where(and(eq(erasures.projectId, projectId), eq(erasures.entityId, named), isNull(erasures.finishedAt)));
    if (row === undefined) throw new Error("an erasure ended while it was begun");
    return row;
  });
}

/** Returns the erasure with this id, if it exists. */
export async function findErasure(db: Executor, id: ErasureId): Promise<Erasure | undefined> {
  const [row] = await db.orm.select().from(erasures).where(eq(erasures.id, id));
  return row;
}

/**
 * Returns true if an erasure has work that is due now; otherwise false. Uses the index erasures_unfinished, because every node calls this
 * every few seconds.
 */
export async function hasDueErasure(db: Executor, nowMs: number): Promise<boolean> {
  const [row] = await db.orm.select({ id: erasures.id }).from(erasures).where(isDue(nowMs)).limit(1);
  return row !== undefined;
}

/**
 * Locks the oldest erasure that has due work and that no other transaction has locked, and returns it. Undefined if there is none. The lock
 * lasts until the end of the transaction.
 */
export async function takeErasure(tx: Executor, nowMs: number): Promise<Erasure | undefined> {
  const [row] = await tx.orm
    .select()
    .from(erasures)
    .where(isDue(nowMs))
    .orderBy(erasures.id)
    .limit(1)
    .for("update", { skipLocked: true });
  return row;
}

function isDue(nowMs: number) {
  return and(isNull(erasures.finishedAt), or(isNull(erasures.notBefore), lte(erasures.notBefore, nowMs)));
}

/** Numbers of rows that an erasure would delete, by table. `samples`: ids of up to five of these rows per table. */
type ErasurePreview = {
  readonly counts: Readonly<Record<string, number>>;
  readonly samples: readonly { readonly table: string; readonly ids: readonly string[] }[];
  /** True if the scan stopped before its end, so that the real numbers may be higher. */
  readonly isPartial: boolean;
};

const samplesMax = 5;

/**
 * Returns how many rows of each table an erasure of the entity (a customer or user) would delete now. Changes nothing. Scans page by page,
 * and stops when `goesOn()` returns false.
 */
export async function previewErasure(
  db: Executor,
  { projectId, entityId }: NamedEntity,
  goesOn: () => boolean,
): Promise<ErasurePreview> {
  const counts: Record<string, number> = {};
  const ids = new Map<string, string[]>();
  const result = (isPartial: boolean) => {
    return { counts, samples: [...ids].map(([table, samples]) => ({ table, ids: samples })), isPartial };
  };
  for await (const { table, rows } of exportEntity(db, { projectId, entityId, isErased: true })) {
    counts[table] = (counts[table] ?? 0) + rows.length;
    const samples = ids.get(table) ?? [];
    const wanted = rows.slice(0, samplesMax - samples.length);
    samples.push(...wanted.flatMap(({ values }) => idOf(table, values)));
    if (samples.length > 0) ids.set(table, samples);
    if (!goesOn()) return result(true);
  }
  return result(false);
}

/** Returns a list with a row's key, without the project. The list is empty if a part of the key is secret, such as a digest. */
function idOf(name: string, values: Readonly<Record<string, unknown>>): string[] {
  const erased = erasedTables.find(({ table }) => getTableName(table) === name);
  const keys = erased === undefined ? [] : keyColumns(erased.table).filter((column) => column.name !== "project_id");
  const parts = keys.map((column) => values[column.name]);
  return parts.length === 0 || parts.includes(undefined) ? [] : [parts.join("/")];
}

/**
 * Returns the tables in which an erasure of this kind does not look for rows, with the reasons. For kind `project`, tables with a project in
 * every row are not listed, because their rows are deleted with the project.
 */
export function unsearchedTables(kind: "entity" | "project"): { place: string; reason: string }[] {
  return erasedTables.flatMap(({ table, entity, project }) => {
    if (typeof entity !== "object" || !("none" in entity) || entity.notSearched === undefined) return [];
    return kind === "project" && project?.notNull === true
      ? []
      : [{ place: getTableName(table), reason: entity.notSearched }];
  });
}
