import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createId } from "@svc/core";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { refusalOf } from "@svc/testing/project-client";
import { startTestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createTestCluster, createTestNode, type TestCluster } from "../test-node.ts";
import { issuePost, paymentPost } from "../test-posts.ts";

afterAll(dropTestDatabases);

const endpointUrl = "https://example.com/hook";
const notFound = (what: string, field: string) => ({ code: "NotFound", reason: `${what}_NOT_FOUND`, field });
const malformed = (field: string) => ({ code: "InvalidArgument", reason: "ID_MALFORMED", field });

/** Creates a project with two subscriptions (one of them only to payments) and three events: an issue, a payment, and an issue. */
async function fill(cluster: TestCluster, options: Parameters<typeof createTestNode>[1] = {}) {
  const projectId = await cluster.project();
  const node = createTestNode(cluster, options);
  const client = node.client(projectId);
  const startMs = cluster.clock.now();
  const everything = (await client.createSubscription({ endpointUrl })).subscription!.id;
  const payments = (await client.createSubscription({ endpointUrl, toolkitSlug: "payments" })).subscription!.id;
  for (const post of [issuePost({ delivery: "1" }), paymentPost(), issuePost({ delivery: "2" })]) {
    await node.ingest.accept(post);
    cluster.clock.advance(1_000);
  }
  const [issue2, payment, issue1] = (await client.listEvents({})).events.map(({ id }) => id) as [
    string,
    string,
    string,
  ];
  return { projectId, node, client, startMs, everything, payments, issue1, payment, issue2 };
}

/** Ends every pending delivery of a project as `state`, as the engine would. */
async function endAll({ db }: TestCluster, state: "delivered" | "dead_letter"): Promise<void> {
  await db.sql`delete from delivery_tasks`;
  await db.sql`update deliveries set state = ${state}, next_attempt_at = null where state = 'pending'`;
}

test("ListEvents says how the deliveries of each event stand where it is asked to, at most 40 of each", async () => {
  await using cluster = await createTestCluster();
  const { node, client, ...ids } = await fill(cluster);
  await using _node = node;
  const standing = async () =>
    (await client.listEvents({ withDeliveries: true })).events.map(({ deliveries }) => {
      const { pending, delivered, deadLetter, more } = deliveries!;
      return [pending, delivered, deadLetter, more];
    });
  expect((await client.listEvents({})).events.map(({ deliveries }) => deliveries)).toEqual(Array(3).fill(undefined));
  expect(await standing()).toEqual([
    [1, 0, 0, false],
    [2, 0, 0, false],
    [1, 0, 0, false],
  ]);
  await endAll(cluster, "dead_letter");
  await client.replayEvent({ eventId: ids.payment });
  await endAll(cluster, "delivered");
  expect((await standing())[1]).toEqual([0, 2, 2, false]);
  for (let n = 0; n < 19; n += 1) await client.replayEvent({ eventId: ids.payment });
  const [pending = 0, delivered = 0, deadLetter = 0, more] = (await standing())[1] as [number, number, number, boolean];
  expect([pending + delivered + deadLetter, more]).toEqual([40, true]);
  const { deliveries } = (await client.listEvents({ withDeliveries: true, entityId: "", payloadContains: "number" }))
    .events[0]!;
  expect(deliveries).toMatchObject({ deadLetter: 1, more: false });
});

test("ListDeliveries filters by event, by subscription, and by both", async () => {
  await using cluster = await createTestCluster();
  const { node, client, startMs, ...ids } = await fill(cluster);
  await using _node = node;
  const list = async (filter: object) =>
    (await client.listDeliveries(filter)).deliveries.map(({ eventId, subscriptionId }) => [eventId, subscriptionId]);
  expect(await list({ subscriptionId: ids.everything })).toEqual([
    [ids.issue2, ids.everything],
    [ids.payment, ids.everything],
    [ids.issue1, ids.everything],
  ]);
  expect((await list({ eventId: ids.payment })).sort()).toEqual(
    [
      [ids.payment, ids.everything],
      [ids.payment, ids.payments],
    ].sort(),
  );
  expect(await list({ eventId: ids.payment, subscriptionId: ids.payments })).toEqual([[ids.payment, ids.payments]]);
  expect(await list({ eventId: ids.issue1, subscriptionId: ids.payments })).toEqual([]);
  expect(await list({ eventId: createId("evt", 0) })).toEqual([]);
  const [fresh] = (await client.listDeliveries({ eventId: ids.issue1 })).deliveries;
  expect(fresh).toMatchObject({
    id: expect.stringMatching(/^dlv_/),
    state: "pending",
    attempts: 0,
    lastError: "",
    replayed: false,
    createdAt: timestampFromMs(startMs),
    nextAttemptAt: timestampFromMs(startMs),
  });
  expect(fresh?.lastAttemptAt).toBeUndefined();
});

test("ListDeliveries narrows to a state and a time, of one event or subscription and of all", async () => {
  await using cluster = await createTestCluster();
  const { node, client, startMs, ...ids } = await fill(cluster);
  await using _node = node;
  await cluster.db
    .sql`update deliveries set state = 'dead_letter' where id = (select max(id::text)::uuid from deliveries)`;
  const list = async (filter: object) => (await client.listDeliveries(filter)).deliveries.map(({ eventId }) => eventId);
  const at = (ms: number) => timestampFromMs(startMs + ms);
  expect(await list({ state: "dead_letter", since: at(0) })).toEqual([ids.issue2]);
  expect(await list({ state: "pending", since: at(0) })).toEqual([ids.payment, ids.payment, ids.issue1]);
  expect(await list({ state: "pending", since: at(1_000), until: at(2_000) })).toEqual([ids.payment, ids.payment]);
  expect(await list({ state: "pending", subscriptionId: ids.everything })).toEqual([ids.payment, ids.issue1]);
  expect(await list({ state: "delivered", since: at(0) })).toEqual([]);
  expect(await list({ state: "dead_letter", eventId: ids.issue1 })).toEqual([]);
  expect(await list({ subscriptionId: ids.everything, since: at(1) })).toEqual([ids.issue2, ids.payment]);
  expect(await list({ eventId: ids.issue1, until: at(0) })).toEqual([]);
  // The dead letter has no attempt, because its subscription had ended before.
  expect(await list({ onlyFailed: true, since: at(0) })).toEqual([]);
  await cluster.db.sql`update deliveries set attempts = 1
    where state = 'dead_letter' or id = (select min(id::text)::uuid from deliveries)`;
  expect(await list({ onlyFailed: true, since: at(0) })).toEqual([ids.issue2, ids.issue1]);
  expect(await list({ onlyFailed: true, state: "dead_letter", since: at(0) })).toEqual([ids.issue2]);
  expect(await list({ onlyFailed: true, eventId: ids.issue1 })).toEqual([ids.issue1]);
  expect(await list({ onlyFailed: true, eventId: ids.payment })).toEqual([]);
  const first = await client.listDeliveries({ state: "pending", since: at(0), pageSize: 2 });
  const second = await client.listDeliveries({ state: "pending", since: at(0), pageToken: first.nextPageToken });
  expect([first.deliveries.length, second.deliveries.length, second.nextPageToken]).toEqual([2, 1, ""]);
  const stranger = node.client(await cluster.project());
  expect((await stranger.listDeliveries({ state: "pending", since: at(0) })).deliveries).toEqual([]);
  const refused = (filter: object) => refusalOf(client.listDeliveries(filter));
  expect(await refused({ state: "dead_letter" })).toMatchObject({ reason: "FILTER_REQUIRED", field: "eventId" });
  expect(await refused({ since: at(0) })).toMatchObject({ reason: "FILTER_REQUIRED" });
  expect(await refused({ onlyFailed: true })).toMatchObject({ reason: "FILTER_REQUIRED" });
  expect(await refused({ state: "lost", since: at(0) })).toEqual({
    ...{ code: "InvalidArgument", reason: "DELIVERY_STATE_INVALID", field: "state" },
  });
  expect(await refused({ state: "pending", since: at(1), until: at(0) })).toMatchObject({
    ...{ reason: "TIME_RANGE_INVALID", field: "since" },
  });
});

test("GetDelivery returns one delivery of the project, and no other's", async () => {
  await using cluster = await createTestCluster();
  const { node, client, ...ids } = await fill(cluster);
  await using _node = node;
  const [delivery] = (await client.listDeliveries({ eventId: ids.issue1, withDetails: true })).deliveries;
  expect((await client.getDelivery({ id: delivery!.id })).delivery).toEqual(delivery);
  const stranger = node.client(await cluster.project());
  expect(await refusalOf(stranger.getDelivery({ id: delivery!.id }))).toEqual(notFound("DELIVERY", "id"));
  expect(await refusalOf(client.getDelivery({ id: createId("dlv", 0) }))).toEqual(notFound("DELIVERY", "id"));
  expect(await refusalOf(client.getDelivery({ id: "dlv_1" }))).toEqual(malformed("id"));
});

test("ListDeliveries pages, and refuses what fits no list", async () => {
  await using cluster = await createTestCluster();
  const { node, client, ...ids } = await fill(cluster);
  await using _node = node;
  const filter = { subscriptionId: ids.everything };
  const first = await client.listDeliveries({ ...filter, pageSize: 2 });
  const second = await client.listDeliveries({ ...filter, pageToken: first.nextPageToken });
  expect([first.deliveries.length, second.deliveries.length, second.nextPageToken]).toEqual([2, 1, ""]);
  const invalid = { code: "InvalidArgument", reason: "PAGE_TOKEN_INVALID", field: "pageToken" };
  const foreign = { eventId: ids.issue1, pageToken: first.nextPageToken };
  expect(await refusalOf(client.listDeliveries(foreign))).toEqual(invalid);
  expect(await refusalOf(client.listDeliveries({ ...filter, pageToken: "AAAA" }))).toEqual(invalid);
  expect(await refusalOf(client.listDeliveries({ ...filter, pageSize: -1 }))).toMatchObject({
    reason: "PAGE_SIZE_NEGATIVE",
  });
  expect(await refusalOf(client.listDeliveries({}))).toEqual({
    code: "InvalidArgument",
    reason: "FILTER_REQUIRED",
    field: "eventId",
  });
  expect(await refusalOf(client.listDeliveries({ eventId: "x" }))).toEqual(malformed("eventId"));
  expect(await refusalOf(client.listDeliveries({ subscriptionId: ids.issue1 }))).toEqual(malformed("subscriptionId"));
});

test("what belongs to another project reads as missing, or as nothing", async () => {
  await using cluster = await createTestCluster();
  const { node, client, startMs, ...ids } = await fill(cluster);
  await using _node = node;
  const stranger = node.client(await cluster.project());
  expect((await stranger.listDeliveries({ eventId: ids.issue1 })).deliveries).toEqual([]);
  expect((await stranger.listDeliveries({ subscriptionId: ids.everything })).deliveries).toEqual([]);
  const since = timestampFromMs(startMs);
  const [delivery] = (await client.listDeliveries({ eventId: ids.issue1 })).deliveries;
  const deliveryId = delivery!.id;
  const subscriptionId = ids.everything;
  expect(await refusalOf(stranger.listDeliveryAttempts({ deliveryId }))).toEqual(notFound("DELIVERY", "deliveryId"));
  expect(await refusalOf(stranger.replayEvent({ eventId: ids.issue1 }))).toEqual(notFound("EVENT", "eventId"));
  expect(await refusalOf(stranger.replayEvents({ since, subscriptionId }))).toEqual(
    notFound("SUBSCRIPTION", "subscriptionId"),
  );
  expect(await refusalOf(stranger.sendTestEvent({ subscriptionId }))).toEqual(
    notFound("SUBSCRIPTION", "subscriptionId"),
  );
  expect(await stranger.replayEvents({ since })).toMatchObject({ count: 0, deliveries: [] });
  expect(await cluster.count("deliveries")).toBe(4);
});

test("what is no id of its kind is told so", async () => {
  await using cluster = await createTestCluster();
  const { node, client, startMs, ...ids } = await fill(cluster);
  await using _node = node;
  for (const id of ["", "dlv_1", ids.everything.toUpperCase()]) {
    expect(await refusalOf(client.listDeliveryAttempts({ deliveryId: id }))).toEqual(malformed("deliveryId"));
    expect(await refusalOf(client.replayEvent({ eventId: id }))).toEqual(malformed("eventId"));
    expect(await refusalOf(client.sendTestEvent({ subscriptionId: id }))).toEqual(malformed("subscriptionId"));
  }
  const since = timestampFromMs(startMs);
  expect(await refusalOf(client.replayEvents({ since, subscriptionId: "x" }))).toEqual(malformed("subscriptionId"));
});

test("ListDeliveryAttempts shows every attempt, the latest first", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500, headers: { "x-try": "1" }, body: "no" }, { status: 201, body: "yes" });
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(projectId);
  const { subscription } = await client.createSubscription({ endpointUrl: receiver.url });
  const startMs = cluster.clock.now();
  await node.ingest.accept(issuePost());
  const only = async () => (await client.listDeliveries({ subscriptionId: subscription!.id })).deliveries[0]!;
  await until(async () => (await only()).attempts === 1);
  const failed = await only();
  expect(failed).toMatchObject({
    state: "pending",
    lastError: "http_500",
    lastAttemptAt: timestampFromMs(startMs),
    nextAttemptAt: timestampFromMs(startMs + 1_000),
  });
  cluster.clock.advance(1_000);
  node.dispatcher.wake();
  await until(async () => (await only()).state === "delivered");
  expect((await only()).nextAttemptAt).toBeUndefined();
  const { attempts } = await client.listDeliveryAttempts({ deliveryId: failed.id });
  const common = { deliveryId: failed.id, durationMs: 0, address: "127.0.0.1", requestUrl: receiver.url };
  expect(attempts).toMatchObject([
    { ...common, number: 2, at: timestampFromMs(startMs + 1_000), statusCode: 201, error: "", responseBody: "yes" },
    { ...common, number: 1, at: timestampFromMs(startMs), statusCode: 500, error: "http_500", responseBody: "no" },
  ]);
  expect(attempts[1]?.responseHeaders["x-try"]).toBe("1");
});

test("ReplayEvent queues fresh deliveries to what matches now and leaves the old ones", async () => {
  await using cluster = await createTestCluster();
  const { node, client, ...ids } = await fill(cluster);
  await using _node = node;
  await endAll(cluster, "dead_letter");
  const before = (await client.listDeliveries({ eventId: ids.payment })).deliveries;
  const late = (
    await client.createSubscription({ endpointUrl, toolkitSlug: "payments", triggerSlug: "payment_changed" })
  ).subscription!.id;
  await client.createSubscription({ endpointUrl, toolkitSlug: "code_host" });
  await client.updateSubscription({ id: ids.everything, active: false });
  cluster.clock.advance(1_000);

  const { deliveries } = await client.replayEvent({ eventId: ids.payment });
  expect(deliveries.map(({ subscriptionId }) => subscriptionId).sort()).toEqual([ids.payments, late].sort());
  for (const delivery of deliveries) {
    expect(delivery).toMatchObject({
      eventId: ids.payment,
      state: "pending",
      attempts: 0,
      lastError: "",
      replayed: true,
      createdAt: timestampFromMs(cluster.clock.now()),
      nextAttemptAt: timestampFromMs(cluster.clock.now()),
    });
  }
  const listed = (await client.listDeliveries({ eventId: ids.payment })).deliveries;
  expect(listed.slice(0, 2)).toEqual(deliveries);
  expect(listed.slice(2)).toEqual(before);
  // Each call of ReplayEvent queues new deliveries.
  expect((await client.replayEvent({ eventId: ids.payment })).deliveries).toHaveLength(2);
  expect((await client.listDeliveries({ eventId: ids.payment })).deliveries).toHaveLength(6);
});

test("ReplayEvent to one subscription queues a delivery to that one alone; one that is unknown or inactive is refused", async () => {
  await using cluster = await createTestCluster();
  const { node, client, ...ids } = await fill(cluster);
  await using _node = node;
  const only = { eventId: ids.payment, subscriptionId: ids.payments };
  const { deliveries } = await client.replayEvent(only);
  expect(deliveries.map(({ subscriptionId }) => subscriptionId)).toEqual([ids.payments]);
  expect(await refusalOf(client.replayEvent({ ...only, subscriptionId: createId("sub", 0) }))).toEqual(
    notFound("SUBSCRIPTION", "subscriptionId"),
  );
  await client.updateSubscription({ id: ids.payments, active: false });
  expect(await refusalOf(client.replayEvent(only))).toMatchObject({ reason: "SUBSCRIPTION_INACTIVE" });
});

test("ReplayEvent with nothing matching answers an empty list; an event that is missing is refused", async () => {
  await using cluster = await createTestCluster();
  const { node, client, ...ids } = await fill(cluster);
  await using _node = node;
  await client.deleteSubscription({ id: ids.everything });
  expect((await client.replayEvent({ eventId: ids.issue1 })).deliveries).toEqual([]);
  expect(await refusalOf(client.replayEvent({ eventId: createId("evt", 0) }))).toEqual(notFound("EVENT", "eventId"));
});

test("a replayed delivery goes out, under an id of its own", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(projectId);
  await client.createSubscription({ endpointUrl: receiver.url });
  await node.ingest.accept(issuePost());
  await until(() => receiver.requests.length === 1);
  const [event] = (await client.listEvents({})).events;
  const { deliveries } = await client.replayEvent({ eventId: event!.id });
  await until(() => receiver.requests.length === 2);
  const [first, second] = receiver.requests;
  expect(second!.headers["x-svc-delivery-id"]).toBe(deliveries[0]!.id);
  expect(first!.headers["x-svc-delivery-id"]).not.toBe(deliveries[0]!.id);
  expect(second!.body).toEqual(first!.body);
});

test.each([
  [{}, 4],
  [{ toolkitSlug: "payments" }, 2],
  [{ toolkitSlug: "code_host", triggerSlug: "issue_opened" }, 2],
  [{ triggerSlug: "payments.payment_changed" }, 2],
  [{ from: 1_000 }, 3],
  [{ from: 1_000, to: 2_000 }, 2],
  [{ from: 1_001, to: 2_000 }, 0],
  [{ from: 0, to: 1 }, 1],
  [{ only: "payments" }, 1],
  [{ only: "everything" }, 3],
  [{ only: "everything", toolkitSlug: "payments" }, 1],
] as const)("ReplayEvents with %j queues %i deliveries, and counts as many in a dry run", async (given, count) => {
  await using cluster = await createTestCluster();
  const { node, client, startMs, ...ids } = await fill(cluster);
  await using _node = node;
  const { from = 0, to, only, ...slugs } = given as { from?: number; to?: number; only?: "payments" | "everything" };
  const request = {
    ...slugs,
    since: timestampFromMs(startMs + from),
    ...(to === undefined ? {} : { until: timestampFromMs(startMs + to) }),
    ...(only === undefined ? {} : { subscriptionId: ids[only] }),
  };
  expect(await client.replayEvents({ ...request, dryRun: true })).toMatchObject({ count, deliveries: [] });
  expect(await cluster.count("deliveries")).toBe(4);
  const replayed = await client.replayEvents(request);
  expect([replayed.count, replayed.deliveries.length, await cluster.count("deliveries")]).toEqual([
    count,
    count,
    4 + count,
  ]);
  expect(replayed.deliveries.map(({ id }) => id)).toEqual(
    replayed.deliveries
      .map(({ id }) => id)
      .sort()
      .reverse(),
  );
  expect(replayed.deliveries.every((delivery) => delivery.replayed)).toBe(true);
});

test("onlyUndelivered leaves out what is delivered or pending, pair by pair", async () => {
  await using cluster = await createTestCluster();
  const { node, client, startMs, ...ids } = await fill(cluster);
  await using _node = node;
  const request = { since: timestampFromMs(startMs), onlyUndelivered: true };
  expect(await client.replayEvents({ ...request, dryRun: true })).toMatchObject({ count: 0 });
  await endAll(cluster, "dead_letter");
  await cluster.db
    .sql`update deliveries set state = 'delivered' where id = (select id from deliveries where state = 'dead_letter' order by id limit 1)`;
  expect(await client.replayEvents({ ...request, dryRun: true })).toMatchObject({ count: 3 });
  const { deliveries } = await client.replayEvents(request);
  expect(deliveries.map(({ eventId }) => eventId)).not.toContain(ids.issue1);
  expect(await client.replayEvents(request)).toMatchObject({ count: 0, deliveries: [] });
  await endAll(cluster, "dead_letter");
  expect(await client.replayEvents(request)).toMatchObject({ count: 3 });
});

test("ReplayEvents without until stops at the moment of the call", async () => {
  await using cluster = await createTestCluster();
  const { node, client, startMs } = await fill(cluster);
  await using _node = node;
  cluster.clock.advance(-1_500);
  expect(await client.replayEvents({ since: timestampFromMs(startMs), dryRun: true })).toMatchObject({ count: 3 });
});

test("ReplayEvents refuses what it documents, and queues nothing then", async () => {
  await using cluster = await createTestCluster();
  const { node, client, startMs, ...ids } = await fill(cluster);
  await using _node = node;
  const since = timestampFromMs(startMs);
  expect(await refusalOf(client.replayEvents({}))).toEqual({
    code: "InvalidArgument",
    reason: "FILTER_REQUIRED",
    field: "since",
  });
  expect(await refusalOf(client.replayEvents({ since, until: timestampFromMs(startMs - 1) }))).toMatchObject({
    reason: "TIME_RANGE_INVALID",
  });
  expect(await refusalOf(client.replayEvents({ since, triggerSlug: "issue_opened" }))).toMatchObject({
    reason: "TRIGGER_WITHOUT_TOOLKIT",
  });
  for (const dryRun of [false, true]) {
    const named = client.replayEvents({ since, toolkitSlug: "nobody", dryRun });
    expect(await refusalOf(named)).toEqual(notFound("TOOLKIT", "toolkitSlug"));
  }
  const gone = createId("sub", 0);
  expect(await refusalOf(client.replayEvents({ since, subscriptionId: gone }))).toEqual(
    notFound("SUBSCRIPTION", "subscriptionId"),
  );
  await client.updateSubscription({ id: ids.payments, active: false });
  for (const dryRun of [false, true]) {
    expect(await refusalOf(client.replayEvents({ since, subscriptionId: ids.payments, dryRun }))).toEqual({
      code: "FailedPrecondition",
      reason: "SUBSCRIPTION_INACTIVE",
      field: "subscriptionId",
    });
  }
  expect(await cluster.count("deliveries")).toBe(4);
});

test("a replay queues all or none, and shows 500 of them", async () => {
  await using cluster = await createTestCluster();
  const { node, client, startMs } = await fill(cluster);
  await using _node = node;
  await cluster.db
    .sql`insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
    select project_id, (substr(id::text, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, 'event', toolkit_slug, trigger_slug, '', '{}', occurred_at, received_at, ''
    from (select * from events order by id limit 1) first, generate_series(1, 6000) n`;
  const request = { since: timestampFromMs(startMs) };
  const replayed = await client.replayEvents(request);
  expect([replayed.count, replayed.deliveries.length]).toEqual([6_004, 500]);
  expect(await cluster.count("deliveries")).toBe(4 + 6_004);

  // The last delivery breaks a constraint that only this test adds. So nothing of the whole call is stored.
  await cluster.db.sql.unsafe(`create function refuse_newest() returns trigger language plpgsql as $$ begin
    if new.event_id = (select id from events order by id desc limit 1) then raise exception 'refused'; end if; return new; end $$;
    create trigger refuse_newest before insert on deliveries for each row execute function refuse_newest()`);
  expect(await refusalOf(client.replayEvents(request))).toMatchObject({ code: "Internal" });
  expect(await cluster.count("deliveries")).toBe(4 + 6_004);
  await cluster.db.sql.unsafe("drop trigger refuse_newest on deliveries; drop function refuse_newest()");
});

test("more than 100,000 deliveries are refused, and a dry run counts them", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(projectId);
  const startMs = cluster.clock.now();
  await node.ingest.accept(issuePost());
  await cluster.db
    .sql`insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
    select project_id, (substr(id::text, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, 'event', toolkit_slug, trigger_slug, '', '{}', occurred_at, received_at, ''
    from events, generate_series(1, 400) n`;
  await cluster.db
    .sql`insert into subscriptions (id, project_id, endpoint_url, toolkit_slug, trigger_slug, signing_secret, created_at)
    select gen_random_uuid(), id, 'https://example.com/', '', '', '', created_at from projects, generate_series(1, 250)`;
  cluster.clock.advance(1);
  const request = { since: timestampFromMs(startMs) };
  expect(await refusalOf(client.replayEvents(request))).toEqual({
    code: "ResourceExhausted",
    reason: "REPLAY_TOO_LARGE",
    field: "since",
  });
  expect(await cluster.count("deliveries")).toBe(0);
  expect(await client.replayEvents({ ...request, dryRun: true })).toMatchObject({ count: 401 * 250 });
});

test("SendTestEvent stores the entity of the subscription, so that the event is erased and exported with it", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(projectId);
  const { subscription } = await client.createSubscription({ endpointUrl: receiver.url, entityId: "ada" });
  const { delivery } = await client.sendTestEvent({ subscriptionId: subscription!.id });
  await until(() => receiver.requests.length === 1);
  expect(JSON.parse(receiver.requests[0]!.body.toString("utf8"))).toMatchObject({ type: "test", entityId: "ada" });
  expect((await client.getEvent({ id: delivery!.eventId })).event).toMatchObject({ entityId: "ada" });
  expect((await client.listEvents({ entityId: "ada" })).events).toEqual([]);
});

test("SendTestEvent sends a synthetic event whatever the filters, and only GetEvent reads it", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(projectId);
  const startMs = cluster.clock.now();
  const { subscription } = await client.createSubscription({ endpointUrl: receiver.url, toolkitSlug: "payments" });
  const { delivery } = await client.sendTestEvent({ subscriptionId: subscription!.id });
  expect(delivery).toMatchObject({ subscriptionId: subscription!.id, state: "pending", replayed: false });
  await until(() => receiver.requests.length === 1);
  const at = new Date(startMs).toISOString();
  expect(JSON.parse(receiver.requests[0]!.body.toString("utf8"))).toEqual({
    id: delivery!.eventId,
    type: "test",
    toolkitSlug: "",
    triggerSlug: "",
    entityId: "",
    occurredAt: at,
    receivedAt: at,
    payload: {},
  });
  await until(
    async () => (await client.listDeliveries({ eventId: delivery!.eventId })).deliveries[0]?.state === "delivered",
  );
  expect((await client.listDeliveryAttempts({ deliveryId: delivery!.id })).attempts).toHaveLength(1);
  expect((await client.getEvent({ id: delivery!.eventId })).event).toMatchObject({
    payloadJson: "{}",
    toolkitSlug: "",
  });
  expect((await client.listEvents({})).events).toEqual([]);
  cluster.clock.advance(1);
  expect(await client.replayEvents({ since: timestampFromMs(startMs) })).toMatchObject({ count: 0 });

  await client.updateSubscription({ id: subscription!.id, active: false });
  expect(await refusalOf(client.sendTestEvent({ subscriptionId: subscription!.id }))).toEqual({
    code: "FailedPrecondition",
    reason: "SUBSCRIPTION_INACTIVE",
    field: "subscriptionId",
  });
});
