import { createWorld } from "@svc/testing/desk";
import { createBenches, fetchItems, sendAll, typesOf } from "@svc/testing/job-benches";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";
import { administrator, goOn, isOver, isParked, killDrivers, movesOf, read } from "../test-parks.ts";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const byKey = ["key:somebody"];
const undo = { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } };
const isPaused = ({ job }: { job: { park: { reason: string } | null } }) => job.park?.reason === "paused";

test("a pause lets the call in flight end, parks the job before the next act, and stops the deadline's clock", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  const called = Promise.withResolvers<void>();
  world.script = async () => {
    await called.promise;
    return undefined;
  };
  const engine = bench.engine();
  const note = { id: "note", call: "desk.send_note", entity: "ops", args: { text: "one" } };
  const id = await bench.submit({ limits: { deadline: "1h" }, steps: [note, { ...note, id: "next" }] });
  await until(() => world.seen.length === 1);
  const job = { jobId: id, projectId: bench.projectId };
  const pausedAt = bench.clock.now();
  expect(await engine.pause(job, byKey)).toEqual({ outcome: "done" });
  expect((await bench.read(id)).job).toMatchObject({ status: "running", park: null, pausedAt });
  bench.clock.advance(5_000);
  called.resolve();
  const parked = await bench.reach(id, "parked");
  expect(parked.job).toMatchObject({ park: { reason: "paused", stepId: "next" }, deadlineAt: null, pausedAt });
  expect(parked.job.deadlineLeftMs).toBe(3_600_000 - (pausedAt - parked.job.createdAt));
  expect(parked.steps["note"]?.state).toBe("completed");
  expect(movesOf(parked).at(-1)).toEqual(["running", "parked", "paused", "key:somebody"]);
  // Longer than the deadline of the job.
  bench.clock.advance(7_200_000);
  engine.wake();
  await until(() => engine.stats().held === 0);
  expect((await bench.read(id)).events).toEqual(parked.events);
  expect(await engine.resume(job, byKey)).toEqual({ outcome: "done" });
  const ended = await goOn(bench, engine, id, isOver);
  expect(ended.job).toMatchObject({ status: "succeeded", pausedAt: null });
  expect(world.seen).toHaveLength(2);
  expect(ended.receipt.calls).toMatchObject({ write: 2, unknown: 0 });
  expect(typesOf(ended).filter((type) => type.endsWith("ed") && type.startsWith("job-"))).toEqual(
    expect.arrayContaining(["job-paused", "job-resumed"]),
  );
});

test("a job that nobody drives is paused at once, and resumed as it stood", async () => {
  const bench = await benches.bench(createWorld());
  const idle = bench.engine({ limits: { runsMax: 0 } });
  const id = await bench.submit(read);
  const job = { jobId: id, projectId: bench.projectId };
  await idle.pause(job, byKey);
  const parked = await bench.read(id);
  expect(parked.job).toMatchObject({ status: "parked", park: { reason: "paused", before: { status: "queued" } } });
  expect(await idle.park(job, administrator)).toEqual({ outcome: "refused", status: "parked", parkReason: "paused" });
  expect(await idle.release(job, administrator)).toMatchObject({ outcome: "refused" });
  // A second request changes nothing.
  await idle.pause(job, byKey);
  expect((await bench.read(id)).events).toEqual(parked.events);
  await idle.resume(job, byKey);
  expect((await bench.read(id)).job).toMatchObject({ status: "queued", park: null, pausedAt: null });
  expect(await idle.resume(job, byKey)).toEqual({ outcome: "not_paused", status: "queued" });
  expect((await goOn(bench, bench.engine(), id, isOver)).job.status).toBe("succeeded");
  expect(await idle.pause(job, byKey)).toEqual({ outcome: "ended", status: "succeeded" });
  expect(await idle.resume(job, byKey)).toEqual({ outcome: "ended", status: "succeeded" });
  const other = await benches.bench(createWorld());
  expect(await idle.pause({ jobId: id, projectId: other.projectId }, byKey)).toEqual({ outcome: "missing" });
});

test("a pause that is taken back before the driver came to it changes nothing", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  const called = Promise.withResolvers<void>();
  world.script = async () => {
    await called.promise;
    return undefined;
  };
  const engine = bench.engine();
  const id = await bench.submit(read);
  await until(() => world.seen.length === 1);
  const job = { jobId: id, projectId: bench.projectId };
  await engine.pause(job, byKey);
  await engine.resume(job, byKey);
  called.resolve();
  const ended = await bench.reach(id, "succeeded");
  expect(movesOf(ended).map(([, to]) => to)).not.toContain("parked");
});

test("a map that is paused begins no other row, and goes on with the rest", async () => {
  // More rows than even a busy machine finishes before the first commit.
  const rows = 100;
  const world = createWorld({ items: rows });
  const bench = await benches.bench(world);
  const called = Promise.withResolvers<void>();
  world.script = async ({ method }) => {
    if (method === "POST") await called.promise;
    return undefined;
  };
  const engine = bench.engine();
  // The pause is requested on another node. The driver finds the request at its next commit.
  const other = bench.idle();
  const id = await bench.submit(sendAll());
  await until(() => world.seen.length === 5);
  await other.pause({ jobId: id, projectId: bench.projectId }, byKey);
  engine.pause({ jobId: id, projectId: bench.projectId }, byKey).catch(() => {});
  called.resolve();
  const parked = await bench.reach(id, "parked");
  const sent = world.seen.length - 1;
  expect(sent).toBeLessThan(rows);
  expect(parked.steps["send"]?.rows).toMatchObject({ in: sent, ok: sent });
  await engine.resume({ jobId: id, projectId: bench.projectId }, byKey);
  const ended = await goOn(bench, engine, id, isOver);
  expect(ended.steps["send"]?.rows).toMatchObject({ in: rows, ok: rows });
  expect(world.seen).toHaveLength(rows + 1);
});

test("a job that waits for an answer keeps its question, and is paused by the answer; the ask's clock goes on", async () => {
  const bench = await benches.bench(createWorld());
  const engine = bench.engine();
  const points = { gate: { question: "Go?", continuations: ["proceed"], escalation: [{ principal: "owner" }] } };
  const id = await bench.submit({ points, steps: [{ id: "gate", judge: "gate" }, ...read.steps] });
  const asked = await bench.reach(id, "parked");
  const job = { jobId: id, projectId: bench.projectId };
  await engine.pause(job, byKey);
  expect((await bench.read(id)).job).toMatchObject({
    status: "parked",
    park: asked.job.park,
    pausedAt: bench.clock.now(),
  });
  await bench.answer(id, { continuation: "proceed" });
  const paused = await bench.read(id);
  expect(paused.job).toMatchObject({ status: "parked", park: { reason: "paused", stepId: "one" }, deadlineAt: null });
  await engine.resume(job, byKey);
  expect((await goOn(bench, engine, id, isOver)).job.status).toBe("succeeded");
});

test("a job that waits for a time keeps its park and its time, and its deadline stands; then it is paused", async () => {
  const bench = await benches.bench(createWorld());
  const engine = bench.engine();
  const id = await bench.submit({ limits: { deadline: "2h" }, steps: [{ id: "rest", wait: "1h" }, ...read.steps] });
  await bench.reach(id, "parked");
  const job = { jobId: id, projectId: bench.projectId };
  await engine.pause(job, byKey);
  expect((await bench.read(id)).job).toMatchObject({ park: { reason: "wait" }, deadlineAt: null });
  // After the pause is withdrawn, the deadline's clock runs again, and the job still waits.
  await engine.resume(job, byKey);
  const waiting = await bench.read(id);
  expect(waiting.job).toMatchObject({ park: { reason: "wait" }, pausedAt: null });
  expect(waiting.job.deadlineAt).not.toBeNull();
  await engine.pause(job, byKey);
  bench.clock.advance(3 * 3_600_000);
  engine.wake();
  const paused = await goOn(bench, engine, id, isPaused);
  expect(paused.job).toMatchObject({ status: "parked", park: { reason: "paused", stepId: "rest" } });
  await engine.resume(job, byKey);
  expect((await goOn(bench, engine, id, isOver)).job.status).toBe("succeeded");
});

test("undoing is paused and goes on; cancelled meanwhile, it ends at once and tells what was left", async () => {
  const world = createWorld();
  world.script = ({ path }) => (path === "/items/bad" ? { status: 404 } : undefined);
  const bench = await benches.bench(world);
  const program = {
    saga: { on: ["failed", "cancelled"] },
    steps: [
      { id: "note", call: "desk.send_note", entity: "ops", args: { text: "x" }, undo },
      { id: "bad", call: "desk.get_item", entity: "ops", args: { id: "bad" } },
    ],
  };
  // The two jobs run one after the other. Otherwise the node that dies because of the first job would interrupt a call of the second.
  const undoneHalf = async () => {
    const id = await bench.submit(program);
    await killDrivers(bench, id, { point: "mid-undo", times: 1 });
    return id;
  };
  const ids = [await undoneHalf(), await undoneHalf()] as const;
  bench.clock.advance(31_000);
  const engine = bench.engine({ limits: { runsMax: 0 } });
  for (const jobId of ids) await engine.pause({ jobId, projectId: bench.projectId }, byKey);
  for (const id of ids) {
    expect((await bench.read(id)).job.park).toMatchObject({ reason: "paused", before: { status: "compensating" } });
  }
  const heir = bench.engine();
  await bench.cancel(ids[0]);
  const cancelled = await goOn(bench, heir, ids[0], isOver);
  expect(cancelled.job).toMatchObject({ status: "cancelled", saga: { state: "stuck" }, pausedAt: null });
  await heir.resume({ jobId: ids[1], projectId: bench.projectId }, byKey);
  const undone = await goOn(bench, heir, ids[1], isOver);
  expect(undone.job).toMatchObject({ status: "failed", saga: { state: "compensated", done: 1 } });
});

test("a paused job that is cancelled runs its saga, which is not paused", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const note = { id: "note", call: "desk.send_note", entity: "ops", args: { text: "x" }, undo };
  const id = await bench.submit({ saga: { on: ["cancelled"] }, steps: [note, { id: "rest", wait: "1h" }] });
  await bench.reach(id, "parked");
  await engine.pause({ jobId: id, projectId: bench.projectId }, byKey);
  await bench.cancel(id);
  const ended = await goOn(bench, engine, id, isOver);
  expect(ended.job).toMatchObject({ status: "cancelled", saga: { state: "compensated", done: 1 } });
});

test("a job that an administrator parked is paused once it is released", async () => {
  const bench = await benches.bench(createWorld());
  const engine = bench.engine({ limits: { runsMax: 0 } });
  const id = await bench.submit(read);
  const job = { jobId: id, projectId: bench.projectId };
  await engine.park(job, administrator);
  await engine.pause(job, byKey);
  expect((await bench.read(id)).job).toMatchObject({ park: { reason: "administrator" }, deadlineAt: null });
  await engine.release(job, administrator);
  const paused = await goOn(bench, bench.engine(), id, isPaused);
  expect(paused.job.park).toMatchObject({ before: { status: "queued" } });
});

test.each(["before-commit", "after-commit"] as const)(
  "a driver that dies %s of the commit that pauses: another node parks the job, once",
  async (point) => {
    const world = createWorld();
    const bench = await benches.bench(world);
    const [called, died] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    world.script = async ({ method }) => {
      if (method === "POST") await called.promise;
      return undefined;
    };
    let isArmed = false;
    void bench.doom(point, 1, () => isArmed).then(died.resolve);
    const note = { id: "note", call: "desk.send_note", entity: "ops", args: { text: "x" } };
    const id = await bench.submit({ steps: [note, { id: "rest", wait: "1m" }] });
    await untilMoved(() => {
      bench.clock.advance(20);
      return world.seen.length === 1;
    });
    const idle = bench.idle();
    await idle.pause({ jobId: id, projectId: bench.projectId }, byKey);
    isArmed = true;
    called.resolve();
    await died.promise;
    const engine = bench.engine();
    const parked = await goOn(bench, engine, id, isPaused);
    expect(movesOf(parked).filter(([, to]) => to === "parked")).toHaveLength(1);
    await engine.resume({ jobId: id, projectId: bench.projectId }, byKey);
    let reading = await goOn(bench, engine, id, (found) => isOver(found) || isParked(found));
    if (reading.job.park?.reason === "in_doubt") await bench.answer(id, { continuation: "proceed" });
    reading = await goOn(bench, engine, id, isOver);
    expect(reading.job.status).toBe("succeeded");
    expect(world.seen).toHaveLength(1);
  },
);

test.each(["pause", "resume"] as const)("%s that dies before its commit has done nothing", async (act) => {
  const bench = await benches.bench(createWorld());
  const idle = bench.engine({ limits: { runsMax: 0 } });
  const id = await bench.submit({ steps: [fetchItems()] });
  const job = { jobId: id, projectId: bench.projectId };
  if (act === "resume") await idle.pause(job, byKey);
  const before = await bench.read(id);
  let isDying = true;
  const dying = bench.engine({
    limits: { runsMax: 0 },
    quiet: true,
    onFaultPoint: (at) => {
      if (at === "before-commit" && isDying) throw new Error("the node dies");
    },
  });
  await expect(dying[act](job, byKey)).rejects.toThrow("the node dies");
  const after = await bench.read(id);
  expect([after.job, after.events]).toEqual([before.job, before.events]);
  isDying = false;
  await dying[act](job, byKey);
  expect((await bench.read(id)).job.status).toBe(act === "resume" ? "queued" : "parked");
});
