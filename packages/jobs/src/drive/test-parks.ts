import { createHash } from "node:crypto";
import { type Id, uuidOfId } from "@svc/core";
import type { JobReading, TestBench } from "@svc/testing/job-bench";
import { untilMoved } from "@svc/testing/until";
import type { JobEngine } from "./engine.ts";
import type { FaultPoint } from "./observer.ts";
import type { RetryOfJob } from "./start/retry-job.ts";

// Helper functions for tests of jobs that are retried, or that svc or an administrator parked.

/** Cause that the tests write into a job's log when they park the job or release it: the administrator. */
export const administrator = ["administrator"];

/** A program with a single read call. */
export const read = { steps: [{ id: "one", call: "desk.get_item", entity: "ops", args: { id: "x" } }] };

/**
 * Lets a node take over the job and die while it runs the job, `times` times. Each node starts after the earlier node's lease (time-limited
 * right to the job) has expired. The clock moves slowly while a node runs the job: otherwise, on a busy machine, the lease would expire too
 * early.
 */
export async function killDrivers(
  bench: TestBench,
  jobId: Id<"job">,
  { point, times }: { point: FaultPoint; times: number },
): Promise<JobReading> {
  for (let time = 0; time < times; time++) {
    const dead = await ownerOf(bench, jobId);
    let isDead = false;
    void bench.doom(point).then(() => {
      isDead = true;
    });
    let looks = 0;
    await untilMoved(async () => {
      const owner = await ownerOf(bench, jobId);
      const isDriven = owner !== null && owner !== dead;
      if (!isDead && (!isDriven || ++looks % 50 === 0)) bench.clock.advance(1_000);
      return isDead;
    });
  }
  return bench.read(jobId);
}

/** Returns the id of the node that holds the run task of the job, or null. */
async function ownerOf({ db }: TestBench, jobId: Id<"job">): Promise<string | null> {
  const [task] = await db.sql<{ owner: string | null }[]>`
    select lease_owner as owner from job_tasks where job_id = ${uuidOfId(jobId)}::uuid and kind = 'run'`;
  return task?.owner ?? null;
}

/** For tests: moves the clock forward in steps while the engine runs, until the job satisfies the condition. */
export async function goOn(
  bench: TestBench,
  engine: JobEngine,
  jobId: Id<"job">,
  isWanted: (reading: JobReading) => boolean,
): Promise<JobReading> {
  let reading = await bench.read(jobId);
  await untilMoved(async () => {
    reading = await bench.read(jobId);
    if (isWanted(reading)) return true;
    // The clock moves slowly while the engine runs the job. Otherwise, on a busy machine, the job's lease would expire.
    bench.clock.advance(engine.stats().held > 0 ? 100 : 1_000);
    engine.wake();
    return false;
  });
  return reading;
}

/** True if a job is parked (stored as waiting, with no node working on it). */
export const isParked = ({ job }: JobReading): boolean => job.status === "parked";

/** True if a job has ended. */
export const isOver = ({ job }: JobReading): boolean => job.finishedAt !== null;

/** Returns every status change of a job, from its log: old status, new status, reason and cause. */
export function movesOf({ events }: JobReading): unknown[][] {
  return events.flatMap(({ type, payload, chain }) =>
    type === "job-status-changed" ? [[payload["from"], payload["to"], payload["reason"], chain.at(-1)]] : [],
  );
}

/** For tests: retries an ended job, as the API method RetryJob does for a key that may retry it. */
export function retry(bench: TestBench, engine: JobEngine, jobId: Id<"job">, changes: Partial<RetryOfJob> = {}) {
  return engine.retry({
    jobId,
    projectId: bench.projectId,
    keyId: bench.keyId,
    fromStepId: "",
    params: {},
    resendsUnknown: false,
    chain: [`key:${bench.keyId}`],
    idempotencyKey: undefined,
    contentDigest: createHash("sha256")
      .update(JSON.stringify(changes.params ?? {}))
      .digest(),
    checkParams: () => undefined,
    confirmBy: async () => undefined,
    needsApproval: async () => false,
    ...changes,
  });
}
