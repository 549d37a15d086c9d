import type { Id } from "@svc/core";
import { createWorld } from "@svc/testing/desk";
import { countTasks, createBenches, sendAll } from "@svc/testing/job-benches";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";
import { administrator, goOn, isOver, isParked, killDrivers, movesOf, read } from "./test-parks.ts";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

test("a job whose lease is lost three times before it gets on is parked as poisoned, and ends well once it is released", async () => {
  const bench = await benches.bench(createWorld());
  const id = await bench.submit(read);
  const before = await killDrivers(bench, id, { point: "before-call", times: 3 });
  expect(before.job.status).toBe("running");
  const engine = bench.engine();
  const parked = await goOn(bench, engine, id, isParked);
  expect(parked.job).toMatchObject({
    park: { reason: "poisoned", stepId: "one", before: { status: "running", lastError: "" } },
    lastError: expect.stringMatching(/^JOB_POISONED: 3 nodes in a row/),
  });
  expect(movesOf(parked).at(-1)).toEqual(["running", "parked", "poisoned", "service"]);
  expect(bench.world.seen).toEqual([]);
  bench.clock.advance(60_000);
  expect(await engine.release({ jobId: id, projectId: bench.projectId }, administrator)).toEqual({ outcome: "done" });
  const ended = await goOn(bench, engine, id, isOver);
  expect(ended.job).toMatchObject({ status: "succeeded", lastError: "", park: null });
  expect(movesOf(ended).at(-2)).toEqual(["parked", "running", "released", "administrator"]);
  expect(await countTasks(bench)).toBe(0);
});

test("what gets on between two losses is not parked, however many there are", async () => {
  const world = createWorld({ items: 900 });
  const bench = await benches.bench(world);
  const id = await bench.submit(sendAll({ concurrency: 8 }, { tool: "desk.send_keyed", limits: { writes: 5_000 } }));
  for (let round = 0; round < 3; round++) {
    await killDrivers(bench, id, { point: "before-call", times: 1 });
    // The node gets as far as its next commit. With the death before, this makes two losses, and then the job has made progress.
    await killDrivers(bench, id, { point: "after-commit", times: 1 });
  }
  const engine = bench.engine();
  const ended = await goOn(bench, engine, id, isOver);
  expect(ended.job.status).toBe("succeeded");
  expect(movesOf(ended).filter(([, to]) => to === "parked")).toEqual([]);
});

test("to wait for a call that may still run on a lost node is not to get on", async () => {
  const bench = await benches.bench(createWorld());
  const id = await bench.submit({
    steps: [{ id: "one", call: "desk.send_note", entity: "ops", args: { text: "x" } }],
  });
  let isDead = false;
  void bench.doom("in-send").then(() => {
    isDead = true;
  });
  await until(() => isDead);
  const lossesOf = async () => {
    const rows = await bench.db.sql<{ losses: number; lease_until: string | null }[]>`
      select losses, lease_until from job_tasks where kind = 'run' and losses > 0`;
    return rows.map(({ losses }) => losses);
  };
  bench.clock.advance(31_000);
  const engine = bench.engine();
  await until(async () => (await lossesOf()).length > 0);
  for (let looks = 0; looks < 3; looks++) {
    bench.clock.advance(2_000);
    engine.wake();
    await until(() => engine.stats().held === 0);
  }
  expect(await lossesOf()).toEqual([1]);
  const asked = await goOn(bench, engine, id, ({ job }) => job.status === "parked");
  expect(asked.job.park?.reason).toBe("in_doubt");
});

test("what a poisoned job takes down with it is not parked for it", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  const poison = await bench.submit({ steps: [{ ...read.steps[0], id: "poison" }] });
  const others = await Promise.all(Array.from({ length: 4 }, () => bench.submit(read)));
  // A call that does not end keeps the other jobs from making progress. The poisoned job kills its node at its call.
  let stuck = Promise.withResolvers<void>();
  world.script = async () => {
    await stuck.promise;
    return undefined;
  };
  for (let deaths = 0; deaths < 3; deaths++) {
    let isDead = false;
    void bench
      .doom("before-call", 1, (stepId) => stepId === "poison")
      .then(() => {
        isDead = true;
      });
    await untilMoved(() => {
      if (!isDead) bench.clock.advance(1_000);
      return isDead;
    });
    if (deaths === 1) {
      stuck.resolve();
      stuck = Promise.withResolvers();
    }
  }
  stuck.resolve();
  const engine = bench.engine();
  expect((await goOn(bench, engine, poison, isParked)).job.park?.reason).toBe("poisoned");
  for (const id of others) expect((await goOn(bench, engine, id, isOver)).job.status).toBe("succeeded");
});

test("a job that holds the event loop twice is parked as poisoned, whichever node tells of it", async () => {
  const world = createWorld({ items: 6 });
  const bench = await benches.bench(world);
  const released = Promise.withResolvers<void>();
  let isHeld = true;
  world.script = async ({ method }) => {
    if (method === "POST" && isHeld) await released.promise;
    return undefined;
  };
  const driving = bench.engine();
  const id = await bench.submit(sendAll({ concurrency: 2 }));
  await until(() => world.seen.length === 3);
  await driving.reportHeldLoop(id, 300);
  expect((await bench.read(id)).job.status).toBe("running");
  const other = bench.engine();
  await other.reportHeldLoop(id, 412.4);
  const parked = await bench.read(id);
  expect(parked.job).toMatchObject({
    status: "parked",
    park: { reason: "poisoned", stepId: "send" },
    lastError: "JOB_POISONED: the job blocked the event loop of its node 2 times, most recently for 412 ms",
  });
  isHeld = false;
  released.resolve();
  await until(() => driving.stats().held === 0);
  expect((await bench.read(id)).job).toEqual(parked.job);
  await driving.reportHeldLoop(id, 999);
  expect((await bench.read(id)).job).toMatchObject({ status: "parked", lastError: parked.job.lastError });
  await other.release({ jobId: id, projectId: bench.projectId }, administrator);
  const ended = await goOn(bench, other, id, isOver);
  expect(ended.job).toMatchObject({ status: "succeeded", loopHolds: 0 });
  // The call that was running when the job was parked was sent only once, and its recorded answer was used.
  const sent = world.seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]);
  expect(sent).toHaveLength(new Set(sent).size);
  await other.reportHeldLoop(id, 300);
  expect((await bench.read(id)).job.status).toBe("succeeded");
});

test("a store that is away is told to the observer, and nothing is counted", async () => {
  const bench = await benches.bench(createWorld());
  const engine = bench.engine({ quiet: true });
  await bench.db.sql`alter table jobs rename column loop_holds to loop_holds_away`;
  await engine.reportHeldLoop("job_00000000000000000000000000" as Id<"job">, 300);
  await bench.db.sql`alter table jobs rename column loop_holds_away to loop_holds`;
});

test("a job that is to end is not parked before it had as many tries at that", async () => {
  const bench = await benches.bench(createWorld());
  const id = await bench.submit(read);
  await killDrivers(bench, id, { point: "before-call", times: 3 });
  await bench.cancel(id);
  const ended = await goOn(bench, bench.engine(), id, isOver);
  expect(movesOf(ended).map(([, to]) => to)).toEqual(["running", "cancelled"]);
});

test("a job that dies as it goes on after a wait is parked, too", async () => {
  const bench = await benches.bench(createWorld());
  const id = await bench.submit({ steps: [{ id: "rest", wait: "10s" }, ...read.steps] });
  const waiting = bench.engine();
  await bench.reach(id, "parked");
  await waiting.drain(0);
  bench.clock.advance(10_000);
  await killDrivers(bench, id, { point: "before-commit", times: 3 });
  const parked = await goOn(bench, bench.engine(), id, ({ job }) => job.park?.reason === "poisoned");
  expect(movesOf(parked).map(([, to, reason]) => [to, reason])).toEqual([
    ["running", "started"],
    ["parked", "wait"],
    ["running", "time"],
    ["parked", "poisoned"],
  ]);
});

test.each(["before-commit", "after-commit"] as const)(
  "a node that dies %s of the park leaves the job parked, or to the next that parks it",
  async (point) => {
    const bench = await benches.bench(createWorld());
    const id = await bench.submit(read);
    await killDrivers(bench, id, { point: "before-call", times: 3 });
    await killDrivers(bench, id, { point, times: 1 });
    const parked = await goOn(bench, bench.engine(), id, isParked);
    expect(movesOf(parked).filter(([, to]) => to === "parked")).toHaveLength(1);
    expect(parked.job.park?.reason).toBe("poisoned");
  },
);
