import { createId, type Id, uuidOfId } from "@svc/core";
import { createWorld } from "@svc/testing/desk";
import type { TestBench } from "@svc/testing/job-bench";
import { createBenches, sendAll } from "@svc/testing/job-benches";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";
import type { JobEngine } from "./engine.ts";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const note = { steps: [{ id: "note", call: "desk.send_note", entity: "ops", args: { text: "x" } }] };
const otherProject = () => createId("prj", 1);

/** Returns an engine that stored jobs never wake, so that it runs only jobs for which it reserved a slot. */
function unwoken({ reserve }: JobEngine): Pick<JobEngine, "reserve" | "wake"> {
  return { reserve, wake: () => {} };
}

/** Returns the lease in the row of the job's run task. */
async function leaseOf({ db }: TestBench, jobId: Id<"job">): Promise<Record<string, unknown> | undefined> {
  const [lease] = await db.sql.unsafe("select lease_token, attempt, losses from job_tasks where job_id = $1", [
    uuidOfId(jobId),
  ]);
  return lease;
}

test("a job is driven from the moment that it is stored, under the lease it was stored with", async () => {
  const world = createWorld();
  const released = Promise.withResolvers<void>();
  world.script = async () => {
    await released.promise;
    return undefined;
  };
  const bench = await benches.bench(world);
  const id = await bench.submit(note, { engine: unwoken(bench.engine({ limits: { pollMs: 3_600_000 } })) });
  await until(() => world.seen.length === 1);
  expect(await leaseOf(bench, id)).toMatchObject({ lease_token: "1", attempt: 1, losses: 0 });
  released.resolve();
  const reading = await bench.reach(id, "succeeded");
  expect(reading.receipt.calls).toMatchObject({ write: 1 });
});

test("a job whose node ends between storing it and driving it is another's once the lease has run out", async () => {
  const bench = await benches.bench();
  const lease = { owner: createId("node", 1), untilMs: bench.clock.now() + 30_000 };
  const lost = {
    reserve: () => ({ lease, plan: () => Promise.reject(new Error("dead")), begin: () => {}, cancel: () => {} }),
    wake: () => {},
  };
  const id = await bench.submit(note, { engine: lost });
  bench.engine();
  bench.clock.advance(29_000);
  expect((await bench.read(id)).job.status).toBe("queued");
  await untilMoved(async () => {
    bench.clock.advance(1_000);
    return (await bench.read(id)).job.status === "succeeded";
  });
  expect(bench.world.seen).toHaveLength(1);
});

test("a place is kept only where there is one, and given back", async () => {
  const bench = await benches.bench();
  const { reserve } = bench.engine({ limits: { runsMax: 3 } });
  const [one, two, three] = [otherProject(), otherProject(), otherProject()];
  const first = reserve(one);
  expect(first?.lease.untilMs).toBe(bench.clock.now() + 30_000);
  // A single project leaves one slot free for a new project. With two projects, each has its share.
  expect(reserve(one)).toBeDefined();
  expect(reserve(one)).toBeUndefined();
  expect(reserve(two)).toBeDefined();
  expect(reserve(three)).toBeUndefined();
  first?.cancel();
  expect(reserve(two)).toBeUndefined();
  expect(reserve(three)).toBeDefined();
});

test("an engine that claims nothing runs the short jobs that it stored, and leaves those with rows to another", async () => {
  const bench = await benches.bench(createWorld({ items: 3 }));
  const engine = bench.idle();
  engine.start({ claims: false });
  const short = await bench.submit(note, { engine });
  expect((await bench.reach(short, "succeeded")).job.status).toBe("succeeded");
  const [mapped, queued] = [await bench.submit(sendAll(), { engine }), await bench.submit(note)];
  engine.wake();
  const next = await bench.submit(note, { engine });
  await bench.reach(next, "succeeded");
  for (const id of [mapped, queued]) expect((await bench.read(id)).job.status).toBe("queued");
  bench.engine();
  for (const id of [mapped, queued]) await bench.reach(id, "succeeded");
  await engine.drain(10_000);
  expect(engine.stats().held).toBe(0);
});

test("while others wait, a new job waits behind them", async () => {
  const world = createWorld();
  const released = Promise.withResolvers<void>();
  world.script = async () => {
    await released.promise;
    return undefined;
  };
  const bench = await benches.bench(world);
  const engine = bench.engine({ limits: { runsMax: 2 } });
  for (let index = 0; index < 3; index++) await bench.submit(note);
  await until(() => world.seen.length === 1);
  expect(engine.reserve(otherProject())).toBeUndefined();
  released.resolve();
  await until(() => world.seen.length === 3 && engine.stats().held === 0);
  await until(() => engine.reserve(otherProject()) !== undefined);
});

test("an engine that does not run, or no longer, keeps no place, and one that stops waits for those it kept", async () => {
  const bench = await benches.bench();
  const engine = bench.engine();
  const kept = engine.reserve(otherProject());
  let isDrained = false;
  const drained = engine.drain(10_000).then(() => {
    isDrained = true;
  });
  expect(engine.reserve(otherProject())).toBeUndefined();
  await bench.db.sql.unsafe("select 1");
  expect(isDrained).toBe(false);
  kept?.cancel();
  await drained;
  expect(bench.idle().reserve(otherProject())).toBeUndefined();
});

test("many jobs at once are each stored leased or wait in line, and all are done once", async () => {
  const world = createWorld({ items: 3 });
  const bench = await benches.bench(world);
  const engine = bench.engine({ limits: { runsMax: 4 } });
  const ids = await Promise.all(Array.from({ length: 30 }, () => bench.submit(sendAll(), { engine })));
  for (const id of ids) expect((await bench.reach(id, "succeeded", "failed")).job.status).toBe("succeeded");
  expect(world.seen.filter(({ method }) => method === "POST")).toHaveLength(90);
});
