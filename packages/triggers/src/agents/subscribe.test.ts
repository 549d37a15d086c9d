import { createId, noConfirmRule } from "@svc/core";
import { withTransaction } from "@svc/db/connect";
import { endGrant, insertGrant, narrowGrant } from "@svc/db/grants/repo";
import { revokeApiKey } from "@svc/db/keys/repo";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { refusalOf } from "@svc/testing/project-client";
import { until } from "@svc/testing/until";
import { Webhook } from "standardwebhooks";
import { afterAll, expect, test } from "vitest";
import { createTestCluster, createTestNode, type TestCluster, type TriggerNodeOptions } from "../test-node.ts";
import { issuePost, paymentPost } from "../test-posts.ts";
import { agentSubscriptionSweep } from "./retention.ts";
import { agentSecret, createTestAgent, putEntity, startTestCallback, type TestAgent } from "./test-agent.ts";

afterAll(dropTestDatabases);

const name = "code_host.issue_opened";
const minuteMs = 60_000;

async function setUp(cluster: TestCluster, options: TriggerNodeOptions = {}) {
  const node = createTestNode(cluster, { isStarted: true, ...options });
  const callback = await startTestCallback();
  const projectId = await cluster.project();
  await putEntity(cluster, projectId, "ada", "org-ada");
  await putEntity(cluster, projectId, "bob", "org-bob");
  const agent = await createTestAgent(cluster, node, { projectId });
  const client = node.client(projectId);
  const secret = agentSecret();
  const delivery = { mode: "webhook", url: callback.url, secret };
  return {
    ...{ node, callback, projectId, agent, client, secret, delivery },
    post: (organization = "org-none") => node.ingest.accept(issuePost({ organization })),
    subscribe: (params: object = {}, by: TestAgent = agent, query = "") =>
      by.ask("events/subscribe", { name, delivery, ...params }, query),
    bodies: () => callback.posted().map(({ body }) => JSON.parse(body.toString())),
    async sweep() {
      const { db, clock } = cluster;
      for await (const _isFull of agentSubscriptionSweep({ db, clock, dispatcher: node.dispatcher }).round(0));
    },
    async [Symbol.asyncDispose]() {
      await node[Symbol.asyncDispose]();
      await callback[Symbol.asyncDispose]();
    },
  };
}

test("a callback that says back its challenge is delivered events, as MCP and Standard Webhooks write them", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const { callback, client, secret } = all;
  const { result } = await all.subscribe();
  expect(result).toEqual({
    id: expect.stringMatching(/^mcp_[0-9a-f]{40}$/),
    refreshBefore: new Date(cluster.clock.now() + 60 * minuteMs).toISOString(),
    cursor: expect.any(String),
    truncated: false,
  });
  const [challenge] = callback.requests;
  expect(JSON.parse(challenge!.body.toString())).toEqual({ type: "verification", challenge: expect.any(String) });
  expect(challenge!.headers["webhook-id"]).toMatch(/^msg_verification_/);
  await all.post("org-ada");
  await until(() => callback.posted().length === 1);
  const [posted] = callback.posted();
  const [event] = (await client.listEvents({})).events;
  expect(JSON.parse(posted!.body.toString())).toEqual({
    ...{ eventId: event!.id, name, timestamp: expect.any(String), data: JSON.parse(event!.payloadJson) },
    ...{ cursor: result.cursor, _meta: { "svc/entityId": "ada" } },
  });
  expect(posted!.headers).toMatchObject({ "webhook-id": event!.id, "x-mcp-subscription-id": result.id });
  expect(posted!.headers).not.toHaveProperty("x-svc-signature");
  for (const { body, headers } of [challenge!, posted!]) {
    expect(headers["x-mcp-subscription-id"]).toBe(result.id);
    const at = { ...headers, "webhook-timestamp": headers["webhook-timestamp"] ?? "" };
    expect(signatureIsOf(secret, body.toString(), at)).toBe(true);
  }
  // The delivery engine sends this delivery, so its result is read like that of any other delivery.
  const [subscription] = (await client.listSubscriptions({})).subscriptions;
  expect(subscription).toMatchObject({
    triggerSlug: name,
    entityId: "",
    agent: { id: result.id, keyId: all.agent.keyId },
  });
  await until(async () => {
    const { deliveries } = await client.listDeliveries({ subscriptionId: subscription!.id });
    return deliveries[0]?.state === "delivered";
  });
});

/** Checks a signature with the library of Standard Webhooks. It only uses the machine's clock. */
function signatureIsOf(secret: string, body: string, headers: Record<string, string>): boolean {
  const at = new Date(Number(headers["webhook-timestamp"]) * 1_000);
  const expected = new Webhook(secret).sign(headers["webhook-id"] ?? "", at, body);
  return (headers["webhook-signature"] ?? "").split(" ").includes(expected);
}

test("nothing is made, and nothing is delivered, where the callback does not say its challenge back", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const { callback, client, secret } = all;
  for (const answer of [{ body: "{}" }, { body: '{"challenge":"x"}' }, { status: 500 }, { status: 404, body: "no" }]) {
    callback.script(answer);
    expect((await all.subscribe()).error).toMatchObject({ code: -32_015, data: { reason: "challenge_failed" } });
  }
  const nobody = { mode: "webhook", url: "http://127.0.0.1:9/nobody", secret };
  expect((await all.subscribe({ delivery: nobody })).error).toMatchObject({
    ...{ code: -32_015, data: { reason: "connection_refused" } },
  });
  await all.post();
  expect(callback.posted()).toEqual([]);
  expect((await client.listSubscriptions({})).subscriptions).toEqual([]);
  const unsubscribed = await all.agent.ask("events/unsubscribe", { name, delivery: { url: callback.url } });
  expect(unsubscribed.error).toMatchObject({ code: -32_011, data: { kind: "subscription" } });
});

test("addresses that are not for endpoints are refused before, and where they are dialled", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster, { allowedRanges: [] });
  const refused = async (url: string) =>
    (await all.subscribe({ delivery: { mode: "webhook", url, secret: all.secret } })).error;
  for (const url of [
    "http://example.com/",
    "https://10.0.0.1/",
    "https://a:b@example.com/",
    "nowhere",
    all.callback.url,
  ])
    expect(await refused(url)).toMatchObject({ code: -32_602 });
  expect(await refused("https://localhost.localdomain:1/")).toMatchObject({ code: -32_015 });
  expect(all.callback.requests).toEqual([]);
});

test("a refresh is the same subscription with more time; another name, argument, callback or key is another", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const { callback, client, delivery, projectId } = all;
  const first = (await all.subscribe({ ttlMs: 10 * minuteMs })).result;
  cluster.clock.advance(5 * minuteMs);
  const again = (await all.subscribe({ ttlMs: 10 * minuteMs, cursor: first.cursor })).result;
  expect(again).toMatchObject({ id: first.id, truncated: false });
  expect(Date.parse(again.refreshBefore) - Date.parse(first.refreshBefore)).toBe(5 * minuteMs);
  expect(again.deliveryStatus).toEqual({ active: true, lastDeliveryAt: null, lastError: null });
  // The callback was challenged only once for this key.
  expect(callback.requests).toHaveLength(1);
  const other = await createTestAgent(cluster, all.node, { projectId });
  const ids = [
    (await all.subscribe({ arguments: { entity_id: "ada" } })).result.id,
    (await all.subscribe({ name: "payments.payment_changed" })).result?.id,
    (await all.subscribe({ delivery: { ...delivery, url: `${callback.url}/2` } })).result.id,
    (await all.subscribe({}, other)).result.id,
    (await all.subscribe({}, all.agent, "entity_id=ada")).result.id,
    first.id,
  ];
  expect(new Set(ids).size).toBe(ids.length);
  expect(callback.requests).toHaveLength(3);
  expect((await client.listSubscriptions({})).subscriptions).toHaveLength(ids.length);
  const { result } = await all.agent.ask("events/unsubscribe", { name, delivery: { url: callback.url } });
  expect(result).toEqual({});
  expect((await client.listSubscriptions({})).subscriptions.map(({ agent }) => agent?.id)).not.toContain(first.id);
});

test.each([
  ["nothing", undefined, 60 * minuteMs],
  ["no end", null, 24 * 60 * minuteMs],
  ["a second", 1_000, minuteMs],
  ["a year", 365 * 24 * 60 * minuteMs, 24 * 60 * minuteMs],
])("whoever asks for %s is granted a time of the service's", async (_what, ttlMs, grantedMs) => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const { result } = await all.subscribe(ttlMs === undefined ? {} : { ttlMs });
  expect(Date.parse(result.refreshBefore) - cluster.clock.now()).toBe(grantedMs);
});

test("what is not refreshed is delivered nothing from its time on, and is removed; its cursor brings back what was missed", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const { callback, client } = all;
  const { result } = await all.subscribe({ ttlMs: minuteMs });
  cluster.clock.advance(minuteMs);
  await all.post();
  await all.sweep();
  expect((await client.listSubscriptions({})).subscriptions).toEqual([]);
  expect(callback.posted()).toEqual([]);
  await all.post();
  const again = (await all.subscribe({ cursor: result.cursor })).result;
  expect(again).toMatchObject({ id: result.id, truncated: false });
  await until(() => callback.posted().length === 2);
  const missed = (await client.listEvents({})).events.map(({ id }) => id);
  expect(
    all
      .bodies()
      .map(({ eventId }) => eventId)
      .sort(),
  ).toEqual(missed.sort());
  // The callback is challenged a second time.
  expect(callback.requests.filter(({ body }) => body.includes("verification"))).toHaveLength(2);
});

test("a cursor of another event, or of nobody's, begins now, and says that something may be missing", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  await all.post();
  const { result } = await all.subscribe({ cursor: "AAAA" });
  expect(result).toMatchObject({ truncated: true });
  await all.post();
  await until(() => all.callback.posted().length === 1);
});

test("a subscription that is bound to ada, or names her, is delivered and replayed her events alone", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const { client, projectId, callback, delivery } = all;
  const binding = { entityId: "ada", accessClasses: [], toolkitSlugs: ["code_host"] };
  const ada = await createTestAgent(cluster, all.node, { projectId, binding });
  const sinceMs = cluster.clock.now();
  expect((await all.subscribe({}, ada)).result).toBeDefined();
  const named = { arguments: { entity_id: "ada" }, delivery: { ...delivery, url: `${callback.url}/named` } };
  expect((await all.subscribe(named)).result).toBeDefined();
  expect((await all.subscribe({ arguments: { entity_id: "bob" } }, ada)).error).toMatchObject({ code: -32_012 });
  expect((await all.subscribe({ name: "payments.payment_changed" }, ada)).error).toMatchObject({ code: -32_012 });
  for (const organization of ["org-bob", "org-none", "org-ada"]) await all.post(organization);
  await all.node.ingest.accept(paymentPost());
  await until(() => callback.posted().length === 2);
  const [event] = (await client.listEvents({ entityId: "ada" })).events;
  expect(all.bodies().map(({ eventId }) => eventId)).toEqual([event?.id, event?.id]);
  cluster.clock.advance(2_000);
  const since = { seconds: BigInt(Math.floor(sinceMs / 1_000)), nanos: 0 };
  expect((await client.replayEvents({ since, dryRun: true })).count).toBe(2);
  const { replay } = await client.startReplay({
    since,
    until: { ...since, seconds: since.seconds + 1n },
    perSecond: 10,
  });
  expect(replay?.total).toBe(2);
});

test("a new secret signs at once, and the former one beside it for ten minutes", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const { callback, secret, delivery } = all;
  await all.subscribe();
  const fresh = agentSecret(64);
  await all.subscribe({ delivery: { ...delivery, secret: fresh } });
  const signedBy = async () => {
    const before = callback.posted().length;
    await all.post();
    await until(() => callback.posted().length > before);
    const { body, headers } = callback.posted().at(-1)!;
    return [secret, fresh].map((one) => signatureIsOf(one, body.toString(), headers));
  };
  expect(await signedBy()).toEqual([true, true]);
  cluster.clock.advance(10 * minuteMs);
  expect(await signedBy()).toEqual([false, true]);
  for (const wrong of ["whsec_", agentSecret(23), agentSecret(65), "secret", fresh.slice(6), 1])
    expect((await all.subscribe({ delivery: { ...delivery, secret: wrong } })).error).toMatchObject({ code: -32_602 });
});

test("410 and 413 end one delivery and say nothing against the endpoint; 503 is tried again", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const { callback, client } = all;
  await all.subscribe();
  const [subscription] = (await client.listSubscriptions({})).subscriptions;
  const stateAfter = async (status: number) => {
    callback.script({ status });
    await all.post();
    await until(async () => {
      const { deliveries } = await client.listDeliveries({ subscriptionId: subscription!.id });
      return deliveries[0]?.attempts === 1;
    });
    const { deliveries } = await client.listDeliveries({ subscriptionId: subscription!.id });
    return deliveries[0]?.state;
  };
  for (let n = 0; n < 3; n++) expect(await stateAfter(n === 1 ? 413 : 410)).toBe("dead_letter");
  const health = async () => (await client.getSubscription({ id: subscription!.id })).subscription?.health?.state;
  expect(await health()).toBe("well");
  expect(await stateAfter(503)).toBe("pending");
  // The state of the endpoint is stored some time after the attempt.
  await expect.poll(health).toBe("backing_off");
  expect((await all.subscribe()).result.deliveryStatus).toMatchObject({ active: true, lastError: "http_5xx" });
});

test("a cursor that a refresh answers is not past what is still on its way", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const { callback, client } = all;
  await all.subscribe({ ttlMs: 60 * minuteMs });
  callback.script({ status: 503 });
  await all.post();
  const [event] = (await client.listEvents({})).events;
  await until(() => callback.posted().length > 0);
  cluster.clock.advance(10 * minuteMs);
  const { cursor } = (await all.subscribe()).result;
  const poll = await all.agent.ask("events/poll", { name, cursor });
  expect(poll.result.events.map(({ eventId }: { eventId: string }) => eventId)).toEqual([event?.id]);
});

test("one key has a hundred subscriptions at most, and the project's quota counts them", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const { agent, client, callback, secret } = all;
  const at = (n: number) => ({
    delivery: { mode: "webhook", url: callback.url, secret },
    arguments: { entity_id: `e${n}` },
  });
  for (let n = 0; n < 100; n++) expect((await all.subscribe(at(n))).error).toBeUndefined();
  expect((await all.subscribe(at(100))).error).toMatchObject({
    ...{ code: -32_013, data: { limit: "subscriptions", max: 100 } },
  });
  expect((await all.subscribe(at(7))).error).toBeUndefined();
  expect((await client.listSubscriptions({})).subscriptions).toHaveLength(100);
  const { db } = cluster;
  await db.sql`insert into project_policies (project_id, quotas) select id, '{"subscriptions":1,"entitySubscriptions":100}' from projects on conflict (project_id) do update set quotas = excluded.quotas`;
  const other = await createTestAgent(cluster, all.node, { projectId: agent.projectId });
  expect((await all.subscribe(at(200), other)).error).toMatchObject({ code: -32_013, data: { max: 100 } });
  // A subscription to the events of all entities counts for another quota.
  expect((await all.subscribe({}, other)).error).toBeUndefined();
  const third = await createTestAgent(cluster, all.node, { projectId: agent.projectId });
  expect((await all.subscribe({}, third)).error).toMatchObject({ code: -32_013, data: { max: 1 } });
});

test("hosts are challenged so often a minute, whoever asks", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const { callback, secret } = all;
  const at = (n: number) => all.subscribe({ delivery: { mode: "webhook", url: `${callback.url}?${n}`, secret } });
  for (let n = 0; n < 60; n++) expect((await at(n)).error).toBeUndefined();
  expect((await at(60)).error).toMatchObject({ code: -32_013, data: { limit: "verifications" } });
  cluster.clock.advance(minuteMs);
  expect((await at(60)).error).toBeUndefined();
});

test("with its key, or the grant's voucher, a subscription ends at once: its callback is told, and nothing more is made", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const { callback, client, projectId, node } = all;
  const { db, clock } = cluster;
  const { id } = (await all.subscribe()).result;
  await revokeApiKey(db, all.agent.keyId, clock.now());
  await all.post();
  const [ended] = (await client.listSubscriptions({})).subscriptions;
  expect(ended).toMatchObject({ active: false, inactiveReason: "revoked", agent: { id } });
  expect(await refusalOf(client.updateSubscription({ id: ended!.id, active: true }))).toMatchObject({
    ...{ reason: "SUBSCRIPTION_OF_AGENT", field: "active" },
  });
  await all.sweep();
  const error = { code: -32_012, message: "Forbidden", data: { reason: "Access revoked" } };
  expect(all.bodies()).toEqual([{ type: "terminated", error }]);
  expect(callback.posted()[0]?.headers["webhook-id"]).toMatch(/^msg_terminated_/);
  expect((await client.listSubscriptions({})).subscriptions).toEqual([]);
  // A request that was running when its key ended creates no subscription.
  expect((await all.subscribe()).error).toMatchObject({ code: -32_012 });
  const voucher = await createTestAgent(cluster, node, { projectId });
  const granted = await grantOf(cluster, voucher);
  const byGrant = await createTestAgent(cluster, node, { projectId, keyId: granted.keyId, isKnown: true });
  expect((await all.subscribe({}, byGrant)).error).toBeUndefined();
  await revokeApiKey(db, voucher.keyId, clock.now());
  expect((await client.listSubscriptions({})).subscriptions).toMatchObject([{ inactiveReason: "revoked" }]);
});

/** Returns a grant that was given with an agent's key. */
async function grantOf({ db, clock }: TestCluster, { projectId, keyId: voucherKeyId }: TestAgent) {
  const [id, keyId, createdAt] = [createId("grt", clock.now()), createId("key", clock.now()), clock.now()];
  const grant = {
    id,
    projectId,
    keyId,
    voucherKeyId,
    clientId: "c",
    clientName: "c",
    clientOrigin: "",
    resource: "",
    createdAt,
  };
  const digest = Buffer.from(keyId.slice(-32).padEnd(32, "0"));
  const times = { createdAt, expiresAt: null, revokedAt: null, lastUsedAt: null };
  const bound = {
    ...{ entityId: "", accessClasses: ["read" as const, "write" as const], toolkitSlugs: [] },
    ...{ agentTools: [], makerKeyId: null, purpose: "" as const, confirm: noConfirmRule },
  };
  await insertGrant(db, grant, {
    id: keyId,
    projectId,
    role: "member",
    name: "grant",
    digest,
    hint: "",
    ...times,
    ...bound,
  });
  return grant;
}

test("a grant that is narrowed, or ends, takes its subscriptions with it", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const { client, projectId, node } = all;
  const { db, clock } = cluster;
  const grant = await grantOf(cluster, all.agent);
  const agent = await createTestAgent(cluster, node, { projectId, keyId: grant.keyId, isKnown: true });
  const states = async () =>
    (await client.listSubscriptions({})).subscriptions.map(({ toolkitSlug, inactiveReason }) => [
      toolkitSlug,
      inactiveReason,
    ]);
  await all.subscribe({}, agent);
  await all.subscribe({ name: "payments.payment_changed" }, agent);
  const narrow = (accessClasses: ("read" | "write")[], toolkitSlugs: string[]) =>
    withTransaction(db, (tx) =>
      narrowGrant(tx, grant, { accessClasses, toolkitSlugs, agentTools: [], confirm: noConfirmRule }, clock.now()),
    );
  await narrow(["read"], []);
  expect(await states()).toEqual([
    ["payments", ""],
    ["code_host", ""],
  ]);
  await narrow(["read"], ["code_host"]);
  expect(await states()).toEqual([
    ["payments", "revoked"],
    ["code_host", ""],
  ]);
  await narrow(["write"], []);
  expect(await states()).toEqual([
    ["payments", "revoked"],
    ["code_host", "revoked"],
  ]);
  await all.sweep();
  await narrow(["read"], []);
  await all.subscribe({}, agent);
  await endGrant(db, grant, clock.now());
  expect(await states()).toEqual([["code_host", "revoked"]]);
});

test("no subscription outlives its key", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const expiresAt = cluster.clock.now() + 10 * minuteMs;
  const agent = await createTestAgent(cluster, all.node, { projectId: all.projectId, expiresAt });
  expect((await all.subscribe({}, agent)).result.refreshBefore).toBe(new Date(expiresAt).toISOString());
  expect((await all.subscribe({}, agent)).result.refreshBefore).toBe(new Date(expiresAt).toISOString());
});

test("what the project paused stays so; what failed for days delivers again with a refresh, from its cursor on", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const { client, callback } = all;
  const { result } = await all.subscribe();
  const [subscription] = (await client.listSubscriptions({})).subscriptions;
  const { id } = subscription!;
  await client.updateSubscription({ id, active: false });
  expect((await all.subscribe()).error).toMatchObject({ code: -32_012 });
  await client.updateSubscription({ id, active: true });
  expect((await all.subscribe()).error).toBeUndefined();
  await cluster.db.sql`update subscriptions set active = false, inactive_reason = 'failing', failing_since = now()`;
  await cluster.db.sql`update projects set routing_version = routing_version + 1`;
  await all.post();
  const again = (await all.subscribe({ cursor: result.cursor })).result;
  expect(again).toMatchObject({ truncated: false, deliveryStatus: { active: false } });
  await until(() => callback.posted().length === 1);
  const moved = client.updateSubscription({ id, endpointUrl: "https://example.com/" });
  expect(await refusalOf(moved)).toMatchObject({ reason: "SUBSCRIPTION_OF_AGENT", field: "endpointUrl" });
  expect(await refusalOf(client.sendTestEvent({ subscriptionId: id }))).toMatchObject({
    reason: "SUBSCRIPTION_OF_AGENT",
  });
});

test("every trigger is an event, with schemas; pages and addresses narrow the list", async () => {
  await using cluster = await createTestCluster();
  await using all = await setUp(cluster);
  const { result } = await all.agent.ask("events/list");
  const names = result.events.map((event: { name: string }) => event.name);
  expect(names).toContain(name);
  expect(names).toEqual([...names].sort());
  const [event] = result.events;
  expect(event).toEqual({
    name: expect.any(String),
    description: expect.any(String),
    delivery: ["webhook", "poll"],
    inputSchema: expect.objectContaining({ type: "object" }),
    payloadSchema: expect.objectContaining({ type: "object" }),
  });
  const some = await all.agent.ask("events/list", {}, "toolkits=payments");
  expect(some.result.events.every((one: { name: string }) => one.name.startsWith("payments."))).toBe(true);
  expect((await all.agent.ask("events/list", { cursor: "x" })).error).toMatchObject({ code: -32_602 });
});
