import { createId, firstUuidAt } from "@svc/core";
import { enqueueDeliveries } from "@svc/db/deliveries/enqueue";
import { findEventMatches } from "@svc/db/events/follow";
import { subscriptionsForProject } from "@svc/db/subscriptions/repo";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createTestStore, startTestEngine, type TestEngine, type TestStore } from "./test-engine.ts";

afterAll(dropTestDatabases);

const minute = 60_000;
const health = {
  backoffMinMs: minute,
  backoffMaxMs: minute,
  failingMaxMs: 15 * minute,
  goneMaxMs: 60 * minute,
  goneMin: 3,
};
const always = Array.from({ length: 200 }, () => 1_000);

type Received = { readonly id: string; readonly triggerSlug: string; readonly payload: Record<string, unknown> };

/** Returns the operational events that a receiver got, each once however often it came. */
function received({ requests }: TestReceiver): Received[] {
  const all = requests.map(({ body }) => JSON.parse(body.toString()) as Received);
  return [...new Map(all.map((one) => [one.id, one])).values()];
}

const namesOf = (receiver: TestReceiver) => received(receiver).map(({ triggerSlug }) => triggerSlug);

/** Stored operational events, with the number of their deliveries. */
function stored({ db }: TestStore) {
  return db.sql<{ trigger: string; deliveries: number }[]>`
    select trigger_slug as trigger, (select count(*)::int4 from deliveries d where d.event_id = e.id) as deliveries
    from events e where toolkit_slug = 'svc' order by e.id`;
}

/** Moves the clock minute by minute until an endpoint was tried `count` times more. `publish` stores what is tried the first time. */
async function tryMinutely(
  { clock, subscription }: TestStore,
  engine: TestEngine,
  id: Parameters<typeof subscription>[0],
  count: number,
  publish?: () => Promise<unknown>,
) {
  for (let nth = 0; nth < count; nth++) {
    // Counted before anything is published, because a delivery whose time has come is tried at once.
    const before = engine.attempts.filter(({ subscriptionId }) => subscriptionId === id).length;
    if (nth === 0) await publish?.();
    const { backoffUntil } = await subscription(id);
    clock.advance(Math.max(0, (backoffUntil ?? 0) - clock.now()));
    await until(() => {
      engine.dispatcher.wake();
      return engine.attempts.filter(({ subscriptionId }) => subscriptionId === id).length > before;
    });
    await until(() => engine.dispatcher.stats().held === 0);
  }
}

test("an outage is reported once after 10 minutes, and once when it ends or when svc deactivates the subscription", async () => {
  await using dead = await startTestReceiver();
  await using ops = await startTestReceiver();
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { retryScheduleMs: always, endpointConcurrency: 1, health } });
  const { id } = await store.subscribe(dead.url);
  await store.subscribe(ops.url, "svc");
  dead.script({ status: 500 });
  await store.publish([id], { count: 3 });
  const startedAt = new Date(store.clock.now()).toISOString();
  await tryMinutely(store, engine, id, 10);
  expect(await stored(store)).toEqual([]);
  await tryMinutely(store, engine, id, 3);
  await until(() => received(ops).length === 1);
  const about = { subscriptionId: id, endpointOrigin: new URL(dead.url).origin, toolkitSlug: "", triggerSlug: "" };
  expect(received(ops)).toMatchObject([
    { triggerSlug: "svc.subscription_failing", payload: { ...about, failingSince: startedAt, lastError: "http_500" } },
  ]);
  dead.script({ status: 200 });
  await tryMinutely(store, engine, id, 1);
  await until(() => received(ops).length === 2);
  expect(received(ops)[1]).toMatchObject({
    triggerSlug: "svc.subscription_recovered",
    payload: { ...about, failingSince: startedAt, recoveredAt: new Date(store.clock.now()).toISOString() },
  });
  await until(async () => (await store.count("delivered")) === 5);
  // A short outage is not reported, neither its start nor its end.
  dead.script({ status: 500 }, { status: 200 });
  await tryMinutely(store, engine, id, 2, () => store.publish([id]));
  dead.script({ status: 500 });
  await tryMinutely(store, engine, id, 16, () => store.publish([id], { count: 3 }));
  await until(() => received(ops).length === 4);
  expect(namesOf(ops).slice(2)).toEqual(["svc.subscription_failing", "svc.subscription_disabled"]);
  expect(received(ops)[3]?.payload).toMatchObject({
    ...about,
    reason: "failing",
    pendingCount: 3,
    lastError: "http_500",
  });
  expect(await stored(store)).toHaveLength(4);
});

test("dead deliveries are reported once a minute, never those of operational events, and to no other subscription", async () => {
  await using dead = await startTestReceiver();
  await using ops = await startTestReceiver();
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { retryScheduleMs: [], health } });
  const [first, every] = [await store.subscribe(dead.url), await store.subscribe(ops.url)];
  dead.script({ status: 500 });
  // Nobody wants operational events, so there are none.
  await store.publish([first.id]);
  await tryMinutely(store, engine, first.id, 1);
  expect(await store.count("dead_letter")).toBe(1);
  expect(await stored(store)).toEqual([]);
  const { id: own } = await store.subscribe(dead.url, "svc");
  await store.subscribe(ops.url, "svc");
  const [deliveryId] = await store.publish([first.id, every.id]);
  await tryMinutely(store, engine, first.id, 1);
  await until(() => received(ops).length === 2);
  const event = received(ops).find(({ triggerSlug }) => triggerSlug.startsWith("svc."));
  expect(event?.payload).toEqual({
    ...{ subscriptionId: first.id, endpointOrigin: new URL(dead.url).origin, toolkitSlug: "", triggerSlug: "" },
    ...{ count: 1, deliveryIds: [deliveryId], lastError: "http_500" },
  });
  // The delivery of that event to the dead endpoint is dead too.
  await until(async () => (await store.count("dead_letter")) === 3);
  expect(await stored(store)).toEqual([{ trigger: "svc.delivery_dead", deliveries: 2 }]);
  expect(engine.attempts.filter(({ subscriptionId }) => subscriptionId === own)).toHaveLength(1);
});

test("a failing subscription with too many pending deliveries is deactivated, counted every 5 minutes, and its events can be replayed", async () => {
  await using dead = await startTestReceiver();
  await using ops = await startTestReceiver();
  await using store = await createTestStore();
  const limits = { retryScheduleMs: always, endpointConcurrency: 1, health, pendingMax: 5 };
  await using engine = startTestEngine(store, { limits });
  const [{ id }, other] = [await store.subscribe(dead.url), await store.subscribe(dead.url)];
  await store.subscribe(ops.url, "svc");
  dead.script({ status: 500 });
  await store.publish([id, other.id], { count: 5 });
  await tryMinutely(store, engine, id, 1);
  expect((await store.subscription(id)).active).toBe(true);
  await store.publish([id]);
  // Counted less than 5 minutes ago.
  await tryMinutely(store, engine, id, 4);
  expect((await store.subscription(id)).active).toBe(true);
  await tryMinutely(store, engine, id, 1);
  await until(async () => !(await store.subscription(id)).active);
  expect(await store.subscription(id)).toMatchObject({ active: false, inactiveReason: "overflow" });
  await until(() => received(ops).length === 1);
  expect(received(ops)).toMatchObject([
    { triggerSlug: "svc.subscription_disabled", payload: { subscriptionId: id, reason: "overflow", pendingCount: 6 } },
  ]);
  await until(async () => (await store.count("dead_letter")) === 6);
  expect((await store.subscription(other.id)).active).toBe(true);

  dead.script({ status: 200 });
  const { db, projectId } = store;
  await subscriptionsForProject(db, projectId).update(id, { active: true });
  const range = { fromUuid: firstUuidAt(0), toUuid: firstUuidAt(store.clock.now() + 1) };
  const filter = { ...range, toolkitSlug: "", triggerSlug: "", subscriptionId: id, onlyUndelivered: true };
  const { pairs } = await findEventMatches(db, projectId, filter, 10);
  const again = pairs.map((pair) => ({ ...pair, id: createId("dlv", store.clock.now()) }));
  await enqueueDeliveries(db, { projectId, dueAtMs: store.clock.now(), lowPriority: false }, again);
  await tryMinutely(store, engine, id, 1);
  await until(async () => (await store.delivery(again.at(-1)!.id)).state === "delivered");
  expect(again).toHaveLength(6);
});

test("an event about a subscription never goes to that subscription", async () => {
  await using dead = await startTestReceiver();
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { retryScheduleMs: always, endpointConcurrency: 1, health } });
  const { id } = await store.subscribe(dead.url, "svc");
  dead.script({ status: 500 });
  await tryMinutely(store, engine, id, 16, () => store.publish([id]));
  expect(await stored(store)).toEqual([
    { trigger: "svc.subscription_failing", deliveries: 0 },
    { trigger: "svc.subscription_disabled", deliveries: 0 },
  ]);
});

test("a fact and its event are stored together or not at all", async () => {
  await using dead = await startTestReceiver();
  await using ops = await startTestReceiver();
  await using store = await createTestStore();
  const limits = { retryScheduleMs: [], health: { ...health, failingMaxMs: 0 } };
  await using engine = startTestEngine(store, { limits });
  const { id } = await store.subscribe(dead.url);
  await store.subscribe(ops.url, "svc");
  dead.script({ status: 500 });
  // As if the node died between the fact and its event: the store ends the connection.
  const { sql } = store.db;
  await sql.unsafe(`create function die() returns trigger language plpgsql as
    $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`);
  const dieAt = (slug: string) =>
    sql.unsafe(
      `create trigger die before insert on events for each row when (new.trigger_slug = '${slug}') execute function die()`,
    );
  const failed = (what: string) => engine.failures.some((failure) => failure.what === what);
  await dieAt("svc.delivery_dead");
  await store.publish([id]);
  engine.dispatcher.wake();
  await until(() => failed("settle"));
  expect([await store.count("dead_letter"), await stored(store)]).toEqual([0, []]);
  await sql.unsafe("drop trigger die on events");
  await until(async () => {
    store.clock.advance(250);
    return (await store.count("dead_letter")) === 1;
  });
  await dieAt("svc.subscription_disabled");
  await tryMinutely(store, engine, id, 1, () => store.publish([id]));
  await until(() => failed("health"));
  expect((await store.subscription(id)).active).toBe(true);
  await sql.unsafe("drop trigger die on events");
  store.clock.advance(minute);
  await tryMinutely(store, engine, id, 1, () => store.publish([id]));
  expect((await store.subscription(id)).active).toBe(false);
  await until(() => received(ops).length === 4);
  expect(namesOf(ops).toSorted()).toEqual([...Array(3).fill("svc.delivery_dead"), "svc.subscription_disabled"]);
  expect(await stored(store)).toHaveLength(4);
});
