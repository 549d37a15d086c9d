import { type AuditId, idOfUuid, type ProjectId, type TimeRange } from "@svc/core";
import { and, desc, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { auditEvents } from "../schema/audit.ts";
import type { AuditActor } from "../schema/words.ts";
import { firstUuid, idBounds } from "../sql/newest-in.ts";

/** An entry of the audit log. */
export type AuditEvent = typeof auditEvents.$inferSelect;

/** An entry as it is made, before its deed. */
export type NewAuditEvent = Omit<AuditEvent, "position" | "mac" | "hash" | "outcome"> & { readonly outcome?: string };

/** Stands for the deployment where entries name a project. */
export const deploymentProject: ProjectId = idOfUuid("prj", firstUuid);

/** What entries are looked for by; undefined for all. */
export type AuditFilter = Partial<TimeRange> & {
  readonly projectId?: ProjectId | undefined;
  readonly actor?: { readonly actor: AuditActor; readonly id: string | null } | undefined;
  readonly action?: string | undefined;
};

/** Enters what is about to be done. */
export async function insertAuditEvent(db: Executor, event: NewAuditEvent): Promise<void> {
  await db.orm.insert(auditEvents).values(event);
}

/** Notes the outcome of an entry; one that has its place in the chain stays as it is. */
export async function endAuditEvent(
  db: Executor,
  id: AuditId,
  end: { outcome: string; subject?: string | undefined; projectId?: ProjectId | undefined },
): Promise<void> {
  const { outcome, subject, projectId } = end;
  await db.orm
    .update(auditEvents)
    .set({ outcome, ...(subject !== undefined && { subject }), ...(projectId !== undefined && { projectId }) })
    .where(and(eq(auditEvents.id, id), isNull(auditEvents.position)));
}

/** Entries, newest first, from after `after`. */
export function listAuditEvents(
  db: Executor,
  { projectId, actor, action, ...times }: AuditFilter,
  { after, limit }: { after: AuditId | undefined; limit: number },
): Promise<AuditEvent[]> {
  const { fromUuid, beforeUuid } = idBounds(times, after);
  const conditions: (SQL | undefined)[] = [
    sql`${auditEvents.id} >= ${fromUuid}::uuid`,
    sql`${auditEvents.id} < ${beforeUuid}::uuid`,
    projectId && eq(auditEvents.projectId, projectId),
    action === undefined ? undefined : eq(auditEvents.action, action),
    actor && eq(auditEvents.actor, actor.actor),
    actor?.id ? eq(auditEvents.actorId, actor.id) : undefined,
  ];
  return db.orm
    .select()
    .from(auditEvents)
    .where(and(...conditions))
    .orderBy(desc(auditEvents.id))
    .limit(limit);
}
