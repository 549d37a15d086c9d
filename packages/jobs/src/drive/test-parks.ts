import { createHash } from "node:crypto";
import { type Id, uuidOfId } from "@svc/core";
import type { JobReading, TestBench } from "@svc/testing/job-bench";
import { untilMoved } from "@svc/testing/until";
import type { JobEngine } from "./engine.ts";
import type { FaultPoint } from "./observer.ts";
import type { RetryOfJob } from "./start/retry-job.ts";

// Shared by the tests of jobs that are parked from outside, or retried.

/** The cause of parks and releases in the log. */
export const administrator = ["administrator"];

/** A program with one read. */
export const read = { steps: [{ id: "one", call: "desk.get_item", entity: "ops", args: { id: "x" } }] };

/**
 * Lets a node take over the job and die at a point of it, `times` times, each after the earlier lease has expired. The clock moves slowly
 * while a node runs it, because on a busy machine it would lose its lease before the point.
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

/** Returns the node that holds the job's run, or null. */
async function ownerOf({ db }: TestBench, jobId: Id<"job">): Promise<string | null> {
  const [task] = await db.sql<{ owner: string | null }[]>`
    select lease_owner as owner from job_tasks where job_id = ${uuidOfId(jobId)}::uuid and kind = 'run'`;
  return task?.owner ?? null;
}

/** Moves the clock for an engine until the job is as wanted. */
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
    // Slowly while it runs the job: on a busy machine it would lose its lease.
    bench.clock.advance(engine.stats().held > 0 ? 100 : 1_000);
    engine.wake();
    return false;
  });
  return reading;
}

/** True if a job is parked. */
export const isParked = ({ job }: JobReading): boolean => job.status === "parked";

/** True if a job has ended. */
export const isOver = ({ job }: JobReading): boolean => job.finishedAt !== null;

/** Returns every status change of a job: from, to, reason and cause. */
export function movesOf({ events }: JobReading): unknown[][] {
  return events.flatMap(({ type, payload, chain }) =>
    type === "job-status-changed" ? [[payload["from"], payload["to"], payload["reason"], chain.at(-1)]] : [],
  );
}

/** Retries an ended job as RetryJob does for an allowed key. */
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
