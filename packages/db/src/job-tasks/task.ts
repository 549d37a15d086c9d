import type { NodeId } from "@svc/core";
import { jobTasks } from "../schema/jobs.ts";
import { fieldsBut, fieldsOf, type NewRow, type Row, type ValuesOf } from "../sql/codec.ts";
import { rows, selectList } from "../sql/select-list.ts";

/** Names one task and the lease it is held under. Every write of its holder states it, and is refused once it is another's. */
export type JobTaskLease = Readonly<Row<typeof jobTasks, "jobId" | "kind" | "subject" | "leaseToken">>;

/** A lease's columns of `job_tasks t`. */
export const leaseColumns = selectList(jobTasks, ["jobId", "kind", "subject", "leaseToken"], "t");

/** Leases as rows of a statement's parameters. */
export const leaseRows = rows(fieldsOf(jobTasks, "jobId", "kind", "subject", "leaseToken"));

/** Whether a row `t` of job_tasks is still held under a lease `i` of `leaseRows`. */
export const isHeld =
  "t.job_id = i.job_id and t.kind = i.kind and t.subject = i.subject and t.lease_token = i.lease_token";

/** Work that is to become due. */
export type NewJobTask = NewRow<typeof jobTasks, "jobId" | "kind" | "subject" | "projectId" | "dueAt">;

/** Who holds a task from the moment that it is stored, and until when. Its lease token is 1, and this is the first attempt. */
export type FirstLease = { readonly owner: NodeId; readonly untilMs: number };

const leasedTaskFields = fieldsBut(jobTasks, "losses");

/** New tasks as rows of a statement's parameters, each of which may be leased from its beginning. */
export const leasedTaskRows = rows(leasedTaskFields);

/** A new task as a row of `leasedTaskRows`. */
export function leasedTaskRow(task: NewJobTask, lease: FirstLease | undefined): ValuesOf<typeof leasedTaskFields> {
  const claims = lease === undefined ? 0 : 1;
  return { ...task, attempt: claims, leaseToken: claims, leaseOwner: lease?.owner, leaseUntil: lease?.untilMs };
}
