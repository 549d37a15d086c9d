import { type Id, uuidOfId } from "@svc/core";
import { eq } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import type { ChildDocument } from "../documents/jobs.ts";
import { putJobTasks } from "../job-tasks/queue.ts";
import { jobEvents, jobPrograms, jobs } from "../schema/jobs.ts";
import type { Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { logRowsOf } from "./log.ts";
import { inOrderOfKeys, type NewJob, type NewJobProgram } from "./new-job.ts";
import { storedChain } from "./principals.ts";

/** The columns of a child job that its parent job needs, to see how far the child is and to take over its result. */
export type ChildRecord = Readonly<Row<typeof jobs, (typeof names)[number]>>;

const names = [
  "id",
  "status",
  "park",
  "deadlineAt",
  "cancelRequestedAt",
  "used",
  "child",
  "saga",
  "lastError",
  "receipt",
  "finishedAt",
] as const;

const columns = selectList(jobs, names, "j");

const standing = selectList(jobs, ["id", "status", "park"], "j");

/** Reads the columns of child jobs that their parent job needs. Finds them by the primary key of jobs. */
const selectChildren = statement<RawRow<ChildRecord>>(
  "read_child_jobs",
  `select ${columns.text} from jobs j where j.id = any($1::uuid[])`,
);

/** Reads the states of child jobs, and locks their rows in the order of their ids. Finds them by the primary key of jobs. */
const lockChildren = statement<RawRow<Pick<ChildRecord, "id" | "status" | "park">>>(
  "lock_child_jobs",
  `select ${standing.text} from jobs j where j.id = any($1::uuid[]) order by j.id for no key update`,
);

/** Reads child jobs by their ids. Jobs that no longer exist are absent from the result. */
export async function readChildJobs(db: Executor, ids: readonly Id<"job">[]): Promise<ChildRecord[]> {
  return (await selectChildren(db, [arrayLiteral(ids.map(uuidOfId))])).map((row) => columns.read(row));
}

/**
 * Reads the states of child jobs, and locks their rows for the rest of the transaction. Call it before the parent job is locked: all
 * transactions lock in this order, so that they do not deadlock.
 */
export async function lockChildJobs(
  tx: Executor,
  ids: readonly Id<"job">[],
): Promise<Pick<ChildRecord, "id" | "status" | "park">[]> {
  return (await lockChildren(tx, [arrayLiteral(ids.map(uuidOfId))])).map((row) => standing.read(row));
}

/**
 * Stores child jobs, in the transaction that records them in their parent. Child jobs count towards no quota, because they belong to a job
 * that svc already accepted. The database refuses a second child with the same key and the same parent.
 */
export async function insertChildJobs(tx: Executor, newJobs: readonly NewJob[], nowMs: number): Promise<void> {
  if (newJobs.length === 0) return;
  await tx.orm
    .insert(jobs)
    .values(newJobs.map(({ job, events }) => ({ ...job, principalChain: storedChain(job), lastSeq: events.length })));
  const entries = newJobs.flatMap(({ job, events }) => {
    return logRowsOf(events).map(({ principalChain, ...row }) => {
      return { ...row, jobId: job.id, at: nowMs, principalChain: principalChain && [...principalChain] };
    });
  });
  await tx.orm.insert(jobEvents).values(entries);
  await putJobTasks(
    tx,
    newJobs.flatMap(({ tasks }) => tasks),
  );
}

/** Stores the position of a child job in its parent job, and the part of the parent job's limits that the child job may use. */
export async function setChildJob(tx: Executor, jobId: Id<"job">, child: ChildDocument): Promise<void> {
  await tx.orm.update(jobs).set({ child }).where(eq(jobs.id, jobId));
}

/** Stores the programs of new jobs. A program that the project already has is not stored again. */
export async function putJobPrograms(tx: Executor, programs: readonly NewJobProgram[]): Promise<void> {
  if (programs.length > 0) await tx.orm.insert(jobPrograms).values(inOrderOfKeys(programs)).onConflictDoNothing();
}
