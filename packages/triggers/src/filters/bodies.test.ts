import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { TriggersService } from "@svc/gen/triggers";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { refusalOf } from "@svc/testing/project-client";
import { startTestReceiver } from "@svc/testing/receiver";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestCluster, createTestNode, type TestCluster } from "../test-node.ts";

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await createTestCluster();
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await dropTestDatabases();
});

type Triggers = Client<typeof TriggersService>;

const custom = (body: unknown) => ({ kind: "custom", bodyJson: JSON.stringify(body) });
const publish = (client: Triggers, payloadJson: string) => client.publishEvent({ type: "invoice.paid", payloadJson });

test("a template that gives no body fails the attempt alone, and a corrected one helps the waiting delivery", async () => {
  await using receiver = await startTestReceiver();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(await cluster.project());
  await client.putEventType({ name: "invoice.paid" });
  const text = { text: { $text: "{event.payload.number} costs {event.payload.amount}" } };
  const { subscription } = await client.createSubscription({ endpointUrl: receiver.url, format: custom(text) });
  const subscriptionId = subscription?.id ?? "";
  await publish(client, '{"number":"a"}');
  const waiting = async () => (await client.listDeliveries({ subscriptionId, state: "pending" })).deliveries;
  await until(async () => (await waiting()).some(({ attempts }) => attempts === 1));
  expect((await waiting())[0]?.lastError).toMatch(/^body_invalid: .*event\.payload\.amount is absent/);
  // The endpoint is well, and gets another event.
  await publish(client, '{"number":"b","amount":12345678901234567890.5}');
  await until(() => receiver.requests.length === 1);
  expect(receiver.requests[0]?.body.toString()).toBe('{"text":"b costs 12345678901234567890.5"}');
  expect((await client.getSubscription({ id: subscriptionId })).subscription?.health?.state).toBe("well");
  const preview = await client.previewSubscription({ id: subscriptionId });
  expect(preview.requests.map(({ error, body }) => [error.slice(0, 12), body])).toEqual([
    ["", '{"text":"b costs 12345678901234567890.5"}'],
    ["body_invalid", ""],
  ]);
  await client.updateSubscription({ id: subscriptionId, format: custom({ text: { $ref: "event.payload.number" } }) });
  await untilMoved(() => {
    cluster.clock.advance(500);
    return receiver.requests.length === 2;
  });
  expect(receiver.requests[1]?.body.toString()).toBe('{"text":"a"}');
});

test("a test event with a template has a sample as its payload, and is refused if the template gives no body", async () => {
  await using receiver = await startTestReceiver();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(await cluster.project());
  const schema = { type: "object", required: ["amount"], properties: { amount: { type: "number" } } };
  await client.putEventType({ name: "a.other" });
  await client.putEventType({
    name: "invoice.paid",
    schemaJson: JSON.stringify(schema),
    sampleJson: '{"amount":4.50}',
  });
  const format = custom({ text: { $text: "{event.type}: {event.payload.amount}" } });
  const subscribed = async (match: object) =>
    (await client.createSubscription({ endpointUrl: receiver.url, format, ...match })).subscription?.id ?? "";
  const paid = await subscribed({ toolkitSlug: "events", triggerSlug: "events.invoice.paid" });
  const all = await subscribed({});
  const other = await subscribed({ toolkitSlug: "events", triggerSlug: "events.a.other" });
  for (const subscriptionId of [paid, all]) {
    const before = receiver.requests.length;
    await client.sendTestEvent({ subscriptionId });
    await until(() => receiver.requests.length > before);
    expect(receiver.requests.at(-1)?.body.toString()).toBe('{"text":"test: 4.5"}');
  }
  const refused = client.sendTestEvent({ subscriptionId: other });
  await expect(refused).rejects.toThrow(/no body for the sample of events\.a\.other: .*amount/);
  expect(await refusalOf(refused)).toMatchObject({ code: "FailedPrecondition", reason: "TEST_BODY_INVALID" });
  expect((await client.listDeliveries({ subscriptionId: other })).deliveries).toEqual([]);
});

test.each([
  [{ text: { $ref: "payload.amount" } }, "only event"],
  [{ text: { $ref: "event.amount" } }, "event.amount"],
  [{ text: { $cel: "event.payload.amount >" } }, "/text/$cel"],
  [{ text: { $cel: "event.payload.text.matches('a+')" } }, "a millisecond"],
  [{ text: { $secret: "token" } }, "secret"],
])("the template %j is refused with what would be right", async (body, says) => {
  await using node = createTestNode(cluster);
  const client = node.client(await cluster.project());
  const call = client.createSubscription({ endpointUrl: "https://example.com/", format: custom(body) });
  await expect(call).rejects.toThrow(says);
  expect(await refusalOf(call)).toMatchObject({ reason: "SUBSCRIPTION_BODY_INVALID", field: "format.bodyJson" });
});

test("retries follow the subscription's own schedule, and then the delivery is dead", async () => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 });
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(await cluster.project());
  await client.putEventType({ name: "invoice.paid" });
  const retry = { schedule: [1_000, 1_000, 1_000, 1_000].map(durationFromMs), neverGiveUp: true, timeoutMs: 2_000 };
  const { subscription } = await client.createSubscription({ endpointUrl: receiver.url, retry });
  expect(subscription?.retry).toMatchObject(retry);
  await publish(client, "{}");
  const subscriptionId = subscription?.id ?? "";
  await untilMoved(async () => {
    cluster.clock.advance(5_000);
    return (await client.listDeliveries({ subscriptionId, state: "dead_letter" })).deliveries.length === 1;
  });
  expect(receiver.requests).toHaveLength(5);
  const cleared = await client.updateSubscription({ id: subscriptionId, retry: {} });
  expect(cleared.subscription?.retry).toBeUndefined();
});

type FaultyRetry = { schedule?: number[]; giveUpAfter?: number; neverGiveUp?: boolean; timeoutMs?: number };

test.each<[FaultyRetry, string]>([
  [{ schedule: Array(21).fill(1_000) }, "retry.schedule"],
  [{ schedule: [1_000, 500] }, "retry.schedule[1]"],
  [{ schedule: Array(6).fill(259_200_000) }, "retry.schedule"],
  [{ giveUpAfter: 60_000 }, "retry.giveUpAfter"],
  [{ giveUpAfter: 86_400_000, neverGiveUp: true }, "retry.giveUpAfter"],
  [{ timeoutMs: 20_000 }, "retry.timeoutMs"],
])("the retries %j are refused", async ({ schedule = [], giveUpAfter, ...others }, field) => {
  await using node = createTestNode(cluster);
  const client = node.client(await cluster.project());
  const retry = {
    ...others,
    schedule: schedule.map(durationFromMs),
    ...(giveUpAfter && { giveUpAfter: durationFromMs(giveUpAfter) }),
  };
  const refusal = await refusalOf(client.createSubscription({ endpointUrl: "https://example.com/", retry }));
  expect(refusal).toMatchObject({ code: "InvalidArgument", reason: "RETRY_INVALID", field });
});
