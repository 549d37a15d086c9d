import { timestampMs } from "@bufbuild/protobuf/wkt";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { refusalOf } from "@svc/testing/project-client";
import { startTestReceiver } from "@svc/testing/receiver";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestCluster, createTestNode, type TestCluster } from "./test-node.ts";
import { issuePost } from "./test-posts.ts";

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await createTestCluster();
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await dropTestDatabases();
});

test.each<[{ max?: number; per?: string; concurrency?: number }, string]>([
  [{ max: 10 }, "pace.per"],
  [{ per: "1m" }, "pace.max"],
  [{ max: 10, per: "2s" }, "pace.per"],
  [{ max: 10_001, per: "1s" }, "pace.max"],
  [{ concurrency: 257 }, "pace.concurrency"],
])("the pace %j is refused", async (pace, field) => {
  await using node = createTestNode(cluster);
  const client = node.client(await cluster.project());
  const refusal = await refusalOf(client.createSubscription({ endpointUrl: "https://example.com/", pace }));
  expect(refusal).toMatchObject({ code: "InvalidArgument", reason: "PACE_INVALID", field });
});

test("a pace that is sent replaces the old one, an empty one clears it, an absent one leaves it alone", async () => {
  await using node = createTestNode(cluster);
  const client = node.client(await cluster.project());
  const made = await client.createSubscription({
    ...{ endpointUrl: "https://example.com/", pace: { max: 60, per: "1m", concurrency: 2 } },
  });
  const id = made.subscription!.id;
  expect(made.subscription!.pace).toMatchObject({ max: 60, per: "1m", concurrency: 2 });
  const paceAfter = async (change: Parameters<typeof client.updateSubscription>[0]) =>
    (await client.updateSubscription({ id, ...change })).subscription!.pace;
  expect(await paceAfter({ description: "slow" })).toMatchObject({ max: 60, per: "1m", concurrency: 2 });
  expect(await paceAfter({ pace: { max: 1, per: "1h" } })).toMatchObject({ max: 1, per: "1h", concurrency: 0 });
  expect(await paceAfter({ pace: {} })).toBeUndefined();
  expect((await client.getSubscription({ id })).subscription!.description).toBe("slow");
});

test("an event for a subscription with a pace waits for a claim, says why, and goes out in its time", async () => {
  await using receiver = await startTestReceiver();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(projectId);
  const pace = { max: 60, per: "1m" };
  const { subscription } = await client.createSubscription({ endpointUrl: receiver.url, pace });
  const subscriptionId = subscription!.id;
  const startMs = cluster.clock.now();
  for (let number = 0; number < 3; number++) await node.ingest.accept(issuePost({ number }));
  await until(
    async () => (await client.listDeliveries({ subscriptionId, state: "delivered" })).deliveries.length === 1,
  );
  const pending = async () => (await client.listDeliveries({ subscriptionId, state: "pending" })).deliveries;
  const [last] = await pending();
  expect(last).toMatchObject({ waitingReason: "paced", attempts: 0 });
  expect(timestampMs(last!.nextAttemptAt!)).toBe(startMs + 950);
  const { health } = (await client.getSubscription({ id: subscriptionId })).subscription!;
  expect(health).toMatchObject({ state: "well", pendingDeliveries: 2 });
  expect(timestampMs(health!.pacedUntil!)).toBe(startMs + 950);
  // A manual attempt cannot exceed the pace.
  const tried = await client.tryNow({ deliveryId: last!.id });
  expect(tried).toMatchObject({ count: 1, delivery: { waitingReason: "paced" } });
  node.dispatcher.wake();
  cluster.clock.advance(940);
  await node.ingest.accept(issuePost({ number: 3 }));
  expect(await pending()).toHaveLength(3);
  expect(receiver.requests).toHaveLength(1);
  await untilMoved(async () => {
    cluster.clock.advance(50);
    return (await pending()).length === 0;
  });
  expect(cluster.clock.now()).toBeGreaterThanOrEqual(startMs + 2_950);
  // The delivery that the caller brought forward was the second.
  const [attempt] = (await client.listDeliveryAttempts({ deliveryId: last!.id })).attempts;
  expect(timestampMs(attempt!.at!)).toBeLessThan(startMs + 1_900);
});

test("while as many attempts are in flight as a pace allows, the others say so", async () => {
  await using receiver = await startTestReceiver();
  receiver.hold();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(await cluster.project());
  const { subscription } = await client.createSubscription({ endpointUrl: receiver.url, pace: { concurrency: 1 } });
  for (let number = 10; number < 13; number++) await node.ingest.accept(issuePost({ number }));
  await until(() => receiver.inFlight() === 1);
  const subscriptionId = subscription!.id;
  const { deliveries } = await client.listDeliveries({ subscriptionId });
  expect(deliveries.map(({ waitingReason }) => waitingReason)).toEqual(["paced", "paced", "paced"]);
  await client.updateSubscription({ id: subscriptionId, pace: { concurrency: 2 } });
  await until(() => receiver.inFlight() === 2);
  await client.updateSubscription({ id: subscriptionId, pace: {} });
  await until(() => receiver.inFlight() === 3);
  receiver.release();
  await until(
    async () => (await client.listDeliveries({ subscriptionId, state: "delivered" })).deliveries.length === 3,
  );
});
