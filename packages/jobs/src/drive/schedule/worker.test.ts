import { createWorld } from "@svc/testing/desk";
import { countTasks, createBenches, sendAll } from "@svc/testing/job-benches";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

test("a drained engine finishes what is in flight and gives the job back; another goes on where it stood", async () => {
  const world = createWorld({ items: 20 });
  const bench = await benches.bench(world);
  const released = Promise.withResolvers<void>();
  world.script = async ({ method }) => {
    if (method === "POST") await released.promise;
    return undefined;
  };
  const first = bench.engine();
  const id = await bench.submit(sendAll({ concurrency: 3 }));
  await until(() => world.seen.length === 4);
  const drained = first.drain(10_000);
  released.resolve();
  await drained;
  const between = await bench.read(id);
  expect(between.job.status).toBe("running");
  expect(between.steps["send"]).toMatchObject({ rows: { in: 3, ok: 3 } });
  expect(await countTasks(bench)).toBe(1);
  bench.engine();
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.steps["send"]).toMatchObject({ rows: { in: 20, ok: 20 }, calls: { write: 20 } });
  const sent = world.seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]);
  expect(sent).toHaveLength(20);
  expect(new Set(sent).size).toBe(20);
});

test("progress is logged at most once in 5 seconds, however many drivers take the job over", async () => {
  const world = createWorld({ items: 12 });
  const bench = await benches.bench(world);
  let gate = Promise.withResolvers<void>();
  let sent = 0;
  world.script = async ({ method }) => {
    if (method === "POST" && ++sent % 3 === 1) await gate.promise;
    return undefined;
  };
  const id = await bench.submit(sendAll({ concurrency: 1 }));
  for (const sends of [1, 4, 7]) {
    const engine = bench.engine();
    await until(() => sent === sends);
    const drained = engine.drain(10_000);
    gate.resolve();
    await drained;
    gate = Promise.withResolvers<void>();
  }
  // The clock did not move: three drivers had the job at the same moment.
  const { steps, events } = await bench.read(id);
  expect(steps["send"]).toMatchObject({ state: "", rows: { in: 7 } });
  expect(events.filter(({ type }) => type === "step-progress")).toHaveLength(1);
  gate.resolve();
  bench.engine();
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.steps["send"]).toMatchObject({ state: "completed", rows: { in: 12, ok: 12 } });
});

test("a lost lease stops its driver, which writes nothing more", async () => {
  const world = createWorld({ items: 6 });
  const bench = await benches.bench(world);
  const released = Promise.withResolvers<void>();
  let isHeld = true;
  world.script = async ({ method }) => {
    if (method === "POST" && isHeld) await released.promise;
    return undefined;
  };
  bench.engine();
  const id = await bench.submit(sendAll({ concurrency: 2 }));
  await until(() => world.seen.length === 3);
  // Expires the lease, as if this node had been suspended for longer than its lease.
  await bench.db.sql.unsafe("update job_tasks set lease_until = now() - interval '10 years'");
  isHeld = false;
  const second = bench.engine();
  await untilMoved(async () => {
    bench.clock.advance(1_000);
    second.wake();
    return second.stats().held > 0 || world.seen.length > 3;
  });
  released.resolve();
  // The calls that were running on the first node end in the ledger. The clock does not move until then, because the second node would
  // regard them as lost.
  const running = () => bench.db.sql`select from tool_calls where outcome = 'running'`;
  await until(async () => (await running()).length === 0);
  await untilMoved(async () => {
    bench.clock.advance(100);
    second.wake();
    return (await bench.read(id)).job.finishedAt !== null;
  });
  const reading = await bench.read(id);
  expect(reading.steps["send"]?.rows).toMatchObject({ in: 6, ok: 6 });
  const sent = world.seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]);
  expect(sent).toHaveLength(new Set(sent).size);
  expect(reading.events.map(({ seq }) => seq)).toEqual(reading.events.map((_event, index) => index + 1));
});

test("a project with many jobs does not hold up another's one", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  const other = await benches.bench(createWorld());
  const released = Promise.withResolvers<void>();
  world.script = async () => {
    await released.promise;
    return undefined;
  };
  const read = { steps: [{ id: "one", call: "desk.get_item", entity: "ops", args: { id: "x" } }] };
  const ids = await Promise.all(Array.from({ length: 12 }, () => bench.submit(read)));
  // One node runs the jobs of both test benches: tasks do not belong to a bench. The calls go to the app of the first bench.
  const engine = bench.engine({ limits: { runsMax: 4 } });
  await until(() => world.seen.length === 3);
  const late = await other.submit(read);
  await untilMoved(async () => {
    engine.wake();
    bench.clock.advance(10);
    return (await other.read(late)).job.status !== "queued";
  });
  expect(ids).toHaveLength(12);
  released.resolve();
  for (const id of ids) await bench.reach(id, "succeeded");
  await other.reach(late, "succeeded");
});

test("a store that fails a commit costs a pause, not the job", async () => {
  const world = createWorld({ items: 4 });
  const bench = await benches.bench(world);
  let failures = 2;
  const engine = bench.engine({
    quiet: true,
    onFaultPoint: (point) => {
      if (point === "before-commit" && failures-- > 0) throw new Error("the store is away");
    },
  });
  const id = await bench.submit(sendAll());
  await untilMoved(async () => {
    bench.clock.advance(200);
    engine.wake();
    return (await bench.read(id)).job.finishedAt !== null;
  });
  expect((await bench.read(id)).job.status).toBe("succeeded");
  expect(world.seen.filter(({ method }) => method === "POST")).toHaveLength(4);
});
