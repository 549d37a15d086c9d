import { createHmac } from "node:crypto";
import { fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { uuidOfId } from "@svc/core";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { PublishOutcome, UnknownEventTypes } from "@svc/gen/triggers";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { startTestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestCluster, createTestNode, type TestCluster } from "../test-node.ts";
import { issuePost } from "../test-posts.ts";

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await createTestCluster();
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await dropTestDatabases();
});

const invoiceSchema = JSON.stringify({
  type: "object",
  required: ["amount"],
  additionalProperties: false,
  properties: { amount: { type: "number", minimum: 0 }, id: { type: "string" }, note: { type: "string" } },
});

type GivenEvent = { type?: string; payloadJson?: string; entityId?: string; key?: string };

const invoices = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    type: "invoice.paid",
    key: `invoice-${n}`,
    entityId: n % 2 === 0 ? "ada" : "",
    payloadJson: JSON.stringify({ amount: n, id: `in_${n}` }),
  }));

/** Returns the reason and the parts of a refused call. */
async function refusalOf(call: Promise<unknown>) {
  const error = ConnectError.from(
    await call.then(
      () => new Error("the call succeeded"),
      (err: unknown) => err,
    ),
  );
  const details = error.details.flatMap((detail) =>
    "value" in detail && detail.value instanceof Uint8Array ? [fromBinary(ErrorDetailSchema, detail.value)] : [],
  );
  return { code: error.code, reason: details[0]?.reason, message: error.rawMessage, details };
}

test("a published event is delivered with a signature, to subscriptions of its type and of its entity", async () => {
  await using receiver = await startTestReceiver();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(projectId);
  await client.putEventType({ name: "invoice.paid", schemaJson: invoiceSchema });
  const subscribe = (triggerSlug: string) =>
    client.createSubscription({ endpointUrl: receiver.url, toolkitSlug: "events", triggerSlug });
  const { subscription, signingSecret } = await subscribe("invoice.paid");
  expect(subscription?.triggerSlug).toBe("events.invoice.paid");
  const { eventId, outcome } = await client.publishEvent({
    ...{ type: "invoice.paid", entityId: "ada", key: "first" },
    payloadJson: '{ "amount": 12.5 }',
  });
  expect(outcome).toBe(PublishOutcome.STORED);
  await until(() => receiver.requests.length === 1);
  const [{ headers, body }] = receiver.requests as [(typeof receiver.requests)[0]];
  expect(headers["x-svc-signature"]).toBe(`sha256=${createHmac("sha256", signingSecret).update(body).digest("hex")}`);
  expect(JSON.parse(body.toString())).toMatchObject({
    ...{ type: "event", id: eventId, toolkitSlug: "events", triggerSlug: "events.invoice.paid", entityId: "ada" },
    payload: { amount: 12.5 },
  });
  const { event } = await client.getEvent({ id: eventId });
  expect(event).toMatchObject({ entityId: "ada", key: "first", payloadJson: '{"amount":12.5}' });
  expect((await refusalOf(subscribe("invoice.sent"))).reason).toBe("TRIGGER_NOT_FOUND");
});

test("of 1,000 events the faulty one is refused alone with its pointer, and the same call again makes duplicates", async () => {
  const projectId = await cluster.project();
  await using first = createTestNode(cluster);
  await using second = createTestNode(cluster);
  await first.client(projectId).putEventType({ name: "invoice.paid", schemaJson: invoiceSchema });
  await first
    .client(projectId)
    .createSubscription({ endpointUrl: "https://hooks.example.com/", toolkitSlug: "events" });
  const events: GivenEvent[] = invoices(1_000);
  events[500] = { type: "invoice.paid", payloadJson: '{"amount":-1,"id":7}' };
  const { results } = await first.client(projectId).publishEvents({ events });
  const refused = results[500]?.error;
  expect(refused).toMatchObject({ reason: "EVENT_PAYLOAD_INVALID" });
  expect(refused?.faults.map(({ pointer }) => pointer).sort()).toEqual(["/amount", "/id"]);
  const stored = results.filter(({ outcome }) => outcome === PublishOutcome.STORED).map(({ eventId }) => eventId);
  expect(new Set(stored).size).toBe(999);
  const before = await cluster.count("deliveries");
  // Both nodes get the same call at the same time, in which one key occurs twice, together with a post.
  const again = { events: [...events.slice(0, 999), events[0] ?? {}] };
  const [left, right, post] = await Promise.all([
    first.client(projectId).publishEvents(again),
    second.client(projectId).publishEvents(again),
    first.ingest.accept(issuePost()),
  ]);
  expect(post.outcome).toBe("accepted");
  for (const { results: repeated } of [left, right]) {
    expect(repeated.filter(({ outcome }) => outcome === PublishOutcome.DUPLICATE)).toHaveLength(999);
    expect(repeated[3]?.eventId).toBe(results[3]?.eventId);
    expect(repeated[999]?.eventId).toBe(results[0]?.eventId);
  }
  expect(await cluster.count("deliveries")).toBe(before);
});

test("two nodes that publish the same new keys at once make each event once, and both learn its id", async () => {
  const projectId = await cluster.project();
  await using first = createTestNode(cluster);
  await using second = createTestNode(cluster);
  await first.client(projectId).putEventType({ name: "invoice.paid" });
  const answers = await Promise.all(
    [first, second].map((node) => node.client(projectId).publishEvents({ events: invoices(1_000) })),
  );
  const [left, right] = answers.map(({ results }) => results.map(({ eventId }) => eventId));
  expect(left).toEqual(right);
  expect(new Set(left).size).toBe(1_000);
  const outcomes = answers.flatMap(({ results }) => results.map(({ outcome }) => outcome));
  expect(outcomes.filter((outcome) => outcome === PublishOutcome.STORED)).toHaveLength(1_000);
});

test("a type made on one node is accepted by another in the next call, and unknown types by the project's setting", async () => {
  const projectId = await cluster.project();
  await using first = createTestNode(cluster);
  await using second = createTestNode(cluster);
  const publish = (type: string) => second.client(projectId).publishEvent({ type, payloadJson: "{}" });
  expect(await refusalOf(publish("order.made"))).toMatchObject({
    code: Code.NotFound,
    reason: "EVENT_TYPE_NOT_FOUND",
  });
  await first.client(projectId).putEventType({ name: "order.made" });
  expect((await publish("order.made")).outcome).toBe(PublishOutcome.STORED);
  await first.client(projectId).putEventSettings({ settings: { unknownTypes: UnknownEventTypes.CREATE } });
  expect((await second.client(projectId).getEventSettings({})).settings?.unknownTypes).toBe(UnknownEventTypes.CREATE);
  expect((await publish("order.sent")).outcome).toBe(PublishOutcome.STORED);
  expect(await refusalOf(publish("Order.Sent"))).toMatchObject({ reason: "EVENT_TYPE_NAME_INVALID" });
  expect(await refusalOf(publish("order..sent"))).toMatchObject({ reason: "EVENT_TYPE_NAME_INVALID" });
  const { eventTypes } = await first.client(projectId).listEventTypes({});
  expect(eventTypes.map(({ name, version }) => [name, version])).toEqual([
    ["order.made", 1],
    ["order.sent", 1],
  ]);
  const theirs = second.client(await cluster.project());
  expect((await refusalOf(theirs.publishEvent({ type: "order.made", payloadJson: "{}" }))).reason).toBe(
    "EVENT_TYPE_NOT_FOUND",
  );
  expect((await refusalOf(theirs.getEventType({ name: "order.made" }))).reason).toBe("EVENT_TYPE_NOT_FOUND");
});

test("the latest 100 versions of a schema stay readable", async () => {
  await using node = createTestNode(cluster, { isStarted: true });
  const projectId = await cluster.project();
  const client = node.client(projectId);
  const put = (maxProperties: number) =>
    client.putEventType({ name: "invoice.paid", schemaJson: JSON.stringify({ type: "object", maxProperties }) });
  await put(1);
  await put(2);
  const ofProject = cluster.db.sql`project_id = ${uuidOfId(projectId)}`;
  await cluster.db.sql`update event_types set version = 100 where ${ofProject}`;
  await cluster.db.sql`update event_type_versions set version = 100 where version = 2 and ${ofProject}`;
  await put(3);
  const { versions } = await client.getEventType({ name: "invoice.paid" });
  expect(versions.map(({ version }) => version)).toEqual([101, 100]);
  expect((await refusalOf(client.getEventType({ name: "invoice.paid", version: 1 }))).reason).toBe(
    "EVENT_TYPE_NOT_FOUND",
  );
});

test("a schema that past events break is refused with counts, and an archived type refuses events and still replays", async () => {
  await using receiver = await startTestReceiver();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(projectId);
  await client.putEventType({ name: "invoice.paid" });
  const { subscription } = await client.createSubscription({ endpointUrl: receiver.url, toolkitSlug: "events" });
  const { results } = await client.publishEvents({ events: invoices(120) });
  const narrow = JSON.stringify({ type: "object", properties: { amount: { type: "integer", maximum: 99 } } });
  const put = (change: object) => client.putEventType({ name: "invoice.paid", schemaJson: narrow, ...change });
  const trial = await put({ dryRun: true });
  expect(trial).toMatchObject({ checked: 120, failing: 20 });
  expect(trial.failures.map(({ eventId, faults }) => [eventId, faults[0]?.pointer])).toEqual(
    results
      .slice(-5)
      .reverse()
      .map(({ eventId }) => [eventId, "/amount"]),
  );
  const refusal = await refusalOf(put({}));
  expect(refusal).toMatchObject({ code: Code.FailedPrecondition, reason: "EVENT_TYPE_BREAKING" });
  expect(refusal.message).toContain("refuses 20 of its latest 120 events");
  expect(refusal.details).toHaveLength(5);
  expect((await client.getEventType({ name: "invoice.paid" })).eventType?.version).toBe(1);
  expect((await put({ breaking: true })).eventType?.version).toBe(2);
  // The same schema in another JSON form is not a change.
  expect((await put({ schemaJson: JSON.stringify(JSON.parse(narrow), null, 2) })).eventType?.version).toBe(2);
  const old = await client.getEventType({ name: "invoice.paid", version: 1 });
  expect([old.eventType?.schemaJson, old.versions.map(({ version }) => version)]).toEqual(["", [2, 1]]);
  expect((await refusalOf(client.publishEvent({ type: "invoice.paid", payloadJson: '{"amount":100}' }))).reason).toBe(
    "EVENT_PAYLOAD_INVALID",
  );
  await put({ archived: true });
  const archived = await refusalOf(client.publishEvent({ type: "invoice.paid", payloadJson: "{}" }));
  expect(archived).toMatchObject({ code: Code.FailedPrecondition, reason: "EVENT_TYPE_ARCHIVED" });
  await until(() => receiver.requests.length === 120);
  await client.replayEvent({ eventId: results[0]?.eventId ?? "", subscriptionId: subscription?.id ?? "" });
  await until(() => receiver.requests.length === 121);
});

test("numbers keep every digit, and what is no payload, key, entity or time is refused", async () => {
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(projectId);
  await client.putEventType({ name: "rate" });
  const digits = "0.1234567890123456789012345678901234567890";
  const publish = (event: GivenEvent) => client.publishEvent({ type: "rate", payloadJson: "{}", ...event });
  const { eventId } = await publish({ payloadJson: `{"rate": ${digits}, "ids": [12345678901234567890, 1e400]}` });
  expect((await client.getEvent({ id: eventId })).event?.payloadJson).toBe(
    `{"rate":${digits},"ids":[12345678901234567890,1e400]}`,
  );
  const faulty = [
    "",
    "[]",
    "7",
    "{",
    '{"a":1,"a":2}',
    '{"a":[{"b":1,"\\u0062":2}]}',
    `${'{"a":'.repeat(999)}1${"}".repeat(999)}`,
  ];
  for (const payloadJson of faulty)
    expect((await refusalOf(publish({ payloadJson }))).reason, payloadJson).toBe("EVENT_PAYLOAD_INVALID");
  expect((await publish({ payloadJson: '{"a:b":{"__proto__":1,"a\\"":":"}}' })).outcome).toBe(PublishOutcome.STORED);
  expect((await refusalOf(publish({ key: "k".repeat(201) }))).reason).toBe("EVENT_KEY_INVALID");
  expect((await refusalOf(publish({ key: "a\0" }))).reason).toBe("EVENT_KEY_INVALID");
  expect((await refusalOf(publish({ entityId: "a\nb" }))).reason).toBe("ENTITY_ID_INVALID");
  const { results } = await client.publishEvents({
    events: [
      { type: "rate", payloadJson: "{}", key: "one" },
      { type: "rate" },
      { type: "rate", payloadJson: "{}", key: "one" },
    ],
  });
  const { STORED, REFUSED, DUPLICATE } = PublishOutcome;
  expect(results.map(({ outcome }) => outcome)).toEqual([STORED, REFUSED, DUPLICATE]);
  expect(results[2]?.eventId).toBe(results[0]?.eventId);
  expect((await refusalOf(client.publishEvents({ events: [] }))).reason).toBe("EVENTS_TOO_MANY");
});

test.each([
  ["no object", "[]", "schemaJson"],
  ["no type object", '{"properties":{}}', "schemaJson.type"],
  ["a reference", '{"type":"object","properties":{"a":{"$ref":"#"}}}', "schemaJson.properties.a.$ref"],
  [
    "a look-ahead",
    '{"type":"object","properties":{"a":{"type":"string","pattern":"^(?=a)"}}}',
    "schemaJson.properties.a.pattern",
  ],
])("a schema with %s is refused with its place", async (_name, schemaJson, place) => {
  await using node = createTestNode(cluster);
  const refusal = await refusalOf(node.client(await cluster.project()).putEventType({ name: "x", schemaJson }));
  expect(refusal.reason).toBe("EVENT_SCHEMA_INVALID");
  expect(refusal.details.map(({ field }) => field)).toContain(place);
});

test("a sample satisfies the schema: a wrong one is refused, and a missing one is made", async () => {
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(projectId);
  const put = (sampleJson: string) =>
    client.putEventType({ name: "invoice.paid", schemaJson: invoiceSchema, sampleJson });
  expect((await refusalOf(put('{"amount":"much"}'))).reason).toBe("EVENT_SAMPLE_INVALID");
  const { eventType } = await put("");
  expect(JSON.parse(eventType?.sampleJson ?? "")).toEqual({ amount: 1, id: "sample-id", note: "sample-note" });
});

test("with a mask an existing type changes in the named fields alone, and a kept sample that a new schema refuses is made again", async () => {
  await using node = createTestNode(cluster);
  const client = node.client(await cluster.project());
  const whole = { description: "Paid", schemaJson: invoiceSchema, sampleJson: '{"amount":7}', offered: false };
  const put = async (updateMask: string[], change: object = {}) => {
    const { eventType: type } = await client.putEventType({ name: "invoice.paid", ...change, updateMask });
    if (type === undefined) throw new Error("no event type");
    const { description, schemaJson, sampleJson, offered, archived } = type;
    return { description, schemaJson, sampleJson, offered, archived };
  };
  // A mask does not matter if the type is new.
  const made = await put(["name"], whole);
  expect(made).toMatchObject({ description: "Paid", sampleJson: '{"amount":7}', archived: false });
  expect(await put(["offered"], { offered: true, description: "not named" })).toEqual({ ...made, offered: true });
  expect(await put(["archived"], { archived: true })).toEqual({ ...made, offered: true, archived: true });
  expect(await put(["name"])).toEqual({ ...made, offered: true, archived: true });
  expect(await put(["description", "archived"])).toEqual({ ...made, offered: true, description: "" });
  const narrow = JSON.stringify({ type: "object", required: ["sum"], properties: { sum: { type: "number" } } });
  expect(await put(["schemaJson"], { schemaJson: narrow })).toMatchObject({
    schemaJson: narrow,
    sampleJson: '{"sum":1}',
  });
  const refused = put(["schemaJson", "sampleJson"], { schemaJson: narrow, sampleJson: '{"amount":7}' });
  expect((await refusalOf(refused)).reason).toBe("EVENT_SAMPLE_INVALID");
  const unknown = await refusalOf(put(["offered", "version"], { offered: true }));
  expect(unknown).toMatchObject({ reason: "UPDATE_MASK_INVALID", details: [{ field: "updateMask[1]" }] });
  expect(await put([], { offered: true })).toMatchObject({ description: "", schemaJson: "", sampleJson: "{}" });
});

test("two changes at once with masks keep each other's field", async () => {
  await using node = createTestNode(cluster);
  const client = node.client(await cluster.project());
  await client.putEventType({ name: "invoice.paid", schemaJson: invoiceSchema });
  for (const round of ["first", "second", "third", "fourth", "fifth"]) {
    const put = (updateMask: string[], change: object) =>
      client.putEventType({ name: "invoice.paid", ...change, updateMask });
    await put(["offered", "sampleJson"], { offered: false, sampleJson: '{"amount":0}' });
    await Promise.all([
      put(["description"], { description: round }),
      put(["offered"], { offered: true }),
      put(["sampleJson"], { sampleJson: '{"amount":7}' }),
    ]);
    const { eventType } = await client.getEventType({ name: "invoice.paid" });
    const stored = { description: round, offered: true, sampleJson: '{"amount":7}', schemaJson: invoiceSchema };
    expect(eventType).toMatchObject(stored);
  }
});
