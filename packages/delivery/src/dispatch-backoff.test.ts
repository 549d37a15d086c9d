import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { startTestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createTestStore, startTestEngine, type TestEngine, type TestStore } from "./test-engine.ts";

afterAll(dropTestDatabases);

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const always = Array.from({ length: 200 }, () => 1_000);

async function attempted(engine: TestEngine, count: number): Promise<void> {
  await until(() => engine.attempts.length >= count && engine.dispatcher.stats().held === 0);
  expect(engine.attempts).toHaveLength(count);
}

/** Moves the clock to the end of the endpoint's backoff. The engine then sends the probe (one test delivery). */
async function advanceToProbe(
  { clock, subscription }: TestStore,
  { dispatcher }: TestEngine,
  id: Parameters<typeof subscription>[0],
) {
  const { backoffUntil } = await subscription(id);
  clock.advance(Math.max(0, (backoffUntil ?? 0) - clock.now()));
  dispatcher.wake();
}

test("the backoff doubles from 1 s to 5 min, one probe at a time, and a success opens the endpoint", async () => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 });
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { retryScheduleMs: always, endpointConcurrency: 1 } });
  const { id } = await store.subscribe(receiver.url);
  await store.publish([id], { count: 1 });
  engine.dispatcher.wake();
  await attempted(engine, 1);
  await store.publish([id], { count: 40 });

  const backoffs: (number | null)[] = [];
  for (let number = 2; number <= 12; number++) {
    backoffs.push((await store.subscription(id)).backoffMs);
    await advanceToProbe(store, engine, id);
    await attempted(engine, number);
  }
  expect(backoffs).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000));

  receiver.script({ status: 200 });
  await advanceToProbe(store, engine, id);
  await until(async () => (await store.count("delivered")) === 41);
  expect(await store.subscription(id)).toMatchObject({ failingSince: null, backoffUntil: null, backoffMs: 0 });
});

test("sixteen deliveries that fail together count once", async () => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 });
  receiver.hold();
  await using store = await createTestStore();
  await using engine = startTestEngine(store);
  const { id } = await store.subscribe(receiver.url);
  await store.publish([id], { count: 16 });
  engine.dispatcher.wake();
  await until(() => receiver.inFlight() === 16);
  receiver.release();
  await attempted(engine, 16);
  const { failingSince, backoffMs, backoffUntil } = await store.subscription(id);
  expect([failingSince, backoffMs, backoffUntil]).toEqual([store.clock.now(), 1_000, store.clock.now() + 1_000]);
});

test("attempts that fail one after the other within the moment of the first failure count once", async () => {
  await using receiver = await startTestReceiver();
  receiver.script(
    { status: 500 },
    (_req, res) => void setImmediate(() => setImmediate(() => res.writeHead(500).end())),
    { status: 500 },
  );
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { retryScheduleMs: always } });
  const [{ id }] = [await store.subscribe(receiver.url)];
  await store.publish([id], { count: 16 });
  engine.dispatcher.wake();
  await attempted(engine, 16);
  expect((await store.subscription(id)).backoffMs).toBe(1_000);
});

test("while an endpoint backs off, nothing goes out to it and others are served", async () => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 }, { status: 200 });
  await using well = await startTestReceiver();
  await using store = await createTestStore();
  await using engine = startTestEngine(store);
  const [failing, other] = [await store.subscribe(receiver.url), await store.subscribe(well.url)];
  await store.publish([failing.id]);
  engine.dispatcher.wake();
  await attempted(engine, 1);
  expect(engine.dispatcher.room(failing.id, store.projectId)).toBe(0);
  await store.publish([failing.id, other.id], { count: 10 });
  engine.dispatcher.wake();
  await attempted(engine, 11);
  expect(receiver.requests).toHaveLength(1);
  store.clock.advance(1_000);
  engine.dispatcher.wake();
  await attempted(engine, 22);
  expect(await store.count("delivered")).toBe(21);
});

test("first sends that were under way to an endpoint when it failed are given back, not sent", async () => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 });
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { retryScheduleMs: always } });
  const { id } = await store.subscribe(receiver.url);
  await store.publish([id]);
  engine.dispatcher.wake();
  await attempted(engine, 1);
  const untilMs = store.clock.now() + engine.dispatcher.leaseMs;
  const deliveries = await store.publish([id], { count: 20, leased: { owner: engine.nodeId, untilMs } });
  engine.dispatcher.submit(await store.firstSends(engine.dispatcher, id, deliveries, untilMs));
  await attempted(engine, 1);
  const [row] = await store.db.sql`select count(*)::int4 as count from delivery_tasks where lease_owner is not null`;
  expect(row).toEqual({ count: 0 });
});

test("a failure and a success that are recorded together leave the endpoint open", async () => {
  await using receiver = await startTestReceiver();
  receiver.hold();
  receiver.script({ status: 500 }, { status: 200 });
  await using store = await createTestStore();
  await using engine = startTestEngine(store);
  const { id } = await store.subscribe(receiver.url);
  const [first] = await store.publish([id]);
  engine.dispatcher.wake();
  await until(() => receiver.inFlight() === 1);
  await store.publish([id]);
  engine.dispatcher.wake();
  await until(() => receiver.inFlight() === 2);
  receiver.release();
  await attempted(engine, 2);
  const { failingSince } = await store.subscription(id);
  // A failure and a success may arrive in any order. The answer that was read last decides if the endpoint counts as failing.
  expect(failingSince).toBe(engine.attempts.at(-1)?.deliveryId === first ? store.clock.now() : null);
  expect(engine.attempts.map(({ state }) => state).sort()).toEqual(["delivered", "pending"]);
});

test("410 for an hour and three attempts deactivates; what is pending ends", async () => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 410 });
  await using store = await createTestStore();
  await using engine = startTestEngine(store, {
    limits: { retryScheduleMs: [10 * minute, 45 * minute, 10 * minute, day] },
  });
  const { id } = await store.subscribe(receiver.url);
  const [first] = await store.publish([id]);
  engine.dispatcher.wake();
  await attempted(engine, 1);
  for (const [number, ms] of [
    [2, 10 * minute],
    [3, 45 * minute],
  ] as const) {
    store.clock.advance(ms);
    engine.dispatcher.wake();
    await attempted(engine, number);
  }
  expect(await store.subscription(id)).toMatchObject({ active: true, goneCount: 3 });
  await store.publish([id], { count: 10 });
  const before = await routingVersion(store);
  store.clock.advance(10 * minute);
  engine.dispatcher.wake();
  await until(async () => !(await store.subscription(id)).active);
  expect((await store.subscription(id)).inactiveReason).toBe("gone");
  expect(await routingVersion(store)).toBe(before + 1);
  await until(async () => (await store.count("dead_letter")) === 11, "all end");
  expect(await store.delivery(first!)).toMatchObject({ attempts: expect.any(Number), nextAttemptAt: null });
});

test("410 for an hour is not enough with two attempts, nor with another failure in between", async () => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 410 }, { status: 410 }, { status: 500 }, { status: 410 });
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { retryScheduleMs: [2 * hour, hour, hour, hour] } });
  const { id } = await store.subscribe(receiver.url);
  await store.publish([id]);
  const counts = [];
  for (let number = 1; number <= 4; number++) {
    engine.dispatcher.wake();
    await attempted(engine, number);
    counts.push((await store.subscription(id)).goneCount);
    store.clock.advance(2 * hour);
  }
  expect(counts).toEqual([1, 2, 0, 1]);
  expect((await store.subscription(id)).active).toBe(true);
});

test("five days of nothing but failures deactivates; less does not", async () => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 });
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { retryScheduleMs: Array.from({ length: 9 }, () => day) } });
  const { id } = await store.subscribe(receiver.url);
  await store.publish([id], { count: 1 });
  for (let number = 1; number <= 5; number++) {
    engine.dispatcher.wake();
    await attempted(engine, number);
    expect((await store.subscription(id)).active).toBe(true);
    store.clock.advance(day);
  }
  engine.dispatcher.wake();
  await until(async () => !(await store.subscription(id)).active);
  expect((await store.subscription(id)).inactiveReason).toBe("failing");
  await until(async () => (await store.count("dead_letter")) === 1);
});

test("a success that another node had keeps an endpoint from being given up", async () => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 });
  await using store = await createTestStore();
  await using failing = startTestEngine(store, { limits: { retryScheduleMs: [] } });
  const { id } = await store.subscribe(receiver.url);
  await store.publish([id]);
  failing.dispatcher.wake();
  await attempted(failing, 1);
  await failing.dispatcher.drain(0);

  receiver.script({ status: 200 });
  store.clock.advance(day);
  await using other = startTestEngine(store, { limits: { retryScheduleMs: [] } });
  const untilMs = store.clock.now() + other.dispatcher.leaseMs;
  const [delivery] = await store.publish([id], { leased: { owner: other.nodeId, untilMs } });
  other.dispatcher.submit(await store.firstSends(other.dispatcher, id, [delivery!], untilMs));
  await attempted(other, 1);
  receiver.script({ status: 500 });
  store.clock.advance(6 * day);
  await store.publish([id]);
  other.dispatcher.wake();
  await attempted(other, 2);
  expect((await store.subscription(id)).active).toBe(true);
});

async function routingVersion({ db, projectId: _ }: TestStore): Promise<number> {
  const [row] = await db.sql<{ version: string }[]>`select routing_version as version from projects`;
  return Number(row?.version);
}
