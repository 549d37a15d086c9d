import type { NodeId } from "@svc/core";
import { jobTasks } from "../schema/jobs.ts";
import { fieldsBut, fieldsOf, type NewRow, type Row, type ValuesOf } from "../sql/codec.ts";
import { rows, selectList } from "../sql/select-list.ts";

/**
 * Identifies a task and the lease (time-limited right) under which a node works on it. Every write of the node contains the lease token.
 * The write is refused if another node has claimed the task since then.
 */
export type JobTaskLease = Readonly<Row<typeof jobTasks, "jobId" | "kind" | "subject" | "leaseToken">>;

/** Columns that identify a lease (a node's time-limited right to a task), for statements in which the task's row has the name `t`. */
export const leaseColumns = selectList(jobTasks, ["jobId", "kind", "subject", "leaseToken"], "t");

/** Parameters of a statement for several leases (a node's time-limited rights to tasks): one array for each field. */
export const leaseRows = rows(fieldsOf(jobTasks, "jobId", "kind", "subject", "leaseToken"));

/**
 * SQL condition that a row `t` of job_tasks still has the lease (one node's time-limited right) in row `i` of `leaseRows`. It is false if
 * another node has taken the task since then.
 */
export const isHeld =
  "t.job_id = i.job_id and t.kind = i.kind and t.subject = i.subject and t.lease_token = i.lease_token";

/** A new task of a job: a piece of work, such as running its steps, that a node does when it is due at `dueAt`. */
export type NewJobTask = NewRow<typeof jobTasks, "jobId" | "kind" | "subject" | "projectId" | "dueAt">;

/**
 * Node that holds a new task from its creation on, and the end of its lease (time-limited right to the task). The lease has the token 1,
 * and counts as the task's first attempt.
 */
export type FirstLease = { readonly owner: NodeId; readonly untilMs: number };

const leasedTaskFields = fieldsBut(jobTasks, "losses");

/** Statement parameters for new tasks, as rows. Each row can contain a lease, which gives the task to one node for a limited time. */
export const leasedTaskRows = rows(leasedTaskFields);

/** Returns the column values of a new task. `lease`: gives the new task to a node for a limited time. */
export function leasedTaskRow(task: NewJobTask, lease: FirstLease | undefined): ValuesOf<typeof leasedTaskFields> {
  const claims = lease === undefined ? 0 : 1;
  return { ...task, attempt: claims, leaseToken: claims, leaseOwner: lease?.owner, leaseUntil: lease?.untilMs };
}
