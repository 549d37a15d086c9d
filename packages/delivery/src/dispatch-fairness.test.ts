import type { SubscriptionId } from "@svc/core";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { startTestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createTestStore, startTestEngine, storeOn, type TestStore } from "./test-engine.ts";

afterAll(dropTestDatabases);

test("fresh deliveries do not queue behind the backlog of a dead endpoint", async () => {
  await using receiver = await startTestReceiver();
  receiver.script((req, res) => void res.writeHead(req.url === "/hook/dead" ? 500 : 200).end());
  await using store = await createTestStore();
  const [dead, well] = [await store.subscribe(`${receiver.url}/dead`), await store.subscribe(`${receiver.url}/well`)];
  await store.publish([dead.id], { count: 5_000 });
  store.clock.advance(60_000);
  await using engine = startTestEngine(store);
  await until(async () => (await store.subscription(dead.id)).failingSince !== null);
  await store.publish([well.id], { count: 100 });
  engine.dispatcher.wake();
  await until(() => receiver.requests.filter(({ path }) => path.endsWith("well")).length === 100);
  expect(receiver.requests.length).toBeLessThanOrEqual(100 + 16);
});

test("a subscription with a long backlog takes no more than its share of one look", async () => {
  await using receiver = await startTestReceiver();
  receiver.hold();
  await using store = await createTestStore();
  const [long, short] = [await store.subscribe(receiver.url), await store.subscribe(receiver.url)];
  await store.publish([long.id], { count: 1_000 });
  store.clock.advance(1_000);
  await store.publish([short.id], { count: 5 });
  await using engine = startTestEngine(store);
  await until(() => engine.dispatcher.stats().held === 32 + 5);
  await until(() => receiver.inFlight() === 16 + 5);
  receiver.release();
});

test("with more queues than a look has room for, every queue gets its turn before any has had many", async () => {
  await using receiver = await startTestReceiver();
  await using store = await createTestStore();
  const ids: SubscriptionId[] = [];
  for (let queue = 0; queue < 30; queue++) ids.push((await store.subscribe(`${receiver.url}/${queue}`)).id);
  await store.publish(ids, { count: 60 });
  // The engine holds at most 8 deliveries at a time, 2 for each queue. So one claim takes deliveries from four queues.
  await using _engine = startTestEngine(store, { limits: { endpointConcurrency: 1, heldMax: 8 } });
  await until(() => receiver.requests.length >= 600);
  expect(new Set(receiver.requests.slice(0, 600).map(({ path }) => path)).size).toBe(30);
});

test("more queues than one look visits are all served", async () => {
  await using receiver = await startTestReceiver();
  await using store = await createTestStore();
  const { id } = await store.subscribe(receiver.url);
  await store.db
    .sql`insert into subscriptions (id, project_id, endpoint_url, toolkit_slug, trigger_slug, signing_secret, created_at, active)
    select gen_random_uuid(), project_id, endpoint_url, '', '', signing_secret, created_at, false from subscriptions, generate_series(1, 600)`;
  await store.db.sql`insert into delivery_tasks (delivery_id, project_id, subscription_id, event_id, due_at)
    select gen_random_uuid(), project_id, id, gen_random_uuid(), created_at from subscriptions where not active`;
  await store.publish([id]);
  await using _engine = startTestEngine(store);
  await until(async () => (await store.count("delivered")) === 1);
});

/**
 * Starts a project with four slow endpoints and many waiting deliveries, a second project with a quick endpoint, and an engine that makes 8
 * attempts at a time.
 */
async function startSlowAndQuick(store: TestStore) {
  const [slow, quick] = [await startTestReceiver(), await startTestReceiver()];
  slow.hold();
  const ids: SubscriptionId[] = [];
  for (let index = 0; index < 4; index++) ids.push((await store.subscribe(`${slow.url}/${index}`)).id);
  const other = await storeOn(store.db, store);
  const { id } = await other.subscribe(quick.url);
  const engine = startTestEngine(store, { limits: { endpointConcurrency: 4, inFlightMax: 8 } });
  await store.publish(ids, { count: 40 });
  engine.dispatcher.wake();
  await until(() => slow.inFlight() === 4);
  return {
    ...{ slow, quick, ids, other, id, engine },
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await Promise.all([slow[Symbol.asyncDispose](), quick[Symbol.asyncDispose]()]);
    },
  };
}

test("a project whose endpoints are slow leaves turns for the first sends of another", async () => {
  await using store = await createTestStore();
  await using parts = await startSlowAndQuick(store);
  const { slow, quick, ids, other, id, engine } = parts;
  const { dispatcher, nodeId } = engine;
  expect(dispatcher.room(ids[0]!, store.projectId)).toBe(0);
  expect(dispatcher.room(id, other.projectId)).toBe(8);
  const untilMs = store.clock.now() + dispatcher.leaseMs;
  const deliveries = await other.publish([id], { count: 5, leased: { owner: nodeId, untilMs } });
  dispatcher.submit(await other.firstSends(dispatcher, id, deliveries, untilMs));
  await until(() => quick.requests.length === 5);
  expect(slow.inFlight()).toBe(4);
});

test("a project whose endpoints are slow leaves turns for what is claimed of another", async () => {
  await using store = await createTestStore();
  await using parts = await startSlowAndQuick(store);
  const { slow, quick, other, id, engine } = parts;
  await other.publish([id], { count: 20 });
  engine.dispatcher.wake();
  await until(() => quick.requests.length === 20);
  expect(slow.inFlight()).toBe(4);
});

test("turns that come free go round robin over the queues of a project at its share, and all of it is delivered", async () => {
  await using store = await createTestStore();
  await using parts = await startSlowAndQuick(store);
  const { slow } = parts;
  slow.release();
  await until(async () => (await store.count("delivered")) === 160);
  expect(slow.requests).toHaveLength(160);
  expect(slow.inFlightMax()).toBe(4);
  expect(new Set(slow.requests.slice(4, 12).map(({ path }) => path)).size).toBe(4);
});

test("what grew old waiting for a turn is given back, and not claimed again while no turn is free", async () => {
  await using store = await createTestStore();
  await using receiver = await startTestReceiver();
  receiver.hold();
  await using engine = startTestEngine(store, { limits: { endpointConcurrency: 2 } });
  const { id } = await store.subscribe(receiver.url);
  await store.publish([id], { count: 10 });
  engine.dispatcher.wake();
  await until(() => receiver.inFlight() === 2 && engine.dispatcher.stats().held === 4);
  store.clock.advance(13_500);
  receiver.release();
  receiver.hold();
  // Two attempts have ended, so the engine claims two more deliveries, and no more than two.
  await until(() => {
    engine.dispatcher.wake();
    return receiver.requests.length === 4;
  });
  await until(() => engine.dispatcher.stats().held === 2);
  expect(engine.dispatcher.room(id, store.projectId)).toBe(0);
  receiver.release();
});

test("a backlog of an inactive subscription ends a batch a look, without pauses between the looks", async () => {
  await using store = await createTestStore();
  const { id } = await store.subscribe("http://127.0.0.1:1/");
  await store.publish([id], { count: 5_000 });
  await store.db.sql`update subscriptions set active = false`;
  await using _engine = startTestEngine(store);
  // The clock of the test does not move, so the engine must end all tasks without a pause between its claims.
  await until(async () => (await store.count("dead_letter")) === 5_000);
});
