import { type Id, type ProjectId, uuidOfId } from "@svc/core";
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

/** A count lasts ten times as long as it took, within these milliseconds: counting takes a tenth of the time at most. */
const lastsMs = { least: 1_000, most: 5_000 };

type Counted = { used: number; readonly untilMs: number };

/** What a node remembers of how many jobs of each project have not ended. */
type CountedJobs = {
  /** That many at most, but for what other nodes have added since they were counted; undefined where they are to be counted. */
  find(projectId: ProjectId): number | undefined;
  /** So many were stored beside those that are known. */
  add(projectId: ProjectId, jobs: number): void;
  /** They were counted: `used`, in a statement that took `tookMs`. */
  keep(projectId: ProjectId, used: number, tookMs: number): void;
};

/**
 * The memory of this process. Who counts walks over what has ended, too, while somebody holds a snapshot that vacuum must keep it for: a
 * count with every batch would take longer from minute to minute.
 */
export const countedJobs: CountedJobs = createCountedJobs(() => performance.now());

/** A memory of its own; `nowMs` is a clock that is never set. */
export function createCountedJobs(nowMs: () => number): CountedJobs {
  const byProject = new Map<ProjectId, Counted>();
  const find = (projectId: ProjectId) => {
    const counted = byProject.get(projectId);
    return counted === undefined || counted.untilMs <= nowMs() ? undefined : counted;
  };
  return {
    find: (projectId) => find(projectId)?.used,
    add(projectId, jobs) {
      const counted = find(projectId);
      if (counted !== undefined) counted.used += jobs;
    },
    keep(projectId, used, tookMs) {
      const lasts = Math.min(Math.max(10 * tookMs, lastsMs.least), lastsMs.most);
      for (const [id, { untilMs }] of byProject) if (untilMs <= nowMs()) byProject.delete(id);
      byProject.set(projectId, { used, untilMs: nowMs() + lasts });
    },
  };
}

/** What is read of a child by the job that runs it. */
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

/** By primary key. */
const selectChildren = statement<RawRow<ChildRecord>>(
  "read_child_jobs",
  `select ${columns.text} from jobs j where j.id = any($1::uuid[])`,
);

/** By primary key, in the order of ids. */
const lockChildren = statement<RawRow<Pick<ChildRecord, "id" | "status" | "park">>>(
  "lock_child_jobs",
  `select ${standing.text} from jobs j where j.id = any($1::uuid[]) order by j.id for no key update`,
);

/** Jobs as those that run them see them; one that is gone is not among them. */
export async function readChildJobs(db: Executor, ids: readonly Id<"job">[]): Promise<ChildRecord[]> {
  return (await selectChildren(db, [arrayLiteral(ids.map(uuidOfId))])).map((row) => columns.read(row));
}

/** Where jobs stand, their rows locked for the rest of the transaction. Lock them before the job that runs them. */
export async function lockChildJobs(
  tx: Executor,
  ids: readonly Id<"job">[],
): Promise<Pick<ChildRecord, "id" | "status" | "park">[]> {
  return (await lockChildren(tx, [arrayLiteral(ids.map(uuidOfId))])).map((row) => standing.read(row));
}

/**
 * Stores jobs that another runs, in the transaction that notes them there. They are a part of a job that was accepted, and count towards
 * no quota. Of two for the same place of the same job the second is refused.
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

/** Sets where a job stands in the one that runs it, and what it may use of that one's limits. */
export async function setChildJob(tx: Executor, jobId: Id<"job">, child: ChildDocument): Promise<void> {
  await tx.orm.update(jobs).set({ child }).where(eq(jobs.id, jobId));
}

/** Stores programs, unless they are there. */
export async function putJobPrograms(tx: Executor, programs: readonly NewJobProgram[]): Promise<void> {
  if (programs.length > 0) await tx.orm.insert(jobPrograms).values(inOrderOfKeys(programs)).onConflictDoNothing();
}
