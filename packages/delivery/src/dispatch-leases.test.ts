import { createId } from "@svc/core";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { startTestReceiver } from "@svc/testing/receiver";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createTestStore, startTestEngine } from "./test-engine.ts";

afterAll(dropTestDatabases);

const leaseMs = 30_000;

test("a lost lease cannot settle a delivery", async () => {
  await using receiver = await startTestReceiver();
  await using store = await createTestStore();
  // The pause between two claims is longer than the test, so this engine makes no further claim by itself.
  await using slow = startTestEngine(store, { limits: { pollMs: 2 * leaseMs } });
  const { id } = await store.subscribe(receiver.url);
  const [delivery] = await store.publish([id]);
  receiver.script((_req, res) => void held.push(() => res.writeHead(500).end()), { status: 200 });
  const held: (() => void)[] = [];
  slow.dispatcher.wake();
  await until(() => held.length === 1);

  store.clock.advance(leaseMs);
  await using other = startTestEngine(store);
  await until(async () => (await store.delivery(delivery!)).state === "delivered");
  for (const answer of held) answer();
  await until(() => slow.leasesLost() === 1);
  expect(await store.delivery(delivery!)).toMatchObject({ state: "delivered", attempts: 1, lastError: "" });
  expect(await store.attemptsOf(delivery!)).toMatchObject([{ number: 1, statusCode: 200 }]);
  // The engine calls the observer after the commit, so the test must wait for it although the database already has the attempt.
  await until(() => other.attempts.length > 0);
  expect(other.attempts).toHaveLength(1);
});

test("an attempt whose lease ran out leaves the same node's new attempt alone", async () => {
  await using receiver = await startTestReceiver();
  await using store = await createTestStore();
  await using engine = startTestEngine(store);
  const { id } = await store.subscribe(receiver.url);
  const [delivery] = await store.publish([id]);
  const held: (() => void)[] = [];
  receiver.script((_req, res) => void held.push(() => res.writeHead(200).end()));
  engine.dispatcher.wake();
  await until(() => held.length === 1);
  store.clock.advance(leaseMs);
  engine.dispatcher.wake();
  await until(() => held.length === 2);
  held[0]!();
  await until(() => engine.leasesLost() === 1);
  expect(await store.delivery(delivery!)).toMatchObject({ state: "pending", attempts: 0 });
  // The new attempt is aborted, and its delivery stays in the queue as before.
  await engine.dispatcher.drain(0);
  await until(() => engine.attempts.length > 0);
  expect(engine.attempts).toHaveLength(1);
  const [task] = await store.db.sql`select lease_owner from delivery_tasks`;
  expect(task).toEqual({ lease_owner: null });
});

test("leases of a node that died are claimed by another once they have run out, and not before", async () => {
  await using receiver = await startTestReceiver();
  await using store = await createTestStore();
  const { id } = await store.subscribe(receiver.url);
  const dead = createId("node", store.clock.now());
  await store.publish([id], { count: 30, leased: { owner: dead, untilMs: store.clock.now() + leaseMs } });
  await using engine = startTestEngine(store);
  store.clock.advance(leaseMs - 1);
  // The engine claims the new delivery, which shows that it has made another claim.
  await store.publish([id]);
  engine.dispatcher.wake();
  await until(async () => (await store.count("delivered")) === 1);
  store.clock.advance(1);
  engine.dispatcher.wake();
  await until(async () => (await store.count("delivered")) === 31);
  expect(receiver.requests).toHaveLength(31);
});

test("many nodes on one store deliver everything once", async () => {
  await using receiver = await startTestReceiver();
  await using store = await createTestStore();
  const ids = [];
  for (let index = 0; index < 4; index++) ids.push((await store.subscribe(`${receiver.url}/${index}`)).id);
  await store.publish(ids, { count: 100 });
  const limits = { pollMs: 5 };
  await using _first = startTestEngine(store, { limits });
  await using _second = startTestEngine(store, { limits });
  await using _third = startTestEngine(store, { limits });
  await untilMoved(async () => {
    store.clock.advance(5);
    return (await store.count("delivered")) === 400;
  });
  expect(receiver.requests).toHaveLength(400);
  expect(new Set(receiver.requests.map(({ headers }) => headers["x-svc-delivery-id"])).size).toBe(400);
});

test("a lease is not used in its last moments", async () => {
  await using receiver = await startTestReceiver();
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { endpointConcurrency: 1 } });
  const { id } = await store.subscribe(receiver.url);
  receiver.hold();
  const deliveries = await store.publish([id], { count: 2 });
  engine.dispatcher.wake();
  await until(() => receiver.inFlight() === 1);
  expect(engine.dispatcher.stats()).toEqual({ held: 2, inFlight: 1 });
  // After 13.1 s, the rest of the second lease is too short for an attempt: 15 s plus a margin of 2 s.
  store.clock.advance(13_001);
  receiver.release();
  await until(() => engine.dispatcher.stats().held === 0);
  engine.dispatcher.wake();
  await until(async () => (await store.count("delivered")) === 2);
  expect(receiver.requests.map(({ headers }) => headers["x-svc-delivery-id"]).sort()).toEqual([...deliveries].sort());
  const starts = [];
  for (const delivery of deliveries) starts.push((await store.attemptsOf(delivery))[0]!.startedAt);
  expect(Math.abs(starts[0]! - starts[1]!)).toBe(13_001);
});

test("a drain finishes what is in flight and gives every other lease back at once", async () => {
  await using receiver = await startTestReceiver();
  receiver.hold();
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { endpointConcurrency: 2 } });
  const { id } = await store.subscribe(receiver.url);
  await store.publish([id], { count: 10 });
  engine.dispatcher.wake();
  await until(() => receiver.inFlight() === 2 && engine.dispatcher.stats().held === 4);
  const drained = engine.dispatcher.drain(35_000);
  await until(async () => (await leased()) === 2);
  receiver.release();
  await drained;
  expect(await store.count("delivered")).toBe(2);
  expect(await leased()).toBe(0);
  expect(receiver.requests).toHaveLength(2);
  expect(engine.dispatcher.stats()).toEqual({ held: 0, inFlight: 0 });

  async function leased() {
    const [row] = await store.db.sql<{ count: number }[]>`
      select count(*)::int4 as count from delivery_tasks where lease_owner is not null`;
    return row?.count;
  }
});

test("a drain whose time is over breaks off what is in flight: no attempt is counted and another node sends it at once", async () => {
  await using receiver = await startTestReceiver();
  receiver.hold();
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { endpointConcurrency: 2 } });
  const { id } = await store.subscribe(receiver.url);
  const deliveries = await store.publish([id], { count: 6 });
  engine.dispatcher.wake();
  await until(() => receiver.inFlight() === 2);
  const drained = engine.dispatcher.drain(35_000);
  await until(() => engine.dispatcher.stats().held === 2);
  store.clock.advance(35_000);
  await drained;
  expect(engine.attempts).toHaveLength(0);
  expect(await store.subscription(id)).toMatchObject({ failingSince: null });
  for (const delivery of deliveries)
    expect(await store.delivery(delivery)).toMatchObject({ state: "pending", attempts: 0 });

  receiver.release();
  await using other = startTestEngine(store);
  await until(async () => (await store.count("delivered")) === 6);
  await until(() => other.attempts.length >= 6);
  expect(other.attempts).toHaveLength(6);
});

test("what is submitted after a drain is given back", async () => {
  await using receiver = await startTestReceiver();
  await using store = await createTestStore();
  await using engine = startTestEngine(store);
  const { id } = await store.subscribe(receiver.url);
  const untilMs = store.clock.now() + leaseMs;
  const [delivery] = await store.publish([id], { leased: { owner: engine.nodeId, untilMs } });
  await engine.dispatcher.drain(0);
  engine.dispatcher.submit(await store.firstSends(engine.dispatcher, id, [delivery!], untilMs));
  await until(() => engine.dispatcher.stats().held === 0);
  const [task] = await store.db.sql`select lease_owner from delivery_tasks`;
  expect(task).toEqual({ lease_owner: null });
  expect(receiver.requests).toHaveLength(0);
});
