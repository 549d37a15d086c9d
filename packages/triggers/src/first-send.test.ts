import { createHmac } from "node:crypto";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { startTestReceiver } from "@svc/testing/receiver";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createTestCluster, createTestNode, type TestCluster } from "./test-node.ts";
import { issuePost, paymentPost } from "./test-posts.ts";

afterAll(dropTestDatabases);

const leases = async ({ db }: TestCluster) =>
  (await db.sql<{ owner: string | null }[]>`select lease_owner as owner from delivery_tasks`).map(({ owner }) => owner);

test("the node that stores an event sends it at once, under a lease of its own", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  receiver.hold();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true });
  const { signingSecret } = await node.client(projectId).createSubscription({ endpointUrl: receiver.url });
  expect(await node.ingest.accept(issuePost())).toEqual({ outcome: "accepted", events: 1 });
  expect(await leases(cluster)).toEqual([expect.any(String)]);
  await until(() => receiver.inFlight() === 1);
  receiver.release();
  await until(async () => (await cluster.count("delivery_tasks")) === 0);
  const [{ headers, body }] = receiver.requests as [(typeof receiver.requests)[0]];
  const hmac = createHmac("sha256", signingSecret).update(body).digest("hex");
  expect(headers["x-svc-signature"]).toBe(`sha256=${hmac}`);
});

test("what a node has no room for is stored for any node", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  receiver.hold();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true, limits: { endpointConcurrency: 1 } });
  await node.client(projectId).createSubscription({ endpointUrl: receiver.url });
  await Promise.all(Array.from({ length: 10 }, (_, number) => node.ingest.accept(issuePost({ number }))));
  // One delivery is in flight, and one is leased in advance.
  expect((await leases(cluster)).filter((owner) => owner !== null)).toHaveLength(2);
  receiver.release();
  await until(async () => (await cluster.count("delivery_tasks")) === 0);
  expect(receiver.requests).toHaveLength(10);
});

test("while an endpoint backs off, its events are stored and wait", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 }, { status: 200 });
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true });
  await node.client(projectId).createSubscription({ endpointUrl: receiver.url });
  await node.ingest.accept(issuePost());
  await until(() => receiver.requests.length === 1 && node.dispatcher.stats().held === 0);
  await Promise.all(Array.from({ length: 20 }, (_, number) => node.ingest.accept(issuePost({ number }))));
  expect(new Set(await leases(cluster))).toEqual(new Set([null]));
  expect(receiver.requests).toHaveLength(1);
  cluster.clock.advance(1_000);
  node.dispatcher.wake();
  await until(async () => (await cluster.count("delivery_tasks")) === 0);
  expect(receiver.requests).toHaveLength(22);
});

test("a subscription whose secret cannot be opened fails no post and holds nobody up", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(projectId);
  const sealed = (await client.createSubscription({ endpointUrl: receiver.url, toolkitSlug: "code_host" }))
    .subscription!;
  await client.createSubscription({ endpointUrl: receiver.url, triggerSlug: "" });
  await cluster.db.sql`update subscriptions set signing_secret = '\\x00' where toolkit_slug = 'code_host'`;
  const outcomes = await Promise.all([issuePost(), paymentPost(), issuePost()].map((post) => node.ingest.accept(post)));
  expect(outcomes).toEqual(outcomes.map(() => ({ outcome: "accepted", events: 1 })));
  await until(() => receiver.requests.length === 3);
  node.dispatcher.wake();
  await until(() => node.failures.some(({ what }) => what === "claim"));
  const { deliveries } = await client.listDeliveries({ subscriptionId: sealed.id });
  expect(deliveries.map(({ state, attempts }) => [state, attempts])).toEqual([
    ["pending", 0],
    ["pending", 0],
  ]);
});

test("everything accepted by two nodes is delivered once to an endpoint that is well", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  const projectId = await cluster.project();
  const limits = { pollMs: 5 };
  await using first = createTestNode(cluster, { isStarted: true, limits });
  await using second = createTestNode(cluster, { isStarted: true, limits });
  await first.client(projectId).createSubscription({ endpointUrl: receiver.url });
  const posts = Array.from({ length: 400 }, (_, index) => paymentPost({ id: `p${index}` }));
  await Promise.all(posts.map((post, index) => (index % 2 === 0 ? first : second).ingest.accept(post)));
  await untilMoved(async () => {
    cluster.clock.advance(5);
    return (await cluster.count("delivery_tasks")) === 0;
  });
  expect(receiver.requests).toHaveLength(400);
  expect(new Set(receiver.requests.map(({ headers }) => headers["x-svc-delivery-id"])).size).toBe(400);
});

test("a clock that tells fractions of a millisecond names the same task in memory as in the store", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 }, { status: 200 });
  const projectId = await cluster.project();
  cluster.clock.advance(0.7);
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(projectId);
  const { subscription } = await client.createSubscription({ endpointUrl: receiver.url });
  await node.ingest.accept(issuePost());
  const only = async () => (await client.listDeliveries({ subscriptionId: subscription!.id })).deliveries[0]!;
  await until(async () => (await only()).attempts === 1);
  cluster.clock.advance(1_000.4);
  node.dispatcher.wake();
  await until(async () => (await only()).state === "delivered");
  expect(receiver.requests).toHaveLength(2);
});

test("a node that has drained stores what it still accepts for others to send", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true });
  await node.client(projectId).createSubscription({ endpointUrl: receiver.url });
  await node.dispatcher.drain(0);
  expect(await node.ingest.accept(issuePost())).toEqual({ outcome: "accepted", events: 1 });
  expect(await leases(cluster)).toEqual([null]);
  await using _other = createTestNode(cluster, { isStarted: true });
  await until(() => receiver.requests.length === 1);
});
