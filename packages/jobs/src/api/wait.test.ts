import { createId, type Id } from "@svc/core";
import { JobStatus, JobsService } from "@svc/gen/jobs";
import { catalogOf } from "@svc/testing/catalog";
import { createTestClock } from "@svc/testing/clock";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createWorld, desk } from "@svc/testing/desk";
import { createBenches, sendAll } from "@svc/testing/job-benches";
import { createTestNode, jobOf, programText } from "@svc/testing/jobs-node";
import { createTestNode as createNode } from "@svc/testing/node";
import { ifStep } from "@svc/testing/programs";
import { refusalOf } from "@svc/testing/project-client";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { JobEnd } from "../drive/context.ts";
import { createJobHints } from "./notes.ts";
import { createJobWaits } from "./wait.ts";

let database: TestDatabase;
const benches = createBenches();
beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(benches.stop);
afterAll(async () => {
  await benches.drop();
  await database.drop();
});

const call = (id: string, tool: string, args: object) => ({ id, call: `desk.${tool}`, entity: "ops", args });
const read = call("item", "get_item", { id: "i1" });
const note = call("note", "send_note", { text: "x" });
const asking = {
  steps: [{ id: "gate", judge: "sure" }],
  points: { sure: { question: "Go on?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner" }] } },
};
const ended = (job: { finishedAt?: unknown }) => expect(job.finishedAt).toBeDefined();

/** Creates an app that answers each request only after the test has released it. */
function heldWorld() {
  const world = createWorld();
  const gate = Promise.withResolvers<void>();
  world.script = async () => {
    await gate.promise;
    return undefined;
  };
  return { world, letGo: () => gate.resolve() };
}

test("the answer of a wait is the ended job as GetJob reads it, whatever the job does and however it ends", async () => {
  const world = createWorld({ items: 7, pageSize: 3 });
  await using node = createTestNode(database.db, { world });
  const { client } = await node.project();
  const inputSchema = { type: "object", properties: { token: { type: "string", "x-sensitive": true } } };
  const undo = { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } };
  const fails = { id: "stop", fail: "no use" };
  const programs = [
    { steps: [read], result: { id: { $ref: "steps.item.id" } } },
    { steps: [note], inputSchema, input: { token: "hidden" } },
    sendAll(),
    { steps: [read, ifStep("choose", "steps.item.id == 'i1'", [note], [fails])] },
    { steps: [{ ...note, undo }, fails], saga: { on: ["failed"] } },
    { steps: [call("item", "get_item", { id: "none" })], limits: { deadline: "1h" } },
    { steps: [{ ...read, when: "false" }] },
    { steps: [{ id: "pause", wait: "1s" }, read] },
  ];
  for (const program of programs) {
    const programJson = programText(program);
    for (const more of [
      {},
      { mode: "simulate" },
      { simulateFirst: true },
      { idempotencyKey: `k${programs.indexOf(program)}` },
    ]) {
      const checked = await client.checkProgram({ programJson });
      expect(checked.faults).toEqual([]);
      const job = jobOf(await client.submitJob({ programJson, waitSeconds: 30, ...more }));
      ended(job);
      expect(job).toEqual(jobOf(await client.getJob({ id: job.id })));
      expect(job.programJson).not.toContain("hidden");
      if (!("idempotencyKey" in more)) continue;
      expect(jobOf(await client.submitJob({ programJson, waitSeconds: 30, ...more }))).toEqual(job);
    }
  }
});

test("the end of a job comes from its driver on this node, without a read of the store", async () => {
  const { db } = database;
  const clock = createTestClock();
  const hints = createJobHints();
  const waits = createJobWaits({ db, clock, hints });
  const jobId = createId("job", clock.now());
  const waiting = waits.until({ jobId, waitMs: 1_000, signal: new AbortController().signal, isDriven: true });
  const end = { receipt: {} } as JobEnd;
  hints.notify(jobId, end);
  expect(await waiting).toBe(end);
  expect(clock.waiting()).toBe(0);
});

test("a wait ends when its time is over, with the job as it is, and the job goes on", async () => {
  const { world, letGo } = heldWorld();
  await using node = createTestNode(database.db, { world });
  const { client } = await node.project();
  const job = jobOf(await client.submitJob({ programJson: programText({ steps: [note] }), waitSeconds: 1 }));
  expect(job.status).toBe(JobStatus.RUNNING);
  letGo();
  await node.reach(job.id, "succeeded");
  expect(world.seen).toHaveLength(1);
});

test("a submission with a key of an earlier one waits for that job", async () => {
  const { world, letGo } = heldWorld();
  await using node = createTestNode(database.db, { world });
  const { client } = await node.project();
  const submission = { programJson: programText({ steps: [note] }), idempotencyKey: "once" };
  const first = jobOf(await client.submitJob(submission));
  const waiting = client.submitJob({ ...submission, waitSeconds: 30 });
  letGo();
  const job = jobOf(await waiting);
  expect([job.id, job.status]).toEqual([first.id, JobStatus.SUCCEEDED]);
  expect(world.seen).toHaveLength(1);
});

test("a job that waits for a person or for longer than its caller is answered at once", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  for (const program of [asking, { steps: [{ id: "pause", wait: "1h" }] }]) {
    const job = jobOf(await client.submitJob({ programJson: programText(program), waitSeconds: 30 }));
    expect(job.status).toBe(JobStatus.PARKED);
  }
  const approved = { steps: [note], approval: { plan: "always" } };
  const job = jobOf(await client.submitJob({ programJson: programText(approved), waitSeconds: 30 }));
  expect(job.status).toBe(JobStatus.PENDING_PLAN_APPROVAL);
});

test("a wait of more than 30 s is refused, and nothing is stored", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const submission = { programJson: programText({ steps: [note] }), waitSeconds: 31 };
  expect(await refusalOf(client.submitJob(submission))).toEqual({
    code: "InvalidArgument",
    reason: "WAIT_SECONDS_INVALID",
    field: "waitSeconds",
  });
  expect((await client.listJobs({})).jobs).toEqual([]);
});

test("a caller that leaves ends its wait, and the job goes on", async () => {
  const { world, letGo } = heldWorld();
  await using node = createTestNode(database.db, { world });
  const { client } = await node.project();
  const gone = new AbortController();
  const submission = { programJson: programText({ steps: [note] }), waitSeconds: 30 };
  const waiting = client.submitJob(submission, { signal: gone.signal });
  await until(() => world.seen.length === 1);
  gone.abort();
  await expect(waiting).rejects.toThrow();
  const { jobs } = await client.listJobs({});
  expect(jobs.map(({ status }) => status)).toEqual([JobStatus.RUNNING]);
  letGo();
  await node.reach(jobOf({ job: jobs[0] }).id, "succeeded");
});

test("a node that stops answers its waits at once, with the jobs as they are", async () => {
  const { world, letGo } = heldWorld();
  await using node = createTestNode(database.db, { world });
  const { client } = await node.project();
  const waiting = client.submitJob({ programJson: programText({ steps: [note] }), waitSeconds: 30 });
  await until(() => world.seen.length === 1);
  node.jobs.waits.end();
  const job = jobOf(await waiting);
  expect(job.status).toBe(JobStatus.RUNNING);
  // A wait that begins now also ends at once.
  const late = jobOf(await client.submitJob({ programJson: programText({ steps: [note] }), waitSeconds: 30 }));
  expect(late.finishedAt).toBeUndefined();
  letGo();
  await node.reach(job.id, "succeeded");
});

test("an end on another node is found, whatever the job is there", async () => {
  await using here = createTestNode(database.db, { isStarted: false });
  await using there = createTestNode(database.db, { world: createWorld({ items: 4 }) });
  const { client } = await here.project();
  for (const program of [{ steps: [read] }, sendAll()]) {
    const job = jobOf(await client.submitJob({ programJson: programText(program), waitSeconds: 30 }));
    expect(job.status).toBe(JobStatus.SUCCEEDED);
    expect(job).toEqual(jobOf(await client.getJob({ id: job.id })));
  }
  expect(there.world.seen.length).toBeGreaterThan(0);
});

test.each(["before-commit", "after-commit", "before-call", "after-call"] as const)(
  "the node that drives the job dies at %s: the wait is answered with the job as it is, and the next with its end",
  async (point) => {
    const bench = await benches.bench();
    const { db, clock, world, projectId, keyId } = bench;
    const parts = {
      clock,
      catalog: catalogOf({ toolkits: [desk] }),
      transport: world.transport,
      sandboxMode: "force",
    } as const;
    await using here = createNode(db, parts);
    const client = here.client(JobsService, { projectId, keyId, role: "approver" });
    const keyed = { id: "note", call: "desk.send_keyed", entity: "ops", args: { text: "x" } };
    const submission = { programJson: programText({ steps: [keyed] }), idempotencyKey: "k", waitSeconds: 20 };
    const died = bench.doom(point);
    const first = client.submitJob(submission);
    await movedBy(1_000, died, () => died.engine.stats().held === 0);
    const seen = jobOf(await movedBy(1_000, first));
    expect(seen.finishedAt).toBeUndefined();
    const next = bench.engine();
    const isIdle = () => next.stats().held === 0;
    let job = seen;
    // Each call waits for a shorter time than the lease of the dead node.
    while (job.finishedAt === undefined) job = jobOf(await movedBy(1_000, client.submitJob(submission), isIdle));
    expect([job.id, job.status]).toEqual([seen.id, JobStatus.SUCCEEDED]);
    expect(new Set(world.seen.map(({ key }) => key)).size).toBe(1);

    /**
     * Moves the clock until the promise has settled. `mayPass`: the clock does not move while it returns false. If the clock moved while an
     * engine runs the job, a slow machine would lose the lease.
     */
    async function movedBy<T>(ms: number, promise: Promise<T>, mayPass = () => true): Promise<T> {
      let isSettled = false;
      const settled = promise.finally(() => {
        isSettled = true;
      });
      settled.catch(() => {});
      await untilMoved(() => {
        if (!isSettled && mayPass()) clock.advance(ms);
        return isSettled;
      });
      return settled;
    }
  },
);

test("many waits for one job end together, and leave nothing behind", async () => {
  const { world, letGo } = heldWorld();
  await using node = createTestNode(database.db, { world });
  const { client } = await node.project();
  const submission = { programJson: programText({ steps: [note] }), idempotencyKey: "many", waitSeconds: 30 };
  const waiting = Array.from({ length: 20 }, () => client.submitJob(submission));
  await until(() => world.seen.length === 1);
  letGo();
  const found = new Set((await Promise.all(waiting)).map((answer) => `${jobOf(answer).id} ${jobOf(answer).status}`));
  expect(found.size).toBe(1);
  const id = jobOf(await client.submitJob(submission)).id as Id<"job">;
  expect([...found]).toEqual([`${id} ${JobStatus.SUCCEEDED}`]);
});
