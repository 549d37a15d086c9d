import { type AuditId, idOfUuid, type ProjectId, type TimeRange, uuidOfId } from "@svc/core";
import { and, eq, isNull } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { auditEvents } from "../schema/projects.ts";
import type { AuditActor } from "../schema/words.ts";
import { namesBut } from "../sql/codec.ts";
import { firstUuid, idBounds, newestIn, pageStatement, valuesIn } from "../sql/newest-in.ts";
import { selectList } from "../sql/select-list.ts";

/** An entry of the audit log. */
export type AuditEvent = typeof auditEvents.$inferSelect;

/** An audit entry that is stored before its action begins. Its position in the audit log is set later. */
type NewAuditEvent = Omit<AuditEvent, "position" | "mac" | "hash" | "outcome"> & { readonly outcome?: string };

/** Id that audit entries about the whole deployment have in place of a project's id. */
export const deploymentProject: ProjectId = idOfUuid("prj", firstUuid);

/** Stores an audit entry for an action that is about to begin. The action's outcome is stored later. */
export async function insertAuditEvent(db: Executor, event: NewAuditEvent): Promise<void> {
  await db.orm.insert(auditEvents).values(event);
}

/** Stores the outcome of an audit log entry. Does not change an entry that already has a position in its project's chain of entries. */
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

/** Filter of audit entries. A field that is undefined does not filter. */
export type AuditFilter = Partial<TimeRange> & {
  readonly projectId?: ProjectId | undefined;
  readonly actor?: { readonly actor: AuditActor; readonly id: string | null } | undefined;
  readonly action?: string | undefined;
};

const page = { table: "audit_events", columns: selectList(auditEvents, namesBut(auditEvents), "e"), as: "e" };
const actorKey = "(actor || coalesce(actor_id::text, ''))";
const from = "$1::uuid";

/** Finds the newest audit entries, without a filter by project, action or actor. Uses the primary key of audit_events. */
const selectAll = pageStatement("list_audit_events", {
  ...page,
  found: newestIn("audit_events", { key: {}, from }),
});

/** Finds the entries with one action by the index audit_events_action. */
const selectOfAction = pageStatement("list_audit_events_of_action", {
  ...page,
  found: newestIn("audit_events", { key: { action: "$4::text" }, from }),
});

/**
 * Finds the newest audit entries of one project, optionally with one action. Reads one range of the index audit_events_project for the
 * requested action. Without a requested action, reads one range for each action that occurs in the project.
 */
const selectOfProject = pageStatement("list_audit_events_of_project", {
  ...page,
  found: `select f.id from actions a cross join lateral (${newestIn("audit_events", {
    key: { project_id: "$4::uuid", action: "a.value" },
    from,
  })}) f where a.value <> ''`,
  given: valuesIn("audit_events", "actions", { key: { project_id: "$4::uuid" }, column: "action", only: "$5::text" }),
});

/**
 * SQL that finds the projects and actions of an actor. Each is found by one index lookup in audit_events_actor. The query then keeps the
 * requested projects and actions.
 */
const places = `places(project_id, action) as (
    select '${firstUuid}'::uuid, ''::text
    union all
    select n.project_id, n.action from places p cross join lateral (
      select project_id, action from audit_events
      where (${actorKey}, project_id, action) > ($4::text, p.project_id, p.action) and ${actorKey} <= $4::text
      order by ${actorKey}, project_id, action limit 1) n)`;

/** Finds the entries of one actor by the index audit_events_actor. */
const selectOfActor = pageStatement("list_audit_events_of_actor", {
  ...page,
  found: `select f.id from places p cross join lateral (${newestIn("audit_events", {
    key: { [actorKey]: "$4::text", project_id: "p.project_id", action: "p.action" },
    from,
  })}) f where p.action <> '' and ($5::text = '' or p.action = $5::text) and ($6::uuid is null or p.project_id = $6::uuid)`,
  given: places,
});

/**
 * Returns a page of audit entries that match the filter, newest first. `after`: id of the last entry of the previous page; undefined for the
 * first page. `limit`: maximum number of entries.
 */
export function listAuditEvents(
  db: Executor,
  { projectId, actor, action = "", ...times }: AuditFilter,
  { after, limit }: { after: AuditId | undefined; limit: number },
): Promise<AuditEvent[]> {
  const { fromUuid, beforeUuid } = idBounds(times, after);
  const place = [fromUuid, beforeUuid, limit];
  const project = projectId === undefined ? null : uuidOfId(projectId);
  if (actor !== undefined) return selectOfActor(db, [...place, `${actor.actor}${actor.id ?? ""}`, action, project]);
  if (project !== null) return selectOfProject(db, [...place, project, action]);
  return action === "" ? selectAll(db, place) : selectOfAction(db, [...place, action]);
}
