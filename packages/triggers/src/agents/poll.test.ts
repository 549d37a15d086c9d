import { createId, type EventId, firstUuidAt, sealPageToken, uuidOfId } from "@svc/core";
import { recordEvents } from "@svc/db/events/record";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { until } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createTestCluster, createTestNode, type TestCluster, type TriggerNode } from "../test-node.ts";
import { issuePost, paymentPost } from "../test-posts.ts";
import { createTestAgent, putEntity, type TestAgent } from "./test-agent.ts";

afterAll(dropTestDatabases);

const name = "code_host.issue_opened";

async function setUp(cluster: TestCluster, node: TriggerNode) {
  const projectId = await cluster.project();
  await putEntity(cluster, projectId, "ada", "org-ada");
  await putEntity(cluster, projectId, "bob", "org-bob");
  const agent = await createTestAgent(cluster, node, { projectId });
  const post = (organization: string) => node.ingest.accept(issuePost({ organization }));
  return { projectId, agent, post };
}

/** Polls until no event is left. Returns the events and the cursor after them. */
async function drain(agent: TestAgent, params: object, cursor: string) {
  const events: { eventId: string }[] = [];
  let at = cursor;
  for (let more = true; more; ) {
    const { result } = await agent.ask("events/poll", { name, ...params, cursor: at });
    events.push(...result.events);
    [at, more] = [result.cursor, result.hasMore];
  }
  return { ids: events.map(({ eventId }) => eventId), events, cursor: at };
}

async function listed(node: TriggerNode, { projectId }: TestAgent, filter: object = {}) {
  const { events } = await node.client(projectId).listEvents({ triggerSlug: name, pageSize: 500, ...filter });
  return events.reverse();
}

test("a poll without a cursor begins now; from there on nothing is missed, and it is what ListEvents lists", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  const { agent, post } = await setUp(cluster, node);
  await post("org-ada");
  const { result } = await agent.ask("events/poll", { name });
  expect(result).toEqual({
    events: [],
    cursor: expect.any(String),
    truncated: false,
    hasMore: false,
    nextPollMs: 5_000,
  });
  const [before] = await listed(node, agent);
  for (const organization of ["org-ada", "org-bob", "org-none"]) {
    await post(organization);
    await node.ingest.accept(paymentPost({ id: organization }));
    cluster.clock.advance(1_000);
  }
  const all = (await listed(node, agent)).filter(({ id }) => id !== before?.id);
  const { events, cursor } = await drain(agent, { maxEvents: 2 }, result.cursor);
  expect(events).toEqual(
    all.map(({ id, entityId, payloadJson, occurredAt }) => ({
      ...{ eventId: id, name, data: JSON.parse(payloadJson) },
      timestamp: new Date(Number(occurredAt?.seconds) * 1_000 + (occurredAt?.nanos ?? 0) / 1e6).toISOString(),
      ...(entityId !== "" && { _meta: { "svc/entityId": entityId } }),
    })),
  );
  expect(events).toHaveLength(3);
  expect((await drain(agent, {}, cursor)).ids).toEqual([]);
  // The same cursor returns the same events again.
  expect((await drain(agent, {}, result.cursor)).ids).toEqual(all.map(({ id }) => id));
});

test("a key that is bound to ada polls ada's events, whatever it names; ListEvents for ada lists the same", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  const { projectId, agent, post } = await setUp(cluster, node);
  const ada = await createTestAgent(cluster, node, {
    projectId,
    binding: { entityId: "ada", accessClasses: ["read"], toolkitSlugs: [] },
  });
  const [free, bound] = [await agent.ask("events/poll", { name }), await ada.ask("events/poll", { name })];
  const ofAda = { name, arguments: { entity_id: "ada" } };
  const named = await agent.ask("events/poll", ofAda);
  for (const organization of ["org-ada", "org-bob", "org-ada", "org-none"]) await post(organization);
  const expected = (await listed(node, agent, { entityId: "ada" })).map(({ id }) => id);
  expect(expected).toHaveLength(2);
  expect((await drain(ada, {}, bound.result.cursor)).ids).toEqual(expected);
  expect((await drain(agent, ofAda, named.result.cursor)).ids).toEqual(expected);
  expect((await drain(agent, {}, free.result.cursor)).ids).toHaveLength(4);
  const bob = { name, arguments: { entity_id: "bob" } };
  expect((await ada.ask("events/poll", bob)).error).toMatchObject({ code: -32_012 });
  expect((await ada.ask("events/poll", { name }, "entity_id=bob")).error).toMatchObject({ code: -32_012 });
  // A cursor for other events is not valid here: the client is informed that it may have missed events, and continues from now on.
  const foreign = await ada.ask("events/poll", { name, cursor: free.result.cursor });
  expect(foreign.result).toMatchObject({ events: [], truncated: true, hasMore: false });
});

test("an event that is committed later than those after it is not skipped, and none comes twice", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  const { projectId, agent, post } = await setUp(cluster, node);
  const { result } = await agent.ask("events/poll", { name });
  const lateAt = cluster.clock.now();
  cluster.clock.advance(5_000);
  await post("org-ada");
  const first = await drain(agent, {}, result.cursor);
  expect(first.ids).toHaveLength(1);
  const late = await record(cluster, projectId, lateAt);
  const second = await drain(agent, {}, first.cursor);
  expect(second.ids).toEqual([late]);
  cluster.clock.advance(120_000);
  const third = await drain(agent, {}, second.cursor);
  expect(third.ids).toEqual([]);
  await post("org-ada");
  expect((await drain(agent, {}, third.cursor)).ids).toHaveLength(1);
});

/** Stores an event as if it had been received at another time. */
async function record({ db }: TestCluster, projectId: TestAgent["projectId"], receivedAtMs: number): Promise<string> {
  const id = createId("evt", receivedAtMs);
  const event = {
    ...({ id, projectId, kind: "event", toolkitSlug: "code_host", triggerSlug: name, entityId: "" } as const),
    ...{
      payload: '{"n":12345678901234567890}',
      occurredAtMs: receivedAtMs,
      receivedAtMs,
      dedupeKey: "",
      deliveries: [],
    },
  };
  await recordEvents(db, [event], undefined, { owner: createId("node", 0), untilMs: 0 });
  return id;
}

test("any number of events within a minute comes at once, each once, and the cursor stays short", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  const { projectId, agent } = await setUp(cluster, node);
  const { result } = await agent.ask("events/poll", { name });
  const expected: string[] = [];
  for (let n = 0; n < 300; n++) expected.push(await record(cluster, projectId, cluster.clock.now() + n));
  const all = await drain(agent, { maxEvents: 100 }, result.cursor);
  expect(all.ids).toEqual(expected);
  expect(all.cursor.length).toBeLessThan(400);
});

test("a cursor of an earlier version goes on: what it names does not come again, everything else does", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  const { projectId, agent } = await setUp(cluster, node);
  const nowMs = cluster.clock.now();
  const ids = [0, 1, 2].map((n) => record(cluster, projectId, nowMs + n));
  const [first, second, third] = await Promise.all(ids);
  const former = [firstUuidAt(nowMs), uuidOfId(second as EventId)].join("").replaceAll("-", "");
  const cursor = sealPageToken(
    cluster.sealer,
    { call: "events", projectId, filters: { triggerSlug: name, entityId: "" } },
    Buffer.from(former, "hex").toString("base64"),
  );
  const rest = await drain(agent, { maxEvents: 1 }, cursor);
  expect(rest.ids).toEqual([first, third]);
  expect((await drain(agent, {}, rest.cursor)).ids).toEqual([]);
});

test("maxAgeMs and the retention cut a cursor short, and only then is it said", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  const { agent, post } = await setUp(cluster, node);
  const { result } = await agent.ask("events/poll", { name });
  const poll = async (params: object) =>
    (await agent.ask("events/poll", { name, cursor: result.cursor, ...params })).result;
  cluster.clock.advance(3_600_000);
  await post("org-ada");
  expect(await poll({ maxAgeMs: 60_000 })).toMatchObject({ events: [{ name }], truncated: false });
  cluster.clock.advance(120_000);
  expect(await poll({ maxAgeMs: 60_000 })).toMatchObject({ events: [], truncated: true });
  expect(await poll({ maxAgeMs: 180_000 })).toMatchObject({ events: [{ name }], truncated: false });
  cluster.clock.advance(31 * 86_400_000);
  expect(await poll({})).toMatchObject({ events: [], truncated: true, hasMore: false });
});

test("a poll that waits is answered as soon as there is an event, and empty when its time is over", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  const { agent, post } = await setUp(cluster, node);
  const { result } = await agent.ask("events/poll", { name });
  const waits = async () => {
    const before = cluster.clock.waiting();
    const asked = agent.ask("events/poll", { name, cursor: result.cursor, timeoutMs: 3_000 });
    await until(() => cluster.clock.waiting() > before, "a poll that waits");
    return asked;
  };
  const empty = waits();
  for (let second = 0; second < 3; second++) {
    await until(() => cluster.clock.waiting() > 0, "the next look");
    cluster.clock.advance(1_000);
  }
  expect((await empty).result).toMatchObject({ events: [], truncated: false, nextPollMs: 1_000 });
  const full = waits();
  await until(() => cluster.clock.waiting() > 0, "a look");
  await post("org-ada");
  cluster.clock.advance(1_000);
  expect((await full).result.events).toHaveLength(1);
});

test("what is wrong with a poll is said by the draft's codes", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  const { projectId, agent } = await setUp(cluster, node);
  const errorOf = async (params: object, query = "") => (await agent.ask("events/poll", params, query)).error;
  expect(await errorOf({ name: "code_host.nothing" })).toMatchObject({ code: -32_011, data: { kind: "event" } });
  expect(await errorOf({ name: "code_host.create_issue" })).toMatchObject({ code: -32_011 });
  expect(await errorOf({ name }, "toolkits=payments")).toMatchObject({ code: -32_011 });
  for (const wrong of [{}, { name, arguments: [] }, { name, arguments: { state: "open" } }, { name, cursor: 1 }])
    expect(await errorOf(wrong)).toMatchObject({ code: -32_602 });
  for (const wrong of [{ maxEvents: 0 }, { maxEvents: 1.5 }, { timeoutMs: -1 }, { maxAgeMs: "1" }])
    expect(await errorOf({ name, ...wrong })).toMatchObject({ code: -32_602 });
  expect((await agent.ask("events/stream", { name })).error).toMatchObject({
    ...{ code: -32_014, data: { feature: "deliveryMode", value: "push" } },
  });
  const other = { projectId, binding: { entityId: "", accessClasses: [], toolkitSlugs: ["payments"] } };
  const stranger = await createTestAgent(cluster, node, other);
  expect((await stranger.ask("events/poll", { name })).error).toMatchObject({ code: -32_012 });
  const writer = { projectId, binding: { entityId: "", accessClasses: ["write"] as const, toolkitSlugs: [] } };
  const noReader = await createTestAgent(cluster, node, writer);
  expect((await noReader.ask("events/poll", { name })).error).toMatchObject({ code: -32_012 });
  expect((await noReader.ask("events/list")).result).toEqual({ events: [] });
});
