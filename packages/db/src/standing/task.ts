import { dueTasks } from "../schema/standing.ts";
import { fieldsOf, type NewRow, type Row } from "../sql/codec.ts";
import { rows } from "../sql/parts.ts";

/** Names one due task and the lease it is held under. */
export type DueTaskLease = Readonly<Row<typeof dueTasks, "ownerId" | "kind" | "subject" | "leaseToken">>;

/** Leases as rows of a statement's parameters. */
export const dueLeaseRows = rows(fieldsOf(dueTasks, "ownerId", "kind", "subject", "leaseToken"));

/** Whether a row `t` of due_tasks is still held under a lease `i` of `dueLeaseRows`: one that was given back is not. */
export const isDueTaskHeld =
  "t.owner_id = i.owner_id and t.kind = i.kind and t.subject = i.subject and t.lease_token = i.lease_token and t.lease_owner is not null";

/** Work that is to become due. */
export type NewDueTask = NewRow<typeof dueTasks, "ownerId" | "kind" | "subject" | "projectId" | "dueAt">;

/** New tasks as rows of a statement's parameters. */
export const newDueTaskRows = rows(fieldsOf(dueTasks, "ownerId", "kind", "subject", "projectId", "dueAt"));
