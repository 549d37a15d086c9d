import { timestampMs } from "@bufbuild/protobuf/wkt";
import { createId } from "@svc/core";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { refusalOf } from "@svc/testing/project-client";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createTestCluster, createTestNode, type TestCluster } from "../test-node.ts";
import { issuePost } from "../test-posts.ts";

afterAll(dropTestDatabases);

/** Creates a project with one subscription, whose endpoint is the receiver. */
async function subscribe(cluster: TestCluster, receiver: TestReceiver) {
  const projectId = await cluster.project();
  const node = createTestNode(cluster, { isStarted: true });
  const client = node.client(projectId);
  const id = (await client.createSubscription({ endpointUrl: receiver.url })).subscription!.id;
  const post = async (delivery: string) => {
    await node.ingest.accept(issuePost({ delivery }));
    return (await client.listDeliveries({ subscriptionId: id })).deliveries[0]!.id;
  };
  const health = async () => (await client.getSubscription({ id })).subscription!.health!;
  const delivery = async (of: string) => (await client.getDelivery({ id: of })).delivery!;
  return { projectId, node, client, id, post, health, delivery };
}

test("an endpoint that refuses connections reads as failing, with its error, and its deliveries say what they wait for and until when", async () => {
  await using cluster = await createTestCluster();
  const receiver = await startTestReceiver();
  await receiver[Symbol.asyncDispose]();
  const { node, client, id, post, health, delivery } = await subscribe(cluster, receiver);
  await using _node = node;
  const first = await post("1");
  await until(async () => (await health()).state === "backing_off");
  const second = await post("2");
  const backoffUntil = (await health()).backoffUntil!;
  const told = { state: "backing_off", lastError: expect.stringMatching(/^connection_refused/), measuredAttempts: 1 };
  expect(await health()).toMatchObject({ ...told, reason: expect.stringMatching(/fail since .* connection_refused/) });
  const [listed] = (await client.listSubscriptions({})).subscriptions;
  expect(listed!.health).toMatchObject({ ...told, reason: (await health()).reason });
  expect(await delivery(second)).toMatchObject({
    ...{ state: "pending", attempts: 0, waitingReason: "endpoint_failing" },
    nextAttemptAt: backoffUntil,
  });
  expect(await delivery(first)).toMatchObject({ attempts: 1, lastError: expect.stringMatching(/^connection_refused/) });
  await cluster.db.sql`update subscriptions set backoff_until = to_timestamp(1)`;
  const due = await delivery(second);
  expect([due.waitingReason, timestampMs(due.nextAttemptAt!)]).toEqual(["endpoint_failing", cluster.clock.now()]);
  await client.updateSubscription({ id, active: false });
  await until(async () => (await delivery(second)).state === "dead_letter");
  expect(await delivery(second)).toMatchObject({ waitingReason: "" });
});

test("TryNow sends one delivery as the next test of a failing endpoint, and the others follow; then all that wait", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 }, { status: 200 });
  const { node, client, id, post, health, delivery } = await subscribe(cluster, receiver);
  await using _node = node;
  const first = await post("1");
  await until(async () => (await health()).state === "backing_off");
  const second = await post("2");
  const third = await post("3");
  expect(receiver.requests).toHaveLength(1);
  const answer = await client.tryNow({ deliveryId: third });
  expect(answer).toMatchObject({ count: 1, delivery: { id: third }, subscription: { id } });
  await until(async () => (await delivery(second)).state === "delivered");
  expect(receiver.requests.map(({ headers }) => headers["x-svc-delivery-id"])).toEqual([first, third, second]);
  expect(await delivery(first)).toMatchObject({ state: "pending", waitingReason: "retry" });
  expect(await client.tryNow({ subscriptionId: id })).toMatchObject({ count: 1 });
  await until(async () => (await delivery(first)).state === "delivered");
  expect(await delivery(first)).toMatchObject({ attempts: 2, waitingReason: "" });
  expect(await client.tryNow({ subscriptionId: id })).toMatchObject({ count: 0 });
  expect(await refusalOf(client.tryNow({ deliveryId: first }))).toMatchObject({ reason: "DELIVERY_NOT_PENDING" });
});

test("TryNow uses up no retry: an attempt that it brings forward and that fails repeats the wait it ended", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 });
  const { node, client, id, post, delivery } = await subscribe(cluster, receiver);
  await using _node = node;
  const only = await post("1");
  await until(async () => {
    const { attempts } = await delivery(only);
    if (attempts < 12) await client.tryNow(attempts % 2 === 0 ? { deliveryId: only } : { subscriptionId: id });
    return attempts >= 12;
  });
  const tasks = () => cluster.db.sql<{ attempts: number; wait: number }[]>`
    select attempts, extract(epoch from due_at)::float8 * 1000 - ${cluster.clock.now()}::float8 as wait
    from delivery_tasks where lease_owner is null`;
  await until(async () => ((await tasks())[0]?.wait ?? 0) > 0);
  const { attempts: scheduled, wait } = (await tasks())[0]!;
  expect(scheduled).toBe(1);
  expect(wait).toBeLessThanOrEqual(1.2 * 5_000);
  const { state, attempts: count } = await delivery(only);
  expect(state).toBe("pending");
  const { attempts } = await client.listDeliveryAttempts({ deliveryId: only });
  expect(attempts.map(({ number }) => number)).toEqual(Array.from({ length: count }, (_, index) => count - index));
});

test("after 50 attempts of a delivery a manual one counts, so that no delivery is tried without end", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 });
  const { node, client, post, delivery } = await subscribe(cluster, receiver);
  await using _node = node;
  const only = await post("1");
  await until(async () => (await delivery(only)).attempts === 1);
  await cluster.db.sql`update deliveries set attempts = 50`;
  await until(async () => {
    const { state } = await delivery(only);
    // The delivery may end between the read and the call, which is then refused.
    if (state === "pending") await client.tryNow({ deliveryId: only }).catch(() => undefined);
    return state === "dead_letter";
  });
  expect((await delivery(only)).attempts).toBeLessThanOrEqual(50 + 10);
});

test("TryNow refuses what is missing, of others, or inactive", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 });
  const { node, client, id, post } = await subscribe(cluster, receiver);
  await using _node = node;
  const delivery = await post("1");
  const stranger = node.client(await cluster.project());
  const missing = (field: string, reason: string) => ({ code: "NotFound", reason, field });
  expect(await refusalOf(client.tryNow({}))).toMatchObject({ reason: "FILTER_REQUIRED" });
  expect(await refusalOf(stranger.tryNow({ subscriptionId: id }))).toEqual(
    missing("subscriptionId", "SUBSCRIPTION_NOT_FOUND"),
  );
  expect(await refusalOf(stranger.tryNow({ deliveryId: delivery }))).toEqual(
    missing("deliveryId", "DELIVERY_NOT_FOUND"),
  );
  const mixed = { subscriptionId: createId("sub", 0), deliveryId: delivery };
  expect(await refusalOf(client.tryNow(mixed))).toEqual(missing("deliveryId", "DELIVERY_NOT_FOUND"));
  expect(await refusalOf(client.tryNow({ subscriptionId: "x" }))).toMatchObject({ reason: "ID_MALFORMED" });
  await client.updateSubscription({ id, active: false });
  expect(await refusalOf(client.tryNow({ subscriptionId: id }))).toMatchObject({ reason: "SUBSCRIPTION_INACTIVE" });
});

test("an endpoint that takes 4 s reads as slow, with its times", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  receiver.script((_req, res) => {
    cluster.clock.advance(4_000);
    res.end();
  });
  const { node, client, post, health, delivery } = await subscribe(cluster, receiver);
  await using _node = node;
  expect(await health()).toMatchObject({ state: "well", reason: "", p50Ms: 0, measuredAttempts: 0 });
  const first = await post("1");
  await until(async () => (await delivery(first)).state === "delivered");
  expect(await health()).toMatchObject({
    state: "slow",
    p50Ms: 4_000,
    p99Ms: 4_000,
    lastError: "",
    measuredAttempts: 1,
  });
  expect((await health()).reason).toBe("half of the latest 1 attempts took 4000 ms or longer");
  expect((await client.listSubscriptions({})).subscriptions[0]!.health!.state).toBe("slow");
});

test("a replay of what is still pending warns that the endpoint receives it twice", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 });
  const { node, client, post, health, delivery } = await subscribe(cluster, receiver);
  await using _node = node;
  const first = await post("1");
  await until(async () => (await health()).state === "backing_off");
  const { eventId } = await delivery(first);
  const since = { seconds: 1n };
  // An event at exactly the end of a range is not part of it, so the clock is moved by a millisecond.
  cluster.clock.advance(1);
  const range = await client.replayEvents({ since, dryRun: true });
  expect(range).toMatchObject({ count: 1, warnings: [expect.stringContaining("1 of them arrives twice")] });
  expect(await client.replayEvents({ since, dryRun: true, onlyUndelivered: true })).toMatchObject({ warnings: [] });
  const { warnings } = await client.replayEvent({ eventId });
  expect(warnings).toEqual([expect.stringContaining(`${first} of this event`)]);
  await cluster.db.sql`delete from delivery_tasks`;
  await cluster.db.sql`update deliveries set state = 'delivered', next_attempt_at = null`;
  expect((await client.replayEvent({ eventId })).warnings).toEqual([]);
});

test("while a restored store is held, a pending delivery says so, and has no next attempt", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  const projectId = await cluster.project();
  const held = { key: "x", backupEndsAt: 1, restoredAt: 2, resumedAt: null, isNothingSince: false };
  const node = createTestNode(cluster, { restored: () => held });
  await using _node = node;
  const client = node.client(projectId);
  const subscriptionId = (await client.createSubscription({ endpointUrl: receiver.url })).subscription!.id;
  await node.ingest.accept(issuePost({ delivery: "1" }));
  const [listed] = (await client.listDeliveries({ subscriptionId })).deliveries;
  expect(listed).toMatchObject({ state: "pending", waitingReason: "restored" });
  expect(listed!.nextAttemptAt).toBeUndefined();
});
