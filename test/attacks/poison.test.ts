import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { adminToken, call, type ServerProcess, until } from "@svc/testing/server-process";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  connectDesk,
  createJobsBench,
  type JobAnswer,
  type JobsBench,
  startNode,
  submit,
} from "../crash/jobs-bench.ts";
import { rounds } from "./rounds.ts";

// Tests with a job that ends every node that runs it, and a job whose node hangs. Neither may harm the remaining nodes.

/** Number of leases in a row that a job may lose. */
const lossesMax = 3;
/** Few rounds, because each starts four processes. */
const killRounds = Math.min(rounds, 5);
const timeout = 60_000 + rounds * 20_000;
/** Maximum time to park a job from another node, in milliseconds. It is long because the machine also does other work. */
const parkMsMax = 2_000;

type Entry = { seq: number; type: string; payloadJson: string; principalChain: string[] };
type Seen = { readonly job: JobAnswer; readonly log: readonly Entry[] };

let database: TestDatabase;
let bench: JobsBench;
/** A node that runs no jobs. It parks and releases them for the administrator. */
let desk: ServerProcess;
let projectId: string;
let jobs = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  bench = await createJobsBench(database.url);
  desk = await startNode(bench, { SVC_ROLE: "api" });
  await connectDesk(desk);
  ({ projectId } = await call<{ projectId: string }>(desk, "IdentityService/GetIdentity", {}));
});

afterAll(async () => {
  await desk?.end("SIGKILL");
  await bench?.close();
  await database?.drop();
});

function administer(method: "ParkJob" | "ReleaseJob", jobId: string): Promise<{ job: JobAnswer }> {
  return call(desk, `AdminService/${method}`, { projectId, jobId }, adminToken);
}

async function see(id: string): Promise<Seen> {
  const { job } = await call<{ job: JobAnswer }>(desk, "JobsService/GetJob", { id });
  const { events } = await call<{ events: Entry[] }>(desk, "JobsService/ListJobEvents", { jobId: id });
  return { job, log: events };
}

async function reach(id: string, status: string): Promise<Seen> {
  let seen = await see(id);
  const reached = async () => {
    seen = await see(id);
    return seen.job.status === `JOB_STATUS_${status}`;
  };
  await until(reached, 40_000, status).catch((error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(seen.job)}`);
  });
  return seen;
}

/** Returns every change of status: the new status, the reason and the cause. */
function movesOf({ log }: Seen): (readonly [string, string, string | undefined])[] {
  return log.flatMap(({ type, payloadJson, principalChain }) => {
    if (type !== "job-status-changed") return [];
    const { to, reason } = JSON.parse(payloadJson) as { to: string; reason: string };
    return [[to, reason, principalChain.at(-1)] as const];
  });
}

test("a node that hangs in a job is relieved of it at once by another, and writes nothing when it goes on", {
  timeout,
}, async () => {
  const driving = await startNode(bench, { SVC_LOG_LEVEL: "info" });
  let lost = 0;
  for (let round = 0; round < rounds; round++) {
    const tag = `hang${++jobs}`;
    bench.provider.latencyMs = 500;
    const id = await submit(desk, "write", tag);
    const arrived = () => bench.provider.seen.filter(({ text }) => text.startsWith(`${tag}/`)).length;
    await until(() => arrived() === 1);
    driving.process.kill("SIGSTOP");
    const startedMs = performance.now();
    const { job } = await administer("ParkJob", id);
    expect(performance.now() - startedMs).toBeLessThan(parkMsMax);
    expect(job).toMatchObject({ status: "JOB_STATUS_PARKED", park: { reason: "administrator", stepId: "one" } });
    await expect(administer("ParkJob", id)).rejects.toThrow(/JOB_NOT_PARKABLE|is parked \(administrator\)/);
    const parked = await see(id);
    expect(movesOf(parked).at(-1)).toEqual(["parked", "administrator", "administrator"]);
    driving.process.kill("SIGCONT");
    // The node gets the answer of its call. When it tries to commit the answer, it finds that its lease is gone.
    const refusals = () => driving.output().split("a driver found its job parked").length - 1;
    await until(() => refusals() > lost);
    lost = refusals();
    expect(await see(id)).toEqual(parked);
    await administer("ReleaseJob", id);
    const ended = await reach(id, "SUCCEEDED");
    expect(movesOf(ended).map(([to]) => to)).toEqual(["running", "parked", "running", "succeeded"]);
    // The write that the app received was recorded and is not sent again.
    expect(arrived()).toBe(1);
    expect(ended.job.receipt?.calls).toMatchObject({ write: 1 });
  }
  bench.provider.latencyMs = 0;
  await driving.end("SIGTERM");
});

test("a job that kills its node is parked at the third, takes down no fourth, and ends well once it is released", {
  timeout,
}, async () => {
  for (let round = 0; round < killRounds; round++) {
    const tag = `kill${++jobs}`;
    const id = await submit(desk, "write", tag);
    const workers = await Promise.all(Array.from({ length: lossesMax + 1 }, () => bench.worker()));
    const survivor = workers.pop()!;
    for (const worker of [...workers, survivor]) {
      await worker.tell({ arm: { point: "before-call", nth: 1, act: "kill" } });
      await worker.tell({ start: true });
      if (worker !== survivor) await until(() => worker.isDead(), 40_000, "the worker's death");
    }
    const parked = await reach(id, "PARKED");
    expect(parked.job).toMatchObject({
      park: { reason: "poisoned", stepId: "one" },
      lastError: expect.stringMatching(/^JOB_POISONED: /),
    });
    expect(movesOf(parked).at(-1)).toEqual(["parked", "poisoned", "service"]);
    await survivor.tell({ arm: null });
    expect(survivor.isDead()).toBe(false);
    await administer("ReleaseJob", id);
    const ended = await reach(id, "SUCCEEDED");
    expect(ended.job.lastError).toBe("");
    // Each node died before it had committed that the job began.
    expect(movesOf(ended).slice(-3)).toEqual([
      ["queued", "released", "administrator"],
      ["running", "started", expect.any(String)],
      ["succeeded", "finished", expect.any(String)],
    ]);
    expect(bench.provider.seen.filter(({ text }) => text.startsWith(`${tag}/`))).toHaveLength(1);
    await survivor.kill();
  }
});
