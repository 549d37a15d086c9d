import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { findTrigger } from "@svc/catalog";
import { createId } from "@svc/core";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { refusalOf } from "@svc/testing/project-client";
import { afterAll, expect, test } from "vitest";
import { createTestCluster, createTestNode, sampleCatalog, type TestCluster, type TriggerNode } from "../test-node.ts";
import { changePost, issuePost, paymentPost, signedCodePost } from "../test-posts.ts";

afterAll(dropTestDatabases);

const push = () =>
  signedCodePost(Buffer.from(JSON.stringify({ ref: "main", head: { id: "1", message: "m" } })), {
    "x-code-event": "push",
  });

/** Stores four events one second apart, oldest first: an issue, a push, a payment and a change. */
async function fill(cluster: TestCluster, node: TriggerNode): Promise<number> {
  const startMs = cluster.clock.now();
  for (const post of [issuePost(), push(), paymentPost(), changePost()]) {
    expect(await node.ingest.accept(post)).toMatchObject({ outcome: "accepted" });
    cluster.clock.advance(1_000);
  }
  return startMs;
}

test("GetEvent and ListEvents show an event with its normalized payload", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(projectId);
  await node.ingest.accept(issuePost({ createdAt: "2026-01-05T08:00:00.5Z" }));
  const { events, nextPageToken } = await client.listEvents({});
  expect(events).toMatchObject([
    {
      id: expect.stringMatching(/^evt_/),
      toolkitSlug: "code_host",
      triggerSlug: "code_host.issue_opened",
      entityId: "",
      payloadJson: '{"number":7,"title":"It does not start","repository":"engine","labels":["bug"]}',
      occurredAt: timestampFromMs(Date.UTC(2026, 0, 5, 8, 0, 0, 500)),
      receivedAt: timestampFromMs(cluster.clock.now()),
    },
  ]);
  expect(nextPageToken).toBe("");
  expect((await client.getEvent({ id: events[0]!.id })).event).toEqual(events[0]);
});

test("an event of another project, or none, reads as missing", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  await node.ingest.accept(issuePost());
  const [event] = (await node.client(projectId).listEvents({})).events;
  const stranger = node.client(await cluster.project());
  const missing = { code: "NotFound", reason: "EVENT_NOT_FOUND", field: "id" };
  expect(await refusalOf(stranger.getEvent({ id: event!.id }))).toEqual(missing);
  expect(await refusalOf(stranger.getEvent({ id: createId("evt", 0) }))).toEqual(missing);
  expect((await stranger.listEvents({})).events).toEqual([]);
  for (const id of ["", "evt_", createId("sub", 0), "evt_8zzzzzzzzzzzzzzzzzzzzzzzzz"])
    expect(await refusalOf(stranger.getEvent({ id }))).toEqual({
      code: "InvalidArgument",
      reason: "ID_MALFORMED",
      field: "id",
    });
});

test.each([
  [{}, ["changed", "payment_changed", "push_received", "issue_opened"]],
  [{ toolkitSlug: "code_host" }, ["push_received", "issue_opened"]],
  [{ toolkitSlug: "code_host", triggerSlug: "issue_opened" }, ["issue_opened"]],
  [{ toolkitSlug: "code_host", triggerSlug: "code_host.issue_opened" }, ["issue_opened"]],
  [{ triggerSlug: "code_host.issue_opened" }, ["issue_opened"]],
  [{ toolkitSlug: "payments", triggerSlug: "code_host.issue_opened" }, []],
  [{ toolkitSlug: "nobody" }, []],
  [{ toolkitSlug: "code_host", triggerSlug: "nothing" }, []],
  [{ payloadContains: "It does not" }, ["issue_opened"]],
  [{ payloadContains: "it does not" }, []],
  [{ triggerSlug: "code_host.issue_opened", payloadContains: "engine" }, ["issue_opened"]],
  [{ toolkitSlug: "payments", payloadContains: "engine" }, []],
  [{ entityId: "nobody" }, []],
])("ListEvents with %j lists %j, newest first", async (filter, names) => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  await fill(cluster, node);
  const { events } = await node.client(projectId).listEvents(filter);
  expect(events.map(({ triggerSlug }) => triggerSlug.split(".")[1])).toEqual(names);
});

test("ListEvents finds the events of an entity, of the project alone, and refuses a text that is too long", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  await fill(cluster, node);
  await cluster.db.sql`update events set entity_id = 'ada' where trigger_slug like 'payments.%'`;
  const slugs = async (id: typeof projectId) =>
    (await node.client(id).listEvents({ entityId: "ada" })).events.map(({ toolkitSlug }) => toolkitSlug);
  expect(await slugs(projectId)).toEqual(["payments"]);
  expect(await slugs(await cluster.project())).toEqual([]);
  expect(await refusalOf(node.client(projectId).listEvents({ payloadContains: "x".repeat(201) }))).toEqual({
    ...{ code: "InvalidArgument", reason: "FILTER_TEXT_INVALID", field: "payloadContains" },
  });
});

test("since is inclusive and until exclusive, on receivedAt to the millisecond", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const startMs = await fill(cluster, node);
  const count = async (sinceMs: number | undefined, untilMs: number | undefined) => {
    const since = sinceMs === undefined ? {} : { since: timestampFromMs(startMs + sinceMs) };
    const until = untilMs === undefined ? {} : { until: timestampFromMs(startMs + untilMs) };
    return (await node.client(projectId).listEvents({ ...since, ...until })).events.length;
  };
  expect(await count(0, undefined)).toBe(4);
  expect(await count(1, undefined)).toBe(3);
  expect(await count(3_000, undefined)).toBe(1);
  expect(await count(3_001, undefined)).toBe(0);
  expect(await count(undefined, 0)).toBe(0);
  expect(await count(undefined, 1)).toBe(1);
  expect(await count(undefined, 3_000)).toBe(3);
  expect(await count(1_000, 3_000)).toBe(2);
  expect(await count(1_000, 1_000)).toBe(0);

  const client = node.client(projectId);
  const nanos = { seconds: BigInt(startMs / 1_000), nanos: 1 };
  expect((await client.listEvents({ since: nanos })).events).toHaveLength(3);
  expect((await client.listEvents({ until: nanos })).events).toHaveLength(1);
  const [yearOne, year9999] = [
    { seconds: -62_135_596_800n, nanos: 0 },
    { seconds: 253_402_300_799n, nanos: 999_999_999 },
  ];
  expect((await client.listEvents({ since: yearOne, until: year9999 })).events).toHaveLength(4);
});

test("a range that ends before it begins, and a bare name without its toolkit, are refused", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(projectId);
  const since = timestampFromMs(2);
  expect(await refusalOf(client.listEvents({ since, until: timestampFromMs(1) }))).toEqual({
    code: "InvalidArgument",
    reason: "TIME_RANGE_INVALID",
    field: "since",
  });
  expect(await refusalOf(client.listEvents({ triggerSlug: "issue_opened" }))).toEqual({
    code: "InvalidArgument",
    reason: "TRIGGER_WITHOUT_TOOLKIT",
    field: "triggerSlug",
  });
});

test("pages hold every event once, also those of one millisecond, and a token fits its filters only", async () => {
  await using cluster = await createTestCluster();
  const [projectId, other] = [await cluster.project(), await cluster.project()];
  await using node = createTestNode(cluster);
  for (let number = 0; number < 23; number++) await node.ingest.accept(issuePost({ number }));
  const client = node.client(projectId);
  const seen: string[] = [];
  let pageToken = "";
  do {
    const page = await client.listEvents({ pageSize: 5, pageToken });
    expect(page.events.length).toBe(pageToken === "" || page.nextPageToken !== "" ? 5 : 3);
    seen.push(...page.events.map(({ id }) => id));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(new Set(seen).size).toBe(23);
  expect(seen).toEqual([...seen].sort().reverse());

  const { nextPageToken } = await client.listEvents({ pageSize: 5, toolkitSlug: "code_host" });
  const invalid = { code: "InvalidArgument", reason: "PAGE_TOKEN_INVALID", field: "pageToken" };
  expect((await client.listEvents({ toolkitSlug: "code_host", pageToken: nextPageToken })).events).toHaveLength(18);
  for (const filter of [{}, { toolkitSlug: "payments" }, { toolkitSlug: "code_host", since: timestampFromMs(0) }])
    expect(await refusalOf(client.listEvents({ ...filter, pageToken: nextPageToken }))).toEqual(invalid);
  expect(
    await refusalOf(node.client(other).listEvents({ toolkitSlug: "code_host", pageToken: nextPageToken })),
  ).toEqual(invalid);
  expect(await refusalOf(client.listEvents({ pageSize: -5 }))).toMatchObject({ reason: "PAGE_SIZE_NEGATIVE" });
});

test("ListIngestEndpoints names every inbound path and whether its secret is set, and never the secret", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  const secrets: Record<string, string> = {
    SVC_WEBHOOK_SECRET_CODE_HOST: "hush hush2",
    SVC_WEBHOOK_SECRET_PAYMENTS: "",
    SVC_WEBHOOK_SECRET_TEAM_CHAT: "  ",
  };
  await using node = createTestNode(cluster, { secretOf: (name) => secrets[name] });
  const { endpoints } = await node.client(projectId).listIngestEndpoints({});
  const endpoint = (toolkitSlug: string, scheme: string, secretSet: boolean, signing: object) => {
    return {
      ...{ header: "", prefix: "", encoding: "", parameter: "", ...signing },
      toolkitSlug,
      path: `/webhooks/${toolkitSlug}`,
      scheme,
      secretEnv: `SVC_WEBHOOK_SECRET_${toolkitSlug.toUpperCase()}`,
      secretSet,
    };
  };
  expect(endpoints).toMatchObject([
    endpoint("code_host", "hmac_sha256", true, { header: "x-code-signature", prefix: "sha256=", encoding: "hex" }),
    endpoint("payments", "hmac_sha256", false, { header: "x-pay-signature", encoding: "base64" }),
    endpoint("team_chat", "slack_v0", false, {}),
    endpoint("watcher", "token_query", false, { parameter: "token" }),
  ]);
  for (const { toolkitSlug, sample } of endpoints) {
    const trigger = findTrigger(sampleCatalog(), toolkitSlug, sample!.triggerSlug);
    const body = sample!.bodyJson === "" ? undefined : JSON.parse(sample!.bodyJson);
    expect(trigger?.matches({ ...sample!, body }), toolkitSlug).toBe(true);
  }
  expect(JSON.stringify(endpoints)).not.toContain("hush");
  // At another time and for another project, the samples are the same.
  cluster.clock.advance(86_400_000);
  expect((await node.client(await cluster.project()).listIngestEndpoints({})).endpoints).toEqual(endpoints);
});
