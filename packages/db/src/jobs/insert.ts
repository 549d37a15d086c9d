import type { Id, ProjectId } from "@svc/core";
import { and, eq } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { isUniqueViolation } from "../driver-error.ts";
import { jobPrograms, jobs } from "../schema/jobs.ts";
import { insertJobBatch, isPlainInsert } from "./insert-batch.ts";
import type { JobProgramRecord } from "./load.ts";
import { appendJobEvents } from "./load.ts";
import type { NewJobEvent, NewJobTask } from "./record.ts";
import { putJobTasks } from "./tasks.ts";

/** A job that is to be stored, with the beginning of its log and its first work. */
export type NewJob = {
  readonly job: typeof jobs.$inferInsert;
  readonly events: readonly NewJobEvent[];
  readonly tasks: readonly NewJobTask[];
  /** What else is written in the same transaction, such as the ask of a plan's approval. */
  readonly also?: ((tx: Executor) => Promise<void>) | undefined;
};

/** The job that an idempotency key names already, and the digest of what it was submitted with. */
export type KeyedJob = { readonly id: Id<"job">; readonly contentDigest: Buffer };

/**
 * Stores a program, unless it is there, and its jobs (a live one and, for simulateFirst, its twin) in one transaction. Undefined
 * when stored; else the job that holds the idempotency key, and nothing is stored. Of any number at once one is stored.
 */
export async function insertJobs(
  db: Executor,
  program: JobProgramRecord & { readonly projectId: ProjectId; readonly digest: Buffer },
  newJobs: readonly NewJob[],
  nowMs: number,
): Promise<KeyedJob | undefined> {
  const insert = { program, newJobs, nowMs };
  if ("begin" in db.sql && isPlainInsert(insert)) {
    await insertJobBatch(db, insert);
    return undefined;
  }
  const key = newJobs.find(({ job }) => job.idempotencyKey)?.job.idempotencyKey ?? undefined;
  for (;;) {
    const holder = key === undefined ? undefined : await findKeyedJob(db, program.projectId, key);
    if (holder !== undefined) return holder;
    try {
      await withTransaction(db, async (tx) => {
        await tx.orm.insert(jobPrograms).values(program).onConflictDoNothing();
        await tx.orm.insert(jobs).values(newJobs.map(({ job }) => job));
        for (const { job, events, tasks, also } of newJobs) {
          await appendJobEvents(tx, job.id, events, nowMs);
          await putJobTasks(tx, tasks);
          await also?.(tx);
        }
      });
      return undefined;
    } catch (error) {
      if (!isUniqueViolation(error, "jobs_idempotency_key")) throw error;
    }
  }
}

/** The job that was submitted under an idempotency key. */
export async function findKeyedJob(db: Executor, projectId: ProjectId, key: string): Promise<KeyedJob | undefined> {
  const [row] = await db.orm
    .select({ id: jobs.id, contentDigest: jobs.contentDigest })
    .from(jobs)
    .where(and(eq(jobs.projectId, projectId), eq(jobs.idempotencyKey, key)));
  return row;
}
