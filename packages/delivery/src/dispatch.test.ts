import { createHmac } from "node:crypto";
import { createId } from "@svc/core";
import { subscriptionsForProject } from "@svc/db/subscriptions/repo";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { startTestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import { Webhook } from "standardwebhooks";
import { afterAll, expect, test } from "vitest";
import { createTestStore, startTestEngine, type TestEngine, type TestStore } from "./test-engine.ts";

afterAll(dropTestDatabases);

/** Moves the clock forward, and makes the engine claim due deliveries. */
function advance({ clock }: TestStore, { dispatcher }: TestEngine, ms: number): void {
  clock.advance(ms);
  dispatcher.wake();
}

/** Resolves when the engine has made `count` attempts in all and has stored the last one. */
async function attempted(engine: TestEngine, count: number): Promise<void> {
  await until(() => engine.attempts.length >= count && engine.dispatcher.stats().held === 0);
  expect(engine.attempts).toHaveLength(count);
}

test("a delivery is signed for the public Standard Webhooks library and for a plain HMAC of the raw body", async () => {
  await using receiver = await startTestReceiver();
  await using store = await createTestStore();
  await using engine = startTestEngine(store);
  // The library that verifies signatures compares their time with the machine's clock, so the test sets its clock to the same time.
  store.clock.advance(Date.now() - store.clock.now());
  const { id, secret } = await store.subscribe(receiver.url);
  const [delivery] = await store.publish([id], { payload: '{"text":"zwölf \\u0000 \\ud800 😀"}' });
  engine.dispatcher.wake();
  await attempted(engine, 1);

  const [{ headers, body }] = receiver.requests as [(typeof receiver.requests)[0]];
  const hmac = createHmac("sha256", secret).update(body).digest("hex");
  expect(headers["x-svc-signature"]).toBe(`sha256=${hmac}`);
  expect(headers["x-svc-delivery-id"]).toBe(delivery);
  expect(new Webhook(secret).verify(body.toString("utf8"), headers)).toMatchObject({
    type: "event",
    triggerSlug: "code_host.issue_opened",
    payload: { text: "zwölf \0 \ud800 😀" },
  });
});

test("a delivered delivery and its attempt are readable", async () => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 201, headers: { "x-trace": "t1" }, body: "thanks" });
  await using store = await createTestStore();
  await using engine = startTestEngine(store);
  const { id } = await store.subscribe(receiver.url);
  const [delivery] = await store.publish([id]);
  engine.dispatcher.wake();
  await attempted(engine, 1);

  expect(await store.delivery(delivery!)).toMatchObject({
    state: "delivered",
    attempts: 1,
    lastError: "",
    lastAttemptAt: store.clock.now(),
    nextAttemptAt: null,
  });
  expect(await store.attemptsOf(delivery!)).toEqual([
    {
      number: 1,
      startedAt: store.clock.now(),
      durationMs: 0,
      requestUrl: receiver.url,
      address: "127.0.0.1",
      statusCode: 201,
      error: "",
      responseHeaders: expect.objectContaining({ "x-trace": "t1" }),
      responseBody: "thanks",
    },
  ]);
  expect(engine.attempts).toMatchObject([{ deliveryId: delivery, state: "delivered", statusCode: 201, number: 1 }]);
});

test("an endpoint that fails twice gets the delivery the third time, the same bytes under the same id", async () => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 }, { status: 503 }, { status: 200 });
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { retryScheduleMs: [5_000, 30_000] } });
  const { id } = await store.subscribe(receiver.url);
  const [delivery] = await store.publish([id]);
  engine.dispatcher.wake();
  await attempted(engine, 1);
  expect(await store.delivery(delivery!)).toMatchObject({
    state: "pending",
    attempts: 1,
    lastError: "http_500",
    nextAttemptAt: store.clock.now() + 5_000,
  });
  advance(store, engine, 4_999);
  advance(store, engine, 1);
  await attempted(engine, 2);
  advance(store, engine, 30_000);
  await attempted(engine, 3);

  expect(await store.delivery(delivery!)).toMatchObject({ state: "delivered", attempts: 3, lastError: "" });
  expect((await store.attemptsOf(delivery!)).map(({ number, error }) => [number, error])).toEqual([
    [1, "http_500"],
    [2, "http_503"],
    [3, ""],
  ]);
  expect(new Set(receiver.requests.map(({ body }) => body.toString("utf8"))).size).toBe(1);
  expect(new Set(receiver.requests.map(({ headers }) => headers["x-svc-delivery-id"]))).toEqual(new Set([delivery]));
});

test("an endpoint that always fails ends dead_letter, with attempts and lastError", async () => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500, body: "broken" });
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { retryScheduleMs: [10_000, 10_000, 10_000] } });
  const { id } = await store.subscribe(receiver.url);
  const [delivery] = await store.publish([id]);
  for (let number = 1; number <= 4; number++) {
    advance(store, engine, 10_000);
    await attempted(engine, number);
  }
  expect(await store.delivery(delivery!)).toMatchObject({
    state: "dead_letter",
    attempts: 4,
    lastError: "http_500",
    nextAttemptAt: null,
  });
  const attempts = await store.attemptsOf(delivery!);
  expect(attempts.map(({ number, statusCode, responseBody }) => [number, statusCode, responseBody])).toEqual(
    [1, 2, 3, 4].map((number) => [number, 500, "broken"]),
  );
  advance(store, engine, 86_400_000);
  await engine.dispatcher.drain(0);
  expect(receiver.requests).toHaveLength(4);
});

test.each([
  ["seconds", () => "120"],
  ["a date", (nowMs: number) => new Date(nowMs + 120_000).toUTCString()],
])("a Retry-After of %s holds the delivery and the whole endpoint back", async (_form, retryAfter) => {
  await using receiver = await startTestReceiver();
  await using store = await createTestStore();
  await using engine = startTestEngine(store);
  receiver.script({ status: 429, headers: { "retry-after": retryAfter(store.clock.now()) } }, { status: 200 });
  const { id } = await store.subscribe(receiver.url);
  const [first] = await store.publish([id]);
  engine.dispatcher.wake();
  await attempted(engine, 1);
  const atMs = store.clock.now() + 120_000;
  expect(await store.delivery(first!)).toMatchObject({ lastError: "http_429", nextAttemptAt: atMs });
  expect((await store.subscription(id)).backoffUntil).toBe(atMs);

  const [second] = await store.publish([id]);
  advance(store, engine, 119_999);
  expect(engine.dispatcher.room(id, store.projectId)).toBe(0);
  advance(store, engine, 1);
  await until(async () => (await store.count("delivered")) === 2);
  expect(receiver.requests.map(({ headers }) => headers["x-svc-delivery-id"]).sort()).toEqual(
    [first, first, second].sort(),
  );
});

test("a Retry-After is granted 24 hours at most", async () => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 503, headers: { "retry-after": "31536000" } });
  await using store = await createTestStore();
  await using engine = startTestEngine(store);
  const { id } = await store.subscribe(receiver.url);
  const [delivery] = await store.publish([id]);
  engine.dispatcher.wake();
  await attempted(engine, 1);
  expect((await store.delivery(delivery!)).nextAttemptAt).toBe(store.clock.now() + 86_400_000);
});

test("an attempt that an address guard refuses is recorded as any other", async () => {
  await using receiver = await startTestReceiver();
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { allowedRanges: [], limits: { retryScheduleMs: [] } });
  const { id } = await store.subscribe(receiver.url);
  const [delivery] = await store.publish([id]);
  engine.dispatcher.wake();
  await attempted(engine, 1);
  expect(await store.delivery(delivery!)).toMatchObject({ state: "dead_letter", attempts: 1 });
  expect(await store.attemptsOf(delivery!)).toMatchObject([
    { statusCode: 0, address: "", error: "address_refused: 127.0.0.1 is not a public address (loopback)" },
  ]);
  expect(receiver.requests).toHaveLength(0);
});

test("an attempt that exceeds its time is recorded as timeout", async () => {
  await using receiver = await startTestReceiver();
  receiver.hold();
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { attemptTimeoutMs: 60 } });
  const { id } = await store.subscribe(receiver.url);
  const [delivery] = await store.publish([id]);
  engine.dispatcher.wake();
  await attempted(engine, 1);
  expect(await store.delivery(delivery!)).toMatchObject({ state: "pending", lastError: "timeout" });
});

test("an answer of any bytes is recorded", async () => {
  await using receiver = await startTestReceiver();
  const bytes = Buffer.from(Array.from({ length: 1_030 }, (_, index) => index % 256));
  receiver.script({ status: 500, headers: { "x-bytes": "\u00ff'\"\\,{}" }, body: bytes });
  await using store = await createTestStore();
  await using engine = startTestEngine(store);
  const { id } = await store.subscribe(receiver.url);
  const [delivery] = await store.publish([id]);
  engine.dispatcher.wake();
  await attempted(engine, 1);
  const [attempt] = await store.attemptsOf(delivery!);
  const shown = bytes.toString("utf8", 0, 1_024).replaceAll("\0", "\ufffd");
  expect(attempt?.responseBody).toBe(`${shown} (not all of it is text: some bytes are shown as \ufffd)`);
  expect(attempt?.responseHeaders["x-bytes"]).toBe("\u00ff'\"\\,{}");
});

test("no more than endpointConcurrency attempts are in flight for a subscription", async () => {
  await using receiver = await startTestReceiver();
  receiver.hold();
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { endpointConcurrency: 4 } });
  const { id } = await store.subscribe(receiver.url);
  await store.publish([id], { count: 100 });
  engine.dispatcher.wake();
  await until(() => receiver.inFlight() === 4);
  receiver.release();
  await attempted(engine, 100);
  expect(receiver.inFlightMax()).toBe(4);
  expect(await store.count("delivered")).toBe(100);
  expect(new Set(receiver.requests.map(({ headers }) => headers["x-svc-delivery-id"])).size).toBe(100);
});

test("a lone project has no more than half of inFlightMax in flight, and no subscription is forgotten over it", async () => {
  await using receiver = await startTestReceiver();
  receiver.hold();
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { endpointConcurrency: 4, inFlightMax: 12 } });
  const ids = [];
  for (let index = 0; index < 5; index++) ids.push((await store.subscribe(`${receiver.url}/${index}`)).id);
  await store.publish(ids, { count: 20 });
  engine.dispatcher.wake();
  await until(() => receiver.inFlight() === 6);
  receiver.release();
  await attempted(engine, 100);
  expect(receiver.inFlightMax()).toBe(6);
});

test("deliveries of a subscription that was deactivated end dead_letter, and one in flight still counts", async () => {
  await using receiver = await startTestReceiver();
  receiver.hold();
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { endpointConcurrency: 1, heldMax: 1 } });
  const { id } = await store.subscribe(receiver.url);
  await store.publish([id], { count: 5 });
  engine.dispatcher.wake();
  await until(() => receiver.inFlight() === 1);
  await subscriptionsForProject(store.db, store.projectId).update(id, { active: false });
  await engine.dispatcher.expire(id);
  expect(await store.count("dead_letter")).toBe(4);
  receiver.release();
  await until(async () => (await store.count("delivered")) === 1);
  const rows = await store.db.sql`select distinct last_error from deliveries where state = 'dead_letter'`;
  expect(rows).toEqual([{ last_error: expect.stringMatching(/^subscription_inactive/) }]);
});

test("deliveries of a subscription that is gone are ended by whoever looks for work", async () => {
  await using store = await createTestStore();
  const { id } = await store.subscribe("http://127.0.0.1:1/");
  await store.publish([id], { count: 3 });
  await subscriptionsForProject(store.db, store.projectId).delete(id);
  await using engine = startTestEngine(store);
  await until(async () => (await store.count("dead_letter")) === 3);
  expect(engine.attempts).toHaveLength(0);
});

test("one subscription whose secret cannot be opened holds nobody else up", async () => {
  await using receiver = await startTestReceiver();
  await using store = await createTestStore();
  const [sealedElsewhere, well] = [await store.subscribe(receiver.url), await store.subscribe(receiver.url)];
  await store.db
    .sql`update subscriptions set signing_secret = '\\x00' where id = (select min(id::text)::uuid from subscriptions)`;
  await store.publish([sealedElsewhere.id, well.id], { count: 10 });
  await using engine = startTestEngine(store);
  await until(async () => (await store.count("delivered")) === 10);
  await until(() => engine.dispatcher.stats().held === 0);
  expect(await store.count("pending")).toBe(10);
  expect(engine.failures).toContainEqual({ what: "claim", error: expect.any(Error) });
});

test("a first send that was stored leased goes out without a look at the store", async () => {
  await using receiver = await startTestReceiver();
  await using store = await createTestStore();
  await using engine = startTestEngine(store);
  const { id, secret } = await store.subscribe(receiver.url);
  const untilMs = store.clock.now() + engine.dispatcher.leaseMs;
  const [delivery] = await store.publish([id], { leased: { owner: engine.nodeId, untilMs } });
  engine.dispatcher.submit(await store.firstSends(engine.dispatcher, id, [delivery!], untilMs));
  await attempted(engine, 1);
  expect(await store.count("delivered")).toBe(1);
  expect(receiver.requests[0]?.headers["x-svc-signature"]).toContain(
    createHmac("sha256", secret).update("{}").digest("hex"),
  );
});

test("an engine that is not started has no room and claims nothing", async () => {
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { isStarted: false });
  const { id } = await store.subscribe("http://127.0.0.1:1/");
  expect(engine.dispatcher.room(id, store.projectId)).toBe(0);
  engine.dispatcher.start();
  expect(engine.dispatcher.room(id, store.projectId)).toBe(32);
  engine.dispatcher.start();
  await engine.dispatcher.drain(0);
  expect(engine.dispatcher.room(id, store.projectId)).toBe(0);
});

test("what is held is bounded by count and by bytes", async () => {
  await using receiver = await startTestReceiver();
  receiver.hold();
  await using store = await createTestStore();
  await using engine = startTestEngine(store, { limits: { heldBytesMax: 1_000 } });
  const { id } = await store.subscribe(receiver.url);
  await store.publish([id], { payload: JSON.stringify("x".repeat(2_000)) });
  engine.dispatcher.wake();
  await until(() => receiver.inFlight() === 1);
  await store.publish([id]);
  engine.dispatcher.wake();
  expect(engine.dispatcher.room(createId("sub", 0), createId("prj", 0))).toBe(0);
  receiver.release();
  await attempted(engine, 2);
  expect(receiver.inFlightMax()).toBe(1);
});
