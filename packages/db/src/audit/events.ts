import { type AuditId, idOfUuid, type ProjectId } from "@svc/core";
import { and, eq, isNull } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { auditEvents } from "../schema/audit.ts";
import { firstUuid } from "../sql/newest-in.ts";

/** An entry of the audit log. */
export type AuditEvent = typeof auditEvents.$inferSelect;

/** An entry as it is made, before its deed. */
export type NewAuditEvent = Omit<AuditEvent, "position" | "mac" | "hash" | "outcome"> & { readonly outcome?: string };

/** Stands for the deployment where entries name a project. */
export const deploymentProject: ProjectId = idOfUuid("prj", firstUuid);

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
