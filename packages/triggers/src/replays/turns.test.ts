import { ReplayState } from "@svc/gen/triggers";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createReplayWorld, type ReplayWorld } from "./test-replays.ts";

afterAll(dropTestDatabases);

/** Moves the clock by a tenth of a second, and waits for the step of the replay that is then due. */
async function stepOn({ node, cluster }: ReplayWorld): Promise<void> {
  const before = node.replaySteps.length;
  cluster.clock.advance(100);
  await until(() => {
    node.standing.engine.wake();
    return node.replaySteps.length > before;
  });
}

/** Returns a replay of 500 deliveries per second after its first step. */
async function startFast(world: ReplayWorld): Promise<string> {
  const { replay } = await world.client.startReplay({ since: world.since, perSecond: 500 });
  await until(() => world.node.replaySteps.length === 1);
  return replay!.id;
}

test("no step queues more than a fifth of a second, at the pace, and its progress is what it queued", async () => {
  await using world = await createReplayWorld();
  const { client, cluster, node } = world;
  await world.subscribe();
  await world.store(2_200);
  const id = await startFast(world);
  const progress = async () => {
    const { replay } = await client.getReplay({ id });
    expect(replay!.queued).toBe(await cluster.count("deliveries"));
    return replay!.queued;
  };
  // The deliveries of one second were due at the start, and are queued additionally.
  for (let left = 15; left > 0; left--) await stepOn(world);
  const atFirst = await progress();
  for (let left = 15; left > 0; left--) await stepOn(world);
  expect(Math.abs((await progress()) - atFirst - 750)).toBeLessThanOrEqual(0.05 * 750);
  while (node.replaySteps.at(-1)!.state === "running") await stepOn(world);
  const counts = node.replaySteps.map(({ count }) => count);
  expect(Math.max(...counts)).toBeLessThanOrEqual(100);
  expect(await progress()).toBe(2_200);
  expect((await client.getReplay({ id })).replay).toMatchObject({ state: ReplayState.DONE, total: 2_200 });
  expect(new Set(await world.pairs()).size).toBe(2_200);
  // The deliveries are due before the next step, and not all at the same time.
  const rows = await cluster.db.sql<{ most: number }[]>`
    select max(n)::int4 as most from (select count(*) as n from delivery_tasks group by due_at) t`;
  expect(rows[0]!.most).toBeLessThanOrEqual(2);
});

test("it is cancelled in the middle of a second, from the next step", async () => {
  await using world = await createReplayWorld();
  const { client, cluster, node } = world;
  await world.subscribe();
  await world.store(1_000);
  const id = await startFast(world);
  await stepOn(world);
  const { replay } = await client.cancelReplay({ id });
  expect(replay).toMatchObject({ state: ReplayState.CANCELLED, queued: 200 });
  await untilMoved(async () => {
    cluster.clock.advance(100);
    return (await cluster.db.sql`select from due_tasks`).length === 0;
  });
  expect([await cluster.count("deliveries"), node.replaySteps.length]).toEqual([200, 2]);
});

test("a node that stops in the middle of a second gives the replay to another", async () => {
  await using world = await createReplayWorld();
  const { cluster, node } = world;
  await world.subscribe();
  await world.store(1_000);
  await startFast(world);
  await stepOn(world);
  const held = () => cluster.db.sql`select from due_tasks where lease_owner is not null`;
  expect(await held()).toHaveLength(1);
  await node[Symbol.asyncDispose]();
  expect(await held()).toHaveLength(0);
  expect(await cluster.db.sql`select from due_tasks`).toHaveLength(1);
});

test("a replay goes on at its pace where a node died, and makes nothing up for the time without one", async () => {
  let dies = false;
  await using world = await createReplayWorld({
    onReplayFaultPoint(point) {
      if (dies && point === "after-queued") throw new Error("the node is gone");
    },
  });
  const { client, cluster, node } = world;
  await world.subscribe();
  await world.store(3_000);
  const id = await startFast(world);
  const queued = async () => (await client.getReplay({ id })).replay!.queued;
  for (let left = 15; left > 0; left--) await stepOn(world);
  dies = true;
  const before = await queued();
  cluster.clock.advance(100);
  await until(async () => (await queued()) > before);
  await until(async () => (await cluster.db.sql`select from due_tasks where lease_owner is not null`).length === 0);
  dies = false;
  cluster.clock.advance(30_000);
  const [atDeath, steps] = [await queued(), node.replaySteps.length];
  while (node.replaySteps.length < steps + 10) await stepOn(world);
  expect(Math.abs((await queued()) - atDeath - 500)).toBeLessThanOrEqual(50);
});

test("it makes nothing up for a node that died between two turns", async () => {
  await using world = await createReplayWorld();
  const { client, cluster, node } = world;
  await world.subscribe();
  await world.store(3_000);
  const id = await startFast(world);
  const queued = async () => (await client.getReplay({ id })).replay!.queued;
  const isHeld = async () => (await cluster.db.sql`select from due_tasks where lease_owner is not null`).length > 0;
  for (let left = 15; left > 0 || (await isHeld()); left--) await stepOn(world);
  cluster.clock.advance(2_000);
  const [before, steps] = [await queued(), node.replaySteps.length];
  while (node.replaySteps.length < steps + 10) await stepOn(world);
  expect(Math.abs((await queued()) - before - 500)).toBeLessThanOrEqual(50);
});

test("steps of one second that fail before or after their commit queue every pair once", async () => {
  let points = 0;
  const onReplayFaultPoint = () => {
    if (++points % 5 === 0) throw new Error("the node is gone");
  };
  await using world = await createReplayWorld({ onReplayFaultPoint });
  const { client, cluster, node, since } = world;
  await world.subscribe();
  await world.store(1_000);
  const id = (await client.startReplay({ since, perSecond: 500 })).replay!.id;
  const dueMs = async () => {
    const tasks = await cluster.db.sql<{ at: number }[]>`
      select extract(epoch from due_at)::float8 * 1000 as at from due_tasks where lease_owner is null`;
    return tasks[0]?.at ?? 0;
  };
  await untilMoved(async () => {
    // After each failure, up to a minute passes in which nothing is due.
    cluster.clock.advance(Math.max(100, (await dueMs()) - cluster.clock.now()));
    node.standing.engine.wake();
    return (await client.getReplay({ id })).replay!.state === ReplayState.DONE;
  });
  expect((await client.getReplay({ id })).replay).toMatchObject({ queued: 1_000, total: 1_000 });
  const pairs = await world.pairs();
  expect([pairs.length, new Set(pairs).size]).toEqual([1_000, 1_000]);
  expect(points).toBeGreaterThan(15);
});
