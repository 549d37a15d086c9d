import type { SubscriptionId } from "@svc/core";
import { afterAll, expect, test } from "vitest";
import { dropTestDatabases } from "./test-databases.ts";
import { createTestStore, startTestEngine } from "./test-engine.ts";
import { startTestReceiver } from "./test-receiver.ts";
import { until } from "./test-until.ts";

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

test("with more lanes than a look has room for, every lane gets its turn before any has had many", async () => {
  await using receiver = await startTestReceiver();
  await using store = await createTestStore();
  const ids: SubscriptionId[] = [];
  for (let lane = 0; lane < 30; lane++) ids.push((await store.subscribe(`${receiver.url}/${lane}`)).id);
  await store.publish(ids, { count: 60 });
  // Room for 8 deliveries at a time, 2 a lane: four lanes a look.
  await using _engine = startTestEngine(store, { limits: { endpointConcurrency: 1, heldMax: 8 } });
  await until(() => receiver.requests.length >= 600);
  expect(new Set(receiver.requests.slice(0, 600).map(({ path }) => path)).size).toBe(30);
});

test("more lanes than one look visits are all served", async () => {
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
