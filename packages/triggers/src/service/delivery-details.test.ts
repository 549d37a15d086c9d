import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { refusalOf } from "@svc/testing/project-client";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createTestCluster, createTestNode, type TestCluster } from "../test-node.ts";
import { issuePost, paymentPost } from "../test-posts.ts";

afterAll(dropTestDatabases);

/** Creates a project with a subscription to `receiver`, on a node that sends deliveries. */
async function subscribe(cluster: TestCluster, receiver: TestReceiver, extra: object = {}) {
  const node = createTestNode(cluster, { isStarted: true });
  const client = node.client(await cluster.project());
  const made = await client.createSubscription({ endpointUrl: receiver.url, ...extra });
  const id = made.subscription!.id;
  const list = async (filter: object) => (await client.listDeliveries({ subscriptionId: id, ...filter })).deliveries;
  return { node, client, id, list };
}

test("a delivery shows its event in short, its attempts, and the attempts that are planned up to the last", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  receiver.script({ status: 503, body: "busy" });
  const schedule = ["10s", "60s"].map((text) => ({ seconds: BigInt(Number.parseInt(text, 10)), nanos: 0 }));
  const { node, client, list } = await subscribe(cluster, receiver, { retry: { schedule } });
  await using _node = node;
  const startMs = cluster.clock.now();
  await node.ingest.accept(issuePost({ delivery: "1" }));
  await until(async () => (await list({}))[0]?.attempts === 1);
  const [listed] = await list({ withDetails: true });
  expect(listed).toMatchObject({
    lastStatusCode: 503,
    attemptMarks: [{ statusCode: 503, error: "http_503", at: timestampFromMs(startMs) }],
    maxAttempts: 3,
    event: { triggerSlug: expect.stringMatching(/^code_host\./), text: expect.stringMatching(/^\w+ .+, \w+ .+/) },
  });
  const [next, last, ...more] = listed!.plannedAttempts.map(timestampMs);
  expect(next).toBe(timestampMs(listed!.nextAttemptAt!));
  expect([last! - next!, more]).toEqual([60_000, []]);
  expect((await client.getDelivery({ id: listed!.id })).delivery).toEqual(listed);
  const glances = async (request: object) => (await client.listEvents(request)).events.map(({ glance }) => glance);
  expect(await glances({ withGlance: true })).toEqual([listed!.event!.text]);
  expect(await glances({})).toEqual([""]);
  const [plain] = await list({});
  expect(plain).toMatchObject({ attemptMarks: [], plannedAttempts: [], maxAttempts: 0, lastStatusCode: 0 });
  expect(plain!.event).toBeUndefined();
  receiver.script({ status: 200 });
  await client.tryNow({ deliveryId: listed!.id });
  await until(async () => (await list({}))[0]?.state === "delivered");
  const [done] = await list({ withDetails: true });
  expect(done!.attemptMarks.map(({ statusCode, error }) => [statusCode, error])).toEqual([
    [503, "http_503"],
    [200, ""],
  ]);
  expect([done!.maxAttempts, done!.plannedAttempts, done!.lastStatusCode]).toEqual([0, [], 200]);
});

test("deliveries are listed by what people see, by the answer and by the trigger, of all subscriptions at once", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  receiver.script({ status: 503 });
  const { node, client, id } = await subscribe(cluster, receiver, { toolkitSlug: "code_host" });
  await using _node = node;
  const other = (await client.createSubscription({ endpointUrl: receiver.url, toolkitSlug: "payments" })).subscription!;
  const slugs = async (filter: object) =>
    (await client.listDeliveries({ withDetails: true, ...filter })).deliveries.map(({ event, subscriptionId }) => [
      event?.triggerSlug.split(".")[0],
      subscriptionId,
    ]);
  const failed = ["code_host", id];
  await node.ingest.accept(issuePost({ delivery: "1" }));
  await until(async () => (await slugs({ states: ["retrying"] })).length === 1);
  await node.ingest.accept(issuePost({ delivery: "2" }));
  expect(await slugs({ states: ["waiting"] })).toEqual([failed]);
  receiver.script({ status: 200 });
  await node.ingest.accept(paymentPost());
  await until(async () => (await slugs({ states: ["delivered"] })).length === 1);
  expect(await slugs({ states: ["delivered", "waiting", "retrying", "failed"] })).toEqual([
    ["payments", other.id],
    failed,
    failed,
  ]);
  expect(await slugs({ states: ["retrying", "failed"], subscriptionId: other.id })).toEqual([]);
  expect(await slugs({ states: ["retrying"], statusCode: 503 })).toEqual([failed]);
  expect(await slugs({ subscriptionId: id, statusCode: 500 })).toEqual([]);
  const [paid] = (await client.listDeliveries({ states: ["delivered"], withDetails: true })).deliveries;
  const { triggerSlug } = paid!.event!;
  expect(await slugs({ states: ["delivered", "waiting"], triggerSlug })).toEqual([["payments", other.id]]);
  expect(await slugs({ states: ["delivered"], triggerSlug: "code_host.nothing" })).toEqual([]);
  const [event] = (await client.listDeliveries({ states: ["retrying"] })).deliveries;
  expect(await slugs({ eventId: event!.eventId, states: ["retrying"] })).toEqual([failed]);
  expect(await slugs({ eventId: event!.eventId, states: ["failed"] })).toEqual([]);
  expect(await refusalOf(client.listDeliveries({ states: ["lost"] }))).toMatchObject({
    reason: "DELIVERY_STATE_INVALID",
  });
});

test("the request of an attempt is rebuilt: what the endpoint got, but for the signature and the credentials", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  const headers = [{ name: "x-team", value: "a-secret-value" }];
  const { node, client, list } = await subscribe(cluster, receiver, { credentials: { headers } });
  await using _node = node;
  await node.ingest.accept(issuePost({ delivery: "1" }));
  await until(async () => (await list({}))[0]?.state === "delivered");
  const [{ id: deliveryId } = { id: "" }] = await list({});
  const got = receiver.requests[0]!;
  const { attempts, requestBody } = await client.listDeliveryAttempts({ deliveryId, withRequest: true });
  expect(requestBody).toBe(String(got.body));
  const shown = attempts[0]!.requestHeaders;
  expect(shown["webhook-timestamp"]).toBe(got.headers["webhook-timestamp"]);
  expect(shown["webhook-id"]).toBe(got.headers["webhook-id"]);
  expect([shown["webhook-signature"], shown["x-team"]]).toEqual(["…", "…"]);
  expect(JSON.stringify(attempts, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(
    "a-secret-value",
  );
  const plain = await client.listDeliveryAttempts({ deliveryId });
  expect([plain.requestBody, plain.attempts[0]!.requestHeaders]).toEqual(["", {}]);
});

test("a subscription has figures of a span: states, answers, durations and attempts by time", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  receiver.script({ status: 200 }, { status: 503 });
  const { node, client, id, list } = await subscribe(cluster, receiver);
  await using _node = node;
  const since = timestampFromMs(cluster.clock.now() - 3_600_000);
  await node.ingest.accept(issuePost({ delivery: "1" }));
  await until(async () => (await list({}))[0]?.state === "delivered");
  await node.ingest.accept(issuePost({ delivery: "2" }));
  await until(async () => (await list({}))[0]?.attempts === 1);
  await node.ingest.accept(issuePost({ delivery: "3" }));
  const figures = async () => (await client.getSubscription({ id, statsSince: since })).stats!;
  const stats = await figures();
  expect(stats).toMatchObject({
    ...{ delivered: 1, failed: 0, retrying: 1, waiting: 1, resendable: 0, cut: false, since },
    byStatus: [{ statusCode: 503, error: "http_503", count: 1 }],
  });
  expect(stats.bars).toHaveLength(48);
  expect(stats.bars.at(-1)).toMatchObject({ succeeded: 1, failed: 1 });
  expect((await client.getSubscription({ id })).stats).toBeUndefined();
  // What failed for good counts as resendable until its event is delivered again, or waits for that.
  await cluster.db
    .sql`update deliveries set state = 'dead_letter', next_attempt_at = null where state = 'pending' and attempts = 1`;
  expect(await figures()).toMatchObject({ failed: 1, retrying: 0, resendable: 1 });
  const dead = (await list({ states: ["failed"] }))[0]!;
  // A replay delivers no test event, and no event from before the span.
  const kindOfEvents = (kind: string) => cluster.db.sql`update events set kind = ${kind}`;
  await kindOfEvents("test");
  expect(await figures()).toMatchObject({ failed: 1, resendable: 0 });
  await kindOfEvents("event");
  expect(await figures()).toMatchObject({ failed: 1, resendable: 1 });
  await client.replayEvent({ eventId: dead.eventId, subscriptionId: id });
  expect(await figures()).toMatchObject({ failed: 1, resendable: 0 });
});
