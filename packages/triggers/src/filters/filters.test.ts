import { fromBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Client, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "@svc/gen/errors";
import type { TriggersService } from "@svc/gen/triggers";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { refusalOf } from "@svc/testing/project-client";
import { startTestReceiver } from "@svc/testing/receiver";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestCluster, createTestNode, type TestCluster } from "../test-node.ts";
import { createFilters } from "./filters.ts";

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await createTestCluster();
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await dropTestDatabases();
});

type Triggers = Client<typeof TriggersService>;

const endpointUrl = "https://example.com/hook";
const over = "event.payload.amount > 1000";

/**
 * Amounts equal to, above and below 1,000, in every form that a JSON number can have. In further invoices the amount is a text or absent.
 */
const amounts = [
  "1000",
  "1000.0",
  "1000.01",
  "999.99",
  "1e3",
  "1.0001e3",
  "12345678901234567890",
  "9007199254740993",
  '"5000"',
  "",
];
const isOver = (n: number) => ["1000.01", "1.0001e3", "12345678901234567890", "9007199254740993"].includes(amountOf(n));
const amountOf = (n: number) => amounts[n % amounts.length] ?? "";

const invoices = (count: number, entity = "ada") =>
  Array.from({ length: count }, (_, n) => ({
    ...{ type: "invoice.paid", entityId: n % 3 === 0 ? entity : "" },
    payloadJson: amountOf(n) === "" ? `{"number":${n}}` : `{"number":${n},"amount":${amountOf(n)}}`,
  }));

async function publisher(client: Triggers): Promise<void> {
  await client.putEventType({ name: "invoice.paid" });
  await client.putEventType({ name: "invoice.sent" });
}

/** Moves the clock by seconds until a condition holds. */
const clockUntil = (holds: () => Promise<boolean>) =>
  untilMoved(() => {
    cluster.clock.advance(1_000);
    return holds();
  });

/** Returns the numbers of the invoices that a subscription was to receive, in order. */
async function receivedBy(client: Triggers, subscriptionId: string): Promise<number[]> {
  const { deliveries } = await client.listDeliveries({ subscriptionId, pageSize: 1_000 });
  const events = new Map<string, number>();
  for (let pageToken = ""; ; ) {
    const page = await client.listEvents({ toolkitSlug: "events", pageSize: 1_000, pageToken });
    for (const { id, payloadJson } of page.events) events.set(id, JSON.parse(payloadJson).number);
    pageToken = page.nextPageToken;
    if (pageToken === "") break;
  }
  return deliveries.map(({ eventId }) => events.get(eventId) ?? -1).sort((a, b) => a - b);
}

test("over 1,000 events a filter delivers exactly what its preview said, first, by a replay and after a pause", async () => {
  await using node = createTestNode(cluster, { isReplaying: true });
  const client = node.client(await cluster.project());
  await publisher(client);
  const { subscription: before } = await client.createSubscription({
    endpointUrl,
    toolkitSlug: "events",
    match: { filter: over },
  });
  const id = before?.id ?? "";
  expect(before?.match).toMatchObject({ filter: over, triggerSlugs: [] });
  const wanted = Array.from({ length: 1_000 }, (_, n) => n).filter(isOver);
  await client.publishEvents({ events: invoices(1_000) });
  const preview = await client.previewSubscription({ id });
  expect(preview).toMatchObject({ scanned: 1_000, matched: wanted.length, faulty: 200 });
  expect(preview.fault).toMatch(/absent|types/);
  expect(preview.requests).toHaveLength(5);
  expect(await receivedBy(client, id)).toEqual(wanted);
  const sinceMs = cluster.clock.now() - 60_000;
  const since = timestampFromMs(sinceMs);

  // A second subscription with the same filter gets no earlier events at first. Each kind of replay then gives it the same events as the
  // first.
  const { subscription } = await client.createSubscription({
    endpointUrl,
    toolkitSlug: "events",
    match: { filter: over },
  });
  const other = subscription?.id ?? "";
  expect(
    (
      await client.replayEvents({
        since,
        until: timestampFromMs(sinceMs + 120_000),
        subscriptionId: other,
        dryRun: true,
      })
    ).count,
  ).toBe(wanted.length);
  const until1 = timestampFromMs(cluster.clock.now() + 1);
  expect((await client.replayEvents({ since, until: until1, subscriptionId: other })).count).toBe(wanted.length);
  expect(await receivedBy(client, other)).toEqual(wanted);
  const third =
    (await client.createSubscription({ endpointUrl, match: { triggerSlugs: ["events.invoice.paid"], filter: over } }))
      .subscription?.id ?? "";
  const dry = await client.startReplay({ since, subscriptionId: third, dryRun: true });
  cluster.clock.advance(1_000);
  expect(await client.startReplay({ since, subscriptionId: third, dryRun: true })).toMatchObject({
    total: wanted.length,
  });
  expect(dry.total).toBeLessThanOrEqual(wanted.length);
  const { replay } = await client.startReplay({ since, subscriptionId: third, perSecond: 5_000 });
  expect(replay?.total).toBe(wanted.length);
  await clockUntil(async () => (await client.getReplay({ id: replay?.id ?? "" })).replay?.endedAt !== undefined);
  expect(await receivedBy(client, third)).toEqual(wanted);

  // After a pause, a subscription gets the missed events that its filter accepts, and no others.
  const paused =
    (await client.createSubscription({ endpointUrl, toolkitSlug: "events", match: { filter: over } })).subscription
      ?.id ?? "";
  await client.updateSubscription({ id: paused, paused: true });
  cluster.clock.advance(1_000);
  await client.publishEvents({ events: invoices(100) });
  cluster.clock.advance(1_000);
  await client.updateSubscription({ id: paused, paused: false });
  await clockUntil(async () => (await receivedBy(client, paused)).length >= 40);
  await clockUntil(async () => (await client.listReplays({})).replays.every(({ endedAt }) => endedAt !== undefined));
  expect(await receivedBy(client, paused)).toEqual(Array.from({ length: 100 }, (_, n) => n).filter(isOver));
});

test("a filter on another node applies to the next event, and its faults are counted in the health", async () => {
  await using one = createTestNode(cluster);
  await using two = createTestNode(cluster);
  const projectId = await cluster.project();
  const [client, elsewhere] = [one.client(projectId), two.client(projectId)];
  await publisher(client);
  const { subscription } = await client.createSubscription({
    endpointUrl,
    toolkitSlug: "events",
    triggerSlug: "invoice.paid",
  });
  const id = subscription?.id ?? "";
  await elsewhere.publishEvents({ events: invoices(10) });
  expect(await receivedBy(client, id)).toHaveLength(10);
  const updated = await client.updateSubscription({ id, match: { filter: over }, description: "Large invoices" });
  expect(updated.subscription).toMatchObject({ triggerSlug: "events.invoice.paid", description: "Large invoices" });
  await elsewhere.publishEvents({ events: invoices(10) });
  expect(await receivedBy(client, id)).toHaveLength(14);
  const faults = async () => (await client.getSubscription({ id })).subscription?.health?.filterFaults;
  await until(async () => (await faults()) === 2);
  // A repeated event is neither stored nor counted. With a new filter the count starts at 0.
  await client.updateSubscription({ id, match: { filter: `${over} || false` } });
  expect(await faults()).toBe(0);
  await client.updateSubscription({ id, match: {} });
  await elsewhere.publishEvents({ events: invoices(10) });
  expect(await receivedBy(client, id)).toHaveLength(24);
});

test("several triggers, an entity and a filter select together", async () => {
  await using node = createTestNode(cluster);
  const client = node.client(await cluster.project());
  await publisher(client);
  const subscribe = async (fields: Parameters<Triggers["createSubscription"]>[0]) =>
    (await client.createSubscription({ endpointUrl, ...fields })).subscription;
  const both = await subscribe({ match: { triggerSlugs: ["events.invoice.paid", "events.invoice.sent"] } });
  const named = await subscribe({ toolkitSlug: "events", match: { triggerSlugs: ["invoice.sent", "invoice.sent"] } });
  const ada = await subscribe({
    entityId: "ada",
    toolkitSlug: "events",
    match: { filter: "event.type == 'invoice.paid'" },
  });
  const receipt = await subscribe({ match: { filter: "event.receivedAt != '' && event.id.startsWith('evt_')" } });
  expect([both?.triggerSlug, both?.match?.triggerSlugs]).toEqual(["", ["events.invoice.paid", "events.invoice.sent"]]);
  expect([named?.toolkitSlug, named?.match?.triggerSlugs]).toEqual(["events", ["events.invoice.sent"]]);
  expect(ada?.entityId).toBe("ada");
  const sent = [{ type: "invoice.sent", entityId: "ada", payloadJson: '{"number":-7}' }];
  await client.publishEvents({ events: [...invoices(9), ...sent] });
  const counts = [both, named, ada, receipt].map(async (one) => (await receivedBy(client, one?.id ?? "")).length);
  expect(await Promise.all(counts)).toEqual([10, 1, 3, 10]);
});

test("a poll with a filter returns the events that it accepts, and its cursor is of this filter", async () => {
  await using node = createTestNode(cluster);
  const client = node.client(await cluster.project());
  await publisher(client);
  const start = await client.pollEvents({ toolkitSlug: "events", filter: over });
  await client.publishEvents({ events: invoices(50) });
  const page = await client.pollEvents({ toolkitSlug: "events", filter: over, cursor: start.cursor });
  expect(page.events.map(({ payloadJson }) => JSON.parse(payloadJson).number)).toEqual(
    Array.from({ length: 50 }, (_, n) => n).filter(isOver),
  );
  const again = await client.pollEvents({ toolkitSlug: "events", filter: over, cursor: page.cursor });
  expect([again.events.length, again.hasMore]).toEqual([0, false]);
  const refusal = await refusalOf(client.pollEvents({ toolkitSlug: "events", cursor: page.cursor }));
  expect(refusal).toMatchObject({ reason: "CURSOR_INVALID" });
  expect(await refusalOf(client.pollEvents({ filter: "amount > 1" }))).toMatchObject({
    reason: "SUBSCRIPTION_FILTER_INVALID",
    field: "filter",
  });
});

const schemaJson = JSON.stringify({
  type: "object",
  properties: { amount: { type: "number" }, mail: { type: "string" } },
});

test.each([
  ["amount > 1000", "FILTER_INVALID", 'names "amount"', "Write event.payload.amount > 1000."],
  [
    "event.payload.amuont > 1000",
    "FILTER_INVALID",
    "event.payload.amuont at character 1; event.payload has only amount, mail",
    "Write event.payload.amount > 1000.",
  ],
  ["event.payload.amount", "FILTER_INVALID", "is of type double, not bool", "true or false"],
  ["event.payload.amount >", "FILTER_INVALID", "ends after >, where a value is missing", "Write CEL"],
  ["now > timestamp(event.occurredAt)", "FILTER_INVALID", 'names "now"', "Start with event."],
  ["event.payload.mail == 'a\0'", "FILTER_INVALID", "U+0000", "escape"],
  ["event.payload.mail.matches('.*@example[.]com')", "FILTER_TOO_EXPENSIVE", "64 KiB", "endsWith"],
])("the filter %s is refused with %s, and what would be right", async (filter, reason, says, cure) => {
  await using node = createTestNode(cluster);
  const client = node.client(await cluster.project());
  await client.putEventType({ name: "invoice.paid", schemaJson });
  const call = client.createSubscription({ endpointUrl, toolkitSlug: "events", match: { filter } });
  const refusal = await call.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error),
  );
  const [detail] = (refusal?.details ?? []).flatMap((one) =>
    "value" in one && one.value instanceof Uint8Array ? [fromBinary(ErrorDetailSchema, one.value)] : [],
  );
  expect(refusal?.rawMessage).toContain(says);
  expect(detail).toMatchObject({
    reason: `SUBSCRIPTION_${reason}`,
    field: "match.filter",
    help: expect.stringContaining(cure),
  });
  expect((await client.listSubscriptions({})).subscriptions).toEqual([]);
});

test("other faults of match are refused with the field", async () => {
  await using node = createTestNode(cluster);
  const client = node.client(await cluster.project());
  await publisher(client);
  const refused = (fields: object) => refusalOf(client.createSubscription({ endpointUrl, ...fields }));
  expect(
    await refused({ toolkitSlug: "events", triggerSlug: "invoice.paid", match: { triggerSlugs: ["invoice.sent"] } }),
  ).toMatchObject({
    reason: "SUBSCRIPTION_FILTER_INVALID",
    field: "match.triggerSlugs",
  });
  expect(await refused({ match: { triggerSlugs: Array(101).fill("events.invoice.sent") } })).toMatchObject({
    reason: "SUBSCRIPTION_FILTER_INVALID",
  });
  expect(await refused({ match: { triggerSlugs: ["invoice"] } })).toMatchObject({ reason: "TRIGGER_WITHOUT_TOOLKIT" });
  expect(await refused({ match: { triggerSlugs: ["events.gone"] } })).toMatchObject({ reason: "TRIGGER_NOT_FOUND" });
  expect(await refused({ entityId: "a\nb" })).toMatchObject({ reason: "ENTITY_ID_INVALID", field: "entityId" });
  expect(await refused({ description: "x".repeat(201) })).toMatchObject({ reason: "SUBSCRIPTION_DESCRIPTION_INVALID" });
  const id = "sub_01h455vb4pex5vsknk084sn02q";
  expect(await refusalOf(client.previewSubscription({ id }))).toMatchObject({ reason: "SUBSCRIPTION_NOT_FOUND" });
});

test("an event that a filter accepts is sent, and one that it refuses is not", async () => {
  await using receiver = await startTestReceiver();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(await cluster.project());
  await publisher(client);
  const match = { filter: over };
  await client.createSubscription({
    endpointUrl: receiver.url,
    toolkitSlug: "events",
    match,
    format: { kind: "standard" },
  });
  await client.publishEvents({ events: invoices(10) });
  await until(() => receiver.requests.length === 4);
  const { requests } = await client.previewSubscription({ toolkitSlug: "events", match, format: { kind: "standard" } });
  const bodies = receiver.requests.map(({ body }) => body.toString());
  expect(requests.map(({ body }) => body).sort()).toEqual(bodies.sort());
  const [shown] = requests;
  const sent = receiver.requests.find(({ headers }) => headers["webhook-id"] === shown?.eventId);
  for (const { name, value } of shown?.headers ?? [])
    if (value !== "…" && name !== "webhook-timestamp") expect(sent?.headers[name]).toBe(value);
});

test("filters let other work run between them, and equal filters are applied once", async () => {
  let turns = 0;
  const observed: number[] = [];
  const next = async () => {
    turns++;
  };
  const filters = createFilters({
    db: cluster.db,
    turns: { next },
    onFiltered: ({ outcomes }) => observed.push([...outcomes].length),
  });
  const apply = filters.begin("project:one");
  const event = {
    ...{
      id: "evt_1",
      toolkitSlug: "events",
      triggerSlug: "events.invoice.paid",
      entityId: "",
      payload: '{"amount":5}',
    },
    ...{ occurredAtMs: 0, receivedAtMs: 0 },
  };
  const sources = Array.from({ length: 1_000 }, (_, n) => `event.payload.amount > ${n}`);
  const outcomes = await apply(event, [...sources, ...sources]);
  expect([...outcomes.values()].filter(({ outcome }) => outcome === "match")).toHaveLength(5);
  expect(observed).toEqual([1_000]);
  expect(turns).toBeGreaterThan(0);
});

test("a subscription receives operational events by types and a checked filter, and only if it names their toolkit", async () => {
  await using node = createTestNode(cluster);
  const client = node.client(await cluster.project());
  const triggerSlugs = ["svc.job_failed", "svc.delivery_dead"];
  const subscribe = (toolkitSlug: string, filter = "") =>
    client.createSubscription({
      endpointUrl: "https://ops.example.com/",
      toolkitSlug,
      match: { triggerSlugs, filter },
    });
  expect((await subscribe("svc")).subscription?.match?.triggerSlugs).toEqual(triggerSlugs);
  const reason = "SUBSCRIPTION_FILTER_INVALID";
  expect(await refusalOf(subscribe(""))).toMatchObject({ reason, field: "match.triggerSlugs" });
  const filter = "event.payload.lastError != '' && event.entityId == 'ada'";
  expect((await subscribe("svc", filter)).subscription?.match).toMatchObject({ triggerSlugs, filter });
  // The named types have no such field.
  const refused = await refusalOf(subscribe("svc", "event.payload.quota == 'jobs'"));
  expect(refused).toMatchObject({ reason, field: "match.filter" });
});
