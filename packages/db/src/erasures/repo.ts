import { createId, type ErasureId, type ProjectId } from "@svc/core";
import { and, eq, isNull, lte, or } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { apiKeys, erasures } from "../schema/index.ts";

/** An erasure, under way or done. */
export type Erasure = typeof erasures.$inferSelect;

/** What is to be erased; without an entity all of the project. */
export type ErasureTarget = { readonly projectId: ProjectId; readonly entityId: string | undefined };

/**
 * Begins an erasure, and ends the keys that are bound to the entity, or all of the project, in one transaction. Answers the one that is under way
 * where there is one.
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

/** The erasure with this id, if there is one. */
export async function findErasure(db: Executor, id: ErasureId): Promise<Erasure | undefined> {
  const [row] = await db.orm.select().from(erasures).where(eq(erasures.id, id));
  return row;
}

/** Whether there is something to do for an erasure; by erasures_unfinished, a look every few seconds and node. */
export async function hasDueErasure(db: Executor, nowMs: number): Promise<boolean> {
  const [row] = await db.orm.select({ id: erasures.id }).from(erasures).where(isDue(nowMs)).limit(1);
  return row !== undefined;
}

/** Takes the oldest erasure that something is to be done for, and that no other transaction has, until the end of the transaction. */
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
