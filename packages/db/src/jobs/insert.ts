import type { ProjectId } from "@svc/core";
import { and, eq } from "drizzle-orm";
import { putToolCalls } from "../calls/repo.ts";
import { type Executor, withTransaction } from "../connect.ts";
import { isUniqueViolation } from "../driver.ts";
import { putJobTasks } from "../job-tasks/queue.ts";
import { lockJobQuota, type QuotaReached } from "../projects/quotas.ts";
import { jobPrograms, jobSteps, jobs } from "../schema/jobs.ts";
import { findJobQuotaReached, insertJobBatch, isPlainInsert } from "./insert-batch.ts";
import { appendJobEvents } from "./log.ts";
import type { KeyedJob, NewJob, NewJobProgram } from "./new-job.ts";
import { storedChain } from "./principals.ts";

/**
 * Stores a program, if it is new, and its jobs in one transaction: a live job, and its simulation run if the submission requested one
 * (`simulateFirst`). Returns undefined if the jobs were stored. Otherwise returns the job that already holds the idempotency key, or the
 * quota that is reached. Of concurrent submissions with the same key, only one is stored. Concurrent submissions together cannot exceed the
 * quota.
 */
export async function insertJobs(
  db: Executor,
  program: NewJobProgram,
  newJobs: readonly NewJob[],
  nowMs: number,
): Promise<KeyedJob | QuotaReached | undefined> {
  const insert = { program, newJobs, nowMs };
  if ("begin" in db.sql && isPlainInsert(insert)) {
    return insertJobBatch(db, insert);
  }
  const key = newJobs.find(({ job }) => job.idempotencyKey)?.job.idempotencyKey ?? undefined;
  for (;;) {
    const holder = key === undefined ? undefined : await findKeyedJob(db, program.projectId, key);
    if (holder !== undefined) return holder;
    try {
      return await withTransaction(db, async (tx) => {
        await lockJobQuota(tx, program.projectId);
        const reached = await findJobQuotaReached(tx, program.projectId, newJobs.length);
        if (reached !== undefined) return reached;
        await tx.orm.insert(jobPrograms).values(program).onConflictDoNothing();
        await tx.orm.insert(jobs).values(newJobs.map(({ job }) => ({ ...job, principalChain: storedChain(job) })));
        for (const { job, events, tasks, lease, steps = [], begunCall, also } of newJobs) {
          await appendJobEvents(tx, job.id, events, nowMs);
          const begun = steps.map(({ output, ...step }) => ({
            ...step,
            jobId: job.id,
            output: output && Buffer.from(output),
          }));
          if (begun.length > 0) await tx.orm.insert(jobSteps).values(begun);
          if (begunCall !== undefined) await putToolCalls(tx, [begunCall]);
          await putJobTasks(tx, tasks, lease);
          await also?.(tx);
        }
        return undefined;
      });
    } catch (error) {
      if (!isUniqueViolation(error, "jobs_idempotency_key")) throw error;
    }
  }
}

/** Returns the job that was submitted with an idempotency key; undefined if the project has none with this key. */
export async function findKeyedJob(db: Executor, projectId: ProjectId, key: string): Promise<KeyedJob | undefined> {
  const [row] = await db.orm
    .select({ id: jobs.id, contentDigest: jobs.contentDigest })
    .from(jobs)
    .where(and(eq(jobs.projectId, projectId), eq(jobs.idempotencyKey, key)));
  return row;
}
