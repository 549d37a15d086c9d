import { createWorld } from "@svc/testing/desk";
import { createBenches } from "@svc/testing/job-benches";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const bounds = { eachMax: 262_144, projectMax: 393_216, nodeMax: 524_288 };

/** Creates a test app with `count` items, each with a long title. */
function worldOf(count: number) {
  const world = createWorld();
  const items = Array.from({ length: count }, (_, n) => ({ id: `item-${n}`, title: `${count - n}`.padStart(60, "0") }));
  world.script = ({ path }) => (path === "/items" ? { status: 200, body: { items } } : undefined);
  return world;
}

const fetch = {
  id: "items",
  call: "desk.list_items",
  entity: "ops",
  args: {},
  rows: { from: "items[]", keep: ["id", "title"] },
};

const byTitle = { id: "made", distinct: "items", by: ["title"] };

/** Steps that keep something of every row in memory. */
const holding: readonly object[] = [
  byTitle,
  { id: "made", sort: "items", by: [{ field: "title" }, { field: "id" }] },
  { id: "made", group: "items", by: ["title"], as: { ids: "list id" } },
  { id: "made", join: "items", with: "items", on: { id: "id" }, keep: { other: "right.title" } },
];

test("a step that would hold more of a set than one may fails and says so, and lets go of all", async () => {
  const bench = await benches.bench(worldOf(2_500));
  const { memory } = bench.engine({ memory: bounds });
  for (const step of holding) {
    const { job, steps } = await bench.reach(await bench.submit({ steps: [fetch, step] }), "failed", "succeeded");
    expect(job.lastError).toMatch(
      /^SET_TOO_LARGE: step made: .*more than the 262144 bytes of memory that one step may use/,
    );
    expect(steps["made"]?.errors).toMatchObject([{ code: "SET_TOO_LARGE" }]);
    expect(memory.stats()).toEqual({ bytes: 0, waiting: 0 });
  }
});

test("steps of many jobs hold no more than they may together, in turn, and all end", async () => {
  const bench = await benches.bench(worldOf(700));
  const { memory } = bench.engine({ memory: bounds });
  // Half of the project's memory is taken until a step waits. Otherwise it would depend on the machine if steps run at the same time.
  const held = memory.open(bench.projectId);
  expect(held.take(250_000)).toBe(true);
  const ids = await Promise.all(
    holding.flatMap((step) => [step, step]).map((step) => bench.submit({ steps: [fetch, step] })),
  );
  let bytesMost = 0;
  let isOver = false;
  const look = () => {
    bytesMost = Math.max(bytesMost, memory.stats().bytes);
    if (!isOver) setImmediate(look);
  };
  look();
  await until(() => memory.stats().waiting > 0);
  held.release();
  // No step may have failed because it needed too much memory.
  for (const id of ids)
    expect((await bench.reach(id, "succeeded", "failed")).job.lastError).toMatch(/^$|SET_TOO_LARGE/);
  isOver = true;
  expect(bytesMost).toBeGreaterThan(0);
  expect(bytesMost).toBeLessThanOrEqual(bounds.projectMax);
  expect(memory.stats()).toEqual({ bytes: 0, waiting: 0 });
});

test("while a project holds its share another one's steps go on, and its own can be cancelled", async () => {
  const bench = await benches.bench(worldOf(100));
  const other = await benches.bench(bench.world, bench.clock);
  const engine = bench.engine({ memory: bounds });
  const { memory } = engine;
  const held = memory.open(bench.projectId);
  const more = memory.open(bench.projectId);
  expect([held.take(200_000), more.take(131_000)]).toEqual([true, true]);
  const program = { steps: [fetch, byTitle] };
  const [first, second] = await Promise.all([bench.submit(program), bench.submit(program)]);
  await until(() => memory.stats().waiting === 2);
  const stranger = await other.submit(program);
  engine.wake();
  expect((await other.reach(stranger, "succeeded")).job.lastError).toBe("");
  await bench.cancel(first);
  engine.cancel(first);
  bench.clock.advance(1_000);
  await bench.reach(first, "cancelled");
  expect((await bench.read(second)).job.status).toBe("running");
  held.release();
  more.release();
  await bench.reach(second, "succeeded");
});

test("a job that waits for memory and holds none gives its place to others that wait for one", async () => {
  const bench = await benches.bench(worldOf(100));
  const engine = bench.engine({ memory: bounds, limits: { runsMax: 1 } });
  const [held, more] = [engine.memory.open(bench.projectId), engine.memory.open(bench.projectId)];
  expect([held.take(200_000), more.take(131_000)]).toEqual([true, true]);
  const waiting = await bench.submit({ steps: [fetch, byTitle] });
  await until(() => engine.memory.stats().waiting === 1);
  const plain = await bench.submit({ steps: [fetch] });
  const ended = bench.reach(plain, "succeeded");
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await untilMoved(() => {
    bench.clock.advance(200);
    return isOver;
  });
  expect((await bench.read(waiting)).job.status).toBe("running");
  held.release();
  more.release();
  const end = bench.reach(waiting, "succeeded");
  bench.clock.advance(1_000);
  engine.wake();
  expect((await end).steps["made"]).toMatchObject({ attempts: 1, rows: { in: 100, ok: 100 } });
});
