import { createId, type ProjectId } from "@svc/core";
import { toolCallsForProject } from "@svc/db/calls/repo";
import type { Database } from "@svc/db/connect";
import { loadJob } from "@svc/db/jobs/load";
import { createProject } from "@svc/db/projects/repo";
import { JobsService } from "@svc/gen/jobs";
import { catalogOf } from "@svc/testing/catalog";
import { createTestClock } from "@svc/testing/clock";
import { createTestDatabase } from "@svc/testing/database";
import { connectDesk, createWorld, desk, type World } from "@svc/testing/desk";
import { createTestNode, type TestNode, type TestParts, testSealer } from "@svc/testing/node";
import { until } from "@svc/testing/until";
import { expect, test } from "vitest";

const catalog = catalogOf({ toolkits: [desk] });

async function setUp() {
  const database = await createTestDatabase();
  const { db } = database;
  const world = createWorld();
  const clock = createTestClock();
  const { id: projectId } = await createProject(db, "desk", clock.now());
  await connectDesk(db, testSealer, projectId, clock.now());
  const node = (changes: TestParts = {}) =>
    createTestNode(db, { clock, catalog, transport: world.transport, sandboxMode: "force", ...changes });
  return { db, world, clock, projectId, node, [Symbol.asyncDispose]: database.drop };
}

/** Calls a tool of the test app. `world` contains the call when the app has received it. */
function sendNote({ apps }: TestNode, projectId: ProjectId) {
  return apps.caller.call({
    caller: { projectId, keyId: createId("key", 1) },
    toolSlug: "desk.send_note",
    args: { text: "hello" },
    entityId: "ops",
    accountId: undefined,
    idempotencyKey: undefined,
    isDryRun: false,
  });
}

/** Returns the calls of a project in the ledger. */
function callsOf(db: Database, projectId: ProjectId) {
  const all = { toolSlug: undefined, entityId: undefined, outcome: undefined, sinceMs: undefined, untilMs: undefined };
  return toolCallsForProject(db, projectId).list(all, { after: undefined, limit: 10 });
}

/** Holds back the app's answers until the returned function is called. */
function holdAnswers(world: World): () => void {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  world.script = () => promise;
  return () => resolve(undefined);
}

test("a node works only with the engines that its parts name: a job waits until one has them", async () => {
  await using parts = await setUp();
  const { db, projectId, node } = parts;
  await using idle = node();
  const program = {
    version: 1,
    title: "Read",
    steps: [{ id: "get", call: "desk.get_item", entity: "ops", args: { id: "i1" } }],
  };
  const client = idle.client(JobsService, { projectId });
  const { job } = await client.submitJob({ programJson: JSON.stringify({ ...program, result: {} }) });
  const id = job?.id as Parameters<typeof loadJob>[1];
  const status = async () => (await loadJob(db, id))?.status;
  expect([await status(), parts.clock.waiting()]).toEqual(["queued", 0]);
  await using _ = node({ engines: ["jobs"] });
  await until(async () => (await status()) === "succeeded");
});

test("a node that runs no jobs with rows tells of one, so that another node begins it at once", async () => {
  await using parts = await setUp();
  const { db, projectId, node } = parts;
  await using rows = node({ engines: ["jobs"] });
  // The clock does not move, so the other node would never look again without a notice.
  await until(() => parts.clock.waiting() > 0);
  const told: number[] = [];
  const onDueElsewhere = () => {
    told.push(told.length);
    rows.wake();
  };
  await using requests = node({ engines: ["shortJobs"], onDueElsewhere });
  const client = requests.client(JobsService, { projectId });
  const submit = async (steps: readonly object[]) => {
    const programJson = JSON.stringify({ version: 1, title: "Read", steps, result: {} });
    const { job } = await client.submitJob({ programJson });
    const id = job?.id as Parameters<typeof loadJob>[1];
    await until(async () => (await loadJob(db, id))?.status === "succeeded");
  };
  await submit([{ id: "get", call: "desk.get_item", entity: "ops", args: { id: "i1" } }]);
  expect(told).toEqual([]);
  const page = { arg: "page", from: "next", max: 5 };
  const fetch = { from: "items[]", key: "id", keep: ["id"], page };
  await submit([{ id: "items", call: "desk.list_items", entity: "ops", rows: fetch }]);
  expect(told.length).toBeGreaterThan(0);
});

test("retention sweeps events, calls, rows of jobs and jobs, each by its own time, and goes on where one fails", async () => {
  await using parts = await setUp();
  const { db, clock, projectId, node } = parts;
  const day = 86_400_000;
  const limits = { retention: { eventsMs: day, callsMs: day, jobRowsMs: day, jobsMs: day } };
  await using sweeping = node({ engines: ["retention"], limits });
  await sendNote(sweeping, projectId);
  const calls = async () => (await callsOf(db, projectId)).length;
  await until(() => clock.waiting() === 18);
  expect(await calls()).toBe(1);
  await db.sql`alter table events rename to events_away`;
  await db.sql`alter table jobs rename to jobs_away`;
  clock.advance(2 * day);
  await until(async () => (await calls()) === 0 && sweeping.told.failures.length > 2);
  expect(new Set(sweeping.told.failures.map(({ what }) => what))).toEqual(new Set(["events", "job rows", "jobs"]));
});

test("a drain waits for what an app was sent, so that its outcome is recorded", async () => {
  await using parts = await setUp();
  const { db, world, projectId, node } = parts;
  await using calling = node();
  const release = holdAnswers(world);
  const called = sendNote(calling, projectId);
  await until(() => world.seen.length === 1);
  let isDrained = false;
  const drained = calling.drain(10_000).then(() => {
    isDrained = true;
  });
  expect(isDrained).toBe(false);
  release();
  expect(await called).toMatchObject({ outcome: "answered" });
  await drained;
  expect(await callsOf(db, projectId)).toMatchObject([{ outcome: "ok" }]);
});

test("a drain gives up after its grace, by the node's clock", async () => {
  await using parts = await setUp();
  const { clock, world, projectId, node } = parts;
  await using calling = node();
  const release = holdAnswers(world);
  const called = sendNote(calling, projectId);
  await until(() => world.seen.length === 1);
  const drained = calling.drain(5_000);
  await until(() => clock.waiting() > 0);
  clock.advance(5_000);
  await drained;
  release();
  await called;
});

test("a node that is drained and closed leaves no loop behind", async () => {
  await using parts = await setUp();
  const { clock, node } = parts;
  const { drain, close } = node({ engines: ["deliveries", "jobs", "renewal", "retention"] });
  await until(() => clock.waiting() > 3);
  await drain(0);
  await close();
  expect(clock.waiting()).toBe(0);
});
