import { createWorld } from "@svc/testing/desk";
import { countTasks, createBenches } from "@svc/testing/job-benches";
import { until } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";
import { administrator, goOn, isOver, killDrivers, movesOf, read } from "../test-parks.ts";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const undo = { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } };
/** A program that sends a note, fails, and undoes the note. */
const undone = {
  saga: { on: ["failed", "cancelled"] },
  steps: [
    { id: "note", call: "desk.send_note", entity: "ops", args: { text: "x" }, undo },
    { id: "bad", call: "desk.get_item", entity: "ops", args: { id: "bad" } },
  ],
};

test("ParkJob takes a job from a driver that is in a call, which writes nothing more; released it goes on as it stood", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  const called = Promise.withResolvers<void>();
  world.script = async () => {
    await called.promise;
    return undefined;
  };
  const leasesLost: string[] = [];
  const driving = bench.engine({ leasesLost });
  const id = await bench.submit(read);
  await until(() => world.seen.length === 1);
  const other = bench.engine();
  const job = { jobId: id, projectId: bench.projectId };
  expect(await other.park(job, administrator)).toEqual({ outcome: "done" });
  const parked = await bench.read(id);
  expect(parked.job).toMatchObject({ status: "parked", park: { reason: "administrator" }, lastError: "" });
  expect(movesOf(parked).at(-1)).toEqual(["running", "parked", "administrator", "administrator"]);
  called.resolve();
  await until(() => driving.stats().held === 0);
  expect(leasesLost).toEqual(["parked"]);
  bench.clock.advance(60_000);
  for (const engine of [driving, other]) engine.wake();
  const after = await bench.read(id);
  expect([after.job, after.events]).toEqual([parked.job, parked.events]);
  expect(await other.release(job, administrator)).toEqual({ outcome: "done" });
  expect((await goOn(bench, other, id, isOver)).job.status).toBe("succeeded");
});

test("a driver that comes back after its job was parked and released finds its lease gone, also on the node that drives it again", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  const calls = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  world.script = async (_request, count) => {
    await calls[count - 1]?.promise;
    return undefined;
  };
  const leasesLost: string[] = [];
  // This is the only node. It gets the job again while its first driver is still in its call.
  const engine = bench.engine({ leasesLost });
  const id = await bench.submit(read);
  await until(() => world.seen.length === 1);
  const job = { jobId: id, projectId: bench.projectId };
  await engine.park(job, administrator);
  await engine.release(job, administrator);
  await until(() => world.seen.length === 2);
  const between = await bench.read(id);
  calls[0]?.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect((await bench.read(id)).events).toEqual(between.events);
  calls[1]?.resolve();
  const ended = await goOn(bench, engine, id, isOver);
  expect(movesOf(ended).filter(([, to]) => to === "succeeded")).toHaveLength(1);
  expect(leasesLost).toEqual(["taken-over"]);
});

test("a job that was parked before it began is queued again", async () => {
  const bench = await benches.bench(createWorld());
  const idle = bench.engine({ limits: { runsMax: 0 } });
  const id = await bench.submit(read);
  const job = { jobId: id, projectId: bench.projectId };
  expect(await idle.park(job, administrator)).toEqual({ outcome: "done" });
  expect((await bench.read(id)).job.park).toMatchObject({ before: { status: "queued" }, stepId: "one" });
  await idle.release(job, administrator);
  expect((await bench.read(id)).job.status).toBe("queued");
  expect((await goOn(bench, bench.engine(), id, isOver)).job.status).toBe("succeeded");
});

test("a job that undoes is parked, and goes on undoing when it is released; its error is the one it failed with", async () => {
  const world = createWorld();
  world.script = ({ path }) => (path === "/items/bad" ? { status: 404 } : undefined);
  const bench = await benches.bench(world);
  const id = await bench.submit(undone);
  const dead = await killDrivers(bench, id, { point: "mid-undo", times: 1 });
  expect(dead.job.status).toBe("compensating");
  const engine = bench.engine();
  await engine.park({ jobId: id, projectId: bench.projectId }, administrator);
  expect((await bench.read(id)).job.park).toMatchObject({ stepId: "", before: { status: "compensating" } });
  bench.clock.advance(40 * 86_400_000);
  engine.wake();
  await until(() => engine.stats().held === 0);
  expect((await bench.read(id)).job.status).toBe("parked");
  await engine.release({ jobId: id, projectId: bench.projectId }, administrator);
  const ended = await goOn(bench, engine, id, isOver);
  expect(ended.job).toMatchObject({ status: "failed", saga: { state: "compensated", done: 1 } });
  expect(ended.job.lastError).toBe(dead.job.lastError);
  expect(world.seen.filter(({ method }) => method === "DELETE").length).toBeGreaterThan(0);
});

test("CancelJob ends a parked job with its saga, and one that was parked while it undid at once", async () => {
  const world = createWorld();
  world.script = ({ path }) => (path === "/items/bad" ? { status: 404 } : undefined);
  const bench = await benches.bench(world);
  const [running, undoing] = [await bench.submit(undone), await bench.submit(undone)];
  const engine = bench.engine({ limits: { runsMax: 0 } });
  await engine.park({ jobId: undoing, projectId: bench.projectId }, administrator);
  await killDrivers(bench, running, { point: "after-call", times: 1 });
  bench.clock.advance(31_000);
  await engine.park({ jobId: running, projectId: bench.projectId }, administrator);
  await engine.release({ jobId: undoing, projectId: bench.projectId }, administrator);
  await killDrivers(bench, undoing, { point: "mid-undo", times: 1 });
  await engine.park({ jobId: undoing, projectId: bench.projectId }, administrator);
  for (const id of [running, undoing]) await bench.cancel(id);
  const heir = bench.engine();
  const first = await goOn(bench, heir, running, isOver);
  expect(first.job.status).toBe("cancelled");
  const second = await goOn(bench, heir, undoing, isOver);
  expect(second.job).toMatchObject({ status: "cancelled", saga: { state: "stuck", entries: 1, done: 0 } });
  expect(second.receipt.saga.state).toBe("stuck");
  expect(movesOf(second).at(-1)).toEqual(["parked", "cancelled", "cancelled", `key:${bench.keyId}`]);
  expect(await countTasks(bench)).toBe(0);
});

test("a parked job expires when its deadline passes", async () => {
  const bench = await benches.bench(createWorld());
  const idle = bench.engine({ limits: { runsMax: 0 } });
  const id = await bench.submit({ ...read, limits: { deadline: "1h" } });
  await idle.park({ jobId: id, projectId: bench.projectId }, administrator);
  const engine = bench.engine();
  bench.clock.advance(3_599_000);
  engine.wake();
  await until(() => engine.stats().held === 0);
  expect((await bench.read(id)).job.status).toBe("parked");
  bench.clock.advance(1_000);
  engine.wake();
  const ended = await bench.reach(id, "expired");
  expect(movesOf(ended).at(-1)).toEqual(["parked", "expired", "deadline", "clock"]);
});

test("what waits, has ended or is another project's is not parked, and what is not parked from outside is not released", async () => {
  const bench = await benches.bench(createWorld());
  const engine = bench.engine();
  const waiting = await bench.submit({ steps: [{ id: "rest", wait: "1h" }] });
  const over = await bench.submit(read);
  await bench.reach(waiting, "parked");
  await bench.reach(over, "succeeded");
  const { projectId } = bench;
  const refused = { outcome: "refused", status: "parked", parkReason: "wait" };
  expect(await engine.park({ jobId: waiting, projectId }, administrator)).toEqual(refused);
  expect(await engine.release({ jobId: waiting, projectId }, administrator)).toEqual(refused);
  expect(await engine.park({ jobId: over, projectId }, administrator)).toMatchObject({ status: "succeeded" });
  const other = await benches.bench(createWorld());
  const foreign = { jobId: waiting, projectId: other.projectId };
  expect(await engine.park(foreign, administrator)).toEqual({ outcome: "missing" });
  expect(await engine.release(foreign, administrator)).toEqual({ outcome: "missing" });
});

test.each(["park", "release", "reportHeldLoop"] as const)(
  "%s that dies before its commit has done nothing",
  async (act) => {
    const bench = await benches.bench(createWorld());
    const idle = bench.engine({ limits: { runsMax: 0 } });
    const id = await bench.submit(read);
    const job = { jobId: id, projectId: bench.projectId };
    if (act === "release") await idle.park(job, administrator);
    if (act === "reportHeldLoop") await idle.reportHeldLoop(id, 300);
    const before = await bench.read(id);
    let isDying = true;
    const dying = bench.engine({
      limits: { runsMax: 0 },
      quiet: true,
      onFaultPoint: (at) => {
        if (at === "before-commit" && isDying) throw new Error("the node dies");
      },
    });
    const acts = {
      park: () => dying.park(job, administrator),
      release: () => dying.release(job, administrator),
      reportHeldLoop: () => dying.reportHeldLoop(id, 300),
    };
    await acts[act]().catch(() => {});
    const after = await bench.read(id);
    expect([after.job, after.events]).toEqual([before.job, before.events]);
    isDying = false;
    await acts[act]();
    expect((await bench.read(id)).job.status).toBe(act === "release" ? "queued" : "parked");
  },
);
