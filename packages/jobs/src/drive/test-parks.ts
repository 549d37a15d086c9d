import { createHash } from "node:crypto";
import { type Id, uuidOfId } from "@svc/core";
import type { JobReading, TestBench } from "@svc/testing/job-bench";
import { untilMoved } from "@svc/testing/until";
import type { JobEngine } from "./engine.ts";
import type { FaultPoint } from "./observer.ts";
import type { RetryOfJob } from "./start/retry-job.ts";

// What the tests of jobs that are parked from outside, or taken on, share.

/** Who parks and releases, as the log names it. */
export const administrator = ["administrator"];

/** One read. */
export const read = { steps: [{ id: "one", call: "desk.get_item", entity: "ops", args: { id: "x" } }] };

/**
 * A node takes the job over and dies at a point of it, `times` times, each once the lease of the one before has run out. While a node
 * drives it, time passes slowly: on a busy machine it would lose its lease before it comes to the point.
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

/** The node that holds the job's run; null for none. */
async function ownerOf({ db }: TestBench, jobId: Id<"job">): Promise<string | null> {
  const [task] = await db.sql<{ owner: string | null }[]>`
    select lease_owner as owner from job_tasks where job_id = ${uuidOfId(jobId)}::uuid and kind = 'run'`;
  return task?.owner ?? null;
}

/** Lets time pass for an engine until the job is as wanted. */
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
    // Slowly while it drives: on a busy machine it would lose its lease.
    bench.clock.advance(engine.stats().held > 0 ? 100 : 1_000);
    engine.wake();
    return false;
  });
  return reading;
}

/** Whether a job is parked. */
export const isParked = ({ job }: JobReading): boolean => job.status === "parked";

/** Whether a job has ended. */
export const isOver = ({ job }: JobReading): boolean => job.finishedAt !== null;

/** Every change of a job's status: from, to, why and who caused it. */
export function movesOf({ events }: JobReading): unknown[][] {
  return events.flatMap(({ type, payload, chain }) =>
    type === "job-status-changed" ? [[payload["from"], payload["to"], payload["reason"], chain.at(-1)]] : [],
  );
}

/** Takes a job on that ended, as RetryJob does for who may. */
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
