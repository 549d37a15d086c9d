import { createHmac } from "node:crypto";
import { type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { createId, generateSigningSecret } from "@svc/core";
import { type EndpointCredentialsSchema, ListSubscriptionsResponseSchema } from "@svc/gen/triggers";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { catalogOf } from "@svc/testing/catalog";
import { refusalOf } from "@svc/testing/project-client";
import { type ReceivedRequest, startTestReceiver } from "@svc/testing/receiver";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { until, untilMoved } from "@svc/testing/until";
import { type CloudEvent, HTTP } from "cloudevents";
import { Webhook } from "standardwebhooks";
import { afterAll, expect, test } from "vitest";
import { createTestCluster, createTestNode } from "../test-node.ts";
import { issuePost, paymentPost } from "../test-posts.ts";

afterAll(dropTestDatabases);

const endpointUrl = "https://example.com/hook";
const missing = { code: "NotFound", reason: "SUBSCRIPTION_NOT_FOUND", field: "id" };
const malformed = { code: "InvalidArgument", reason: "ID_MALFORMED", field: "id" };

test("CreateSubscription returns the subscription and, here only, its secret", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(projectId);
  const { subscription, signingSecret } = await client.createSubscription({
    endpointUrl: "https://Example.com:443/hook",
    toolkitSlug: "code_host",
    triggerSlug: "issue_opened",
  });
  expect(subscription).toMatchObject({
    id: expect.stringMatching(/^sub_[0-9a-z]{26}$/),
    endpointUrl,
    toolkitSlug: "code_host",
    triggerSlug: "code_host.issue_opened",
    active: true,
    inactiveReason: "",
    createdAt: timestampFromMs(cluster.clock.now()),
  });
  expect(signingSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const { subscriptions } = await client.listSubscriptions({});
  expect(subscriptions).toEqual([subscription]);
  expect(toJsonString(ListSubscriptionsResponseSchema, await client.listSubscriptions({}))).not.toContain("whsec");
  const rows = await cluster.db.sql<{ sealed: Buffer }[]>`select signing_secret as sealed from subscriptions`;
  expect(rows[0]?.sealed.includes(signingSecret)).toBe(false);
});

test("subscriptions are listed by entity, page by page, and an entity has 50 at most", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(projectId);
  const make = async (entityId: string) =>
    (await client.createSubscription({ endpointUrl, entityId })).subscription?.id;
  await make("");
  const own: (string | undefined)[] = [];
  for (let n = 0; n < 50; n++) own.unshift(await make("ada"));
  const bobs = await make("bob");
  expect(await refusalOf(make("ada"))).toEqual({
    code: "ResourceExhausted",
    reason: "QUOTA_ENTITY_SUBSCRIPTIONS",
    field: "entityId",
  });
  const first = await client.listSubscriptions({ entityId: "ada", pageSize: 30 });
  const second = await client.listSubscriptions({ entityId: "ada", pageSize: 30, pageToken: first.nextPageToken });
  expect([...first.subscriptions, ...second.subscriptions].map(({ id }) => id)).toEqual(own);
  expect(second.nextPageToken).toBe("");
  expect((await client.listSubscriptions({ entityId: "bob" })).subscriptions.map(({ id }) => id)).toEqual([bobs]);
  expect((await client.listSubscriptions({ entityId: "a" })).subscriptions).toEqual([]);
  expect((await client.listSubscriptions({})).subscriptions).toHaveLength(52);
  expect(await refusalOf(client.listSubscriptions({ entityId: "a\nb" }))).toMatchObject({
    reason: "ENTITY_ID_INVALID",
  });
});

test("a subscription to a toolkit without triggers is made, and its answer warns", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  const { codeHost, payments } = sampleToolkits;
  const actions = Object.fromEntries(Object.entries(payments.tools).filter(([, { kind }]) => kind === "action"));
  const catalog = catalogOf({ toolkits: [codeHost, { ...payments, tools: actions }] });
  await using node = createTestNode(cluster, { catalog });
  const subscribe = (toolkitSlug: string) => node.client(projectId).createSubscription({ endpointUrl, toolkitSlug });
  const { subscription, warnings } = await subscribe("payments");
  expect(subscription?.active).toBe(true);
  expect(warnings).toEqual([expect.stringContaining("payments has no triggers")]);
  for (const toolkitSlug of ["", "code_host"]) expect((await subscribe(toolkitSlug)).warnings).toEqual([]);
});

test.each([
  [{ toolkitSlug: "", triggerSlug: "" }, ["", ""]],
  [{ toolkitSlug: "code_host", triggerSlug: "" }, ["code_host", ""]],
  [{ toolkitSlug: "code_host", triggerSlug: "push_received" }, ["code_host", "code_host.push_received"]],
  [{ toolkitSlug: "code_host", triggerSlug: "code_host.push_received" }, ["code_host", "code_host.push_received"]],
])("a subscription to %j is kept as %j", async (slugs, kept) => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const { subscription } = await node.client(projectId).createSubscription({ endpointUrl, ...slugs });
  expect([subscription?.toolkitSlug, subscription?.triggerSlug]).toEqual(kept);
});

test.each([
  [{ endpointUrl: "" }, "InvalidArgument", "ENDPOINT_URL_INVALID", "endpointUrl"],
  [{ endpointUrl: "https://a:b@example.com/" }, "InvalidArgument", "ENDPOINT_URL_INVALID", "endpointUrl"],
  [{ endpointUrl: "http://example.com/" }, "InvalidArgument", "ENDPOINT_URL_NOT_HTTPS", "endpointUrl"],
  [{ endpointUrl: "https://10.0.0.1/" }, "InvalidArgument", "ENDPOINT_ADDRESS_REFUSED", "endpointUrl"],
  [{ endpointUrl, triggerSlug: "issue_opened" }, "InvalidArgument", "TRIGGER_WITHOUT_TOOLKIT", "triggerSlug"],
  [{ endpointUrl, triggerSlug: "code_host.issue_opened" }, "InvalidArgument", "TRIGGER_WITHOUT_TOOLKIT", "triggerSlug"],
  [{ endpointUrl, toolkitSlug: "nobody" }, "NotFound", "TOOLKIT_NOT_FOUND", "toolkitSlug"],
  [{ endpointUrl, toolkitSlug: "CODE_HOST" }, "NotFound", "TOOLKIT_NOT_FOUND", "toolkitSlug"],
  [{ endpointUrl, toolkitSlug: "code_host", triggerSlug: "nothing" }, "NotFound", "TRIGGER_NOT_FOUND", "triggerSlug"],
  [
    { endpointUrl, toolkitSlug: "code_host", triggerSlug: "payments.payment_changed" },
    "NotFound",
    "TRIGGER_NOT_FOUND",
    "triggerSlug",
  ],
  // A tool that is not a trigger cannot be named as one.
  [
    { endpointUrl, toolkitSlug: "payments", triggerSlug: "refund_payment" },
    "NotFound",
    "TRIGGER_NOT_FOUND",
    "triggerSlug",
  ],
])("CreateSubscription refuses %j", async (request, code, reason, field) => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  expect(await refusalOf(node.client(projectId).createSubscription(request))).toEqual({ code, reason, field });
  expect(await cluster.count("subscriptions")).toBe(0);
});

test("ListSubscriptions shows the project's own, newest first, a page at a time", async () => {
  await using cluster = await createTestCluster();
  const [own, other] = [await cluster.project(), await cluster.project()];
  await using node = createTestNode(cluster);
  const [client, stranger] = [node.client(own), node.client(other)];
  const ids: string[] = [];
  for (let index = 0; index < 5; index++) {
    ids.unshift((await client.createSubscription({ endpointUrl })).subscription!.id);
    cluster.clock.advance(1);
  }
  await stranger.createSubscription({ endpointUrl });
  const first = await client.listSubscriptions({ pageSize: 2 });
  const second = await client.listSubscriptions({ pageSize: 2, pageToken: first.nextPageToken });
  const third = await client.listSubscriptions({ pageSize: 1_000_000, pageToken: second.nextPageToken });
  expect([first, second, third].map((page) => page.subscriptions.map(({ id }) => id))).toEqual([
    ids.slice(0, 2),
    ids.slice(2, 4),
    ids.slice(4),
  ]);
  expect(third.nextPageToken).toBe("");
  expect((await client.listSubscriptions({ pageSize: 5 })).nextPageToken).toBe("");
  expect((await stranger.listSubscriptions({})).subscriptions).toHaveLength(1);
});

test("UpdateSubscription changes what is given and leaves the rest", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(projectId);
  const created = (await client.createSubscription({ endpointUrl, toolkitSlug: "code_host" })).subscription!;
  const update = async (change: object) =>
    (await client.updateSubscription({ id: created.id, ...change })).subscription;
  expect(await update({})).toEqual(created);
  const moved = { ...created, endpointUrl: "https://example.org/" };
  expect(await update({ endpointUrl: "https://example.org" })).toEqual(moved);
  const health = { ...created.health, state: "inactive", reason: "nothing is delivered: deactivated" };
  const inactive = { ...moved, active: false, inactiveReason: "deactivated", health };
  expect(await update({ active: false })).toEqual(inactive);
  // A new address neither activates the subscription nor removes the reason why it is inactive.
  expect(await update({ endpointUrl })).toEqual({ ...inactive, endpointUrl });
  expect(await update({})).toEqual({ ...inactive, endpointUrl });
  expect(await update({ active: true })).toEqual(created);
  expect(await update({ active: false, endpointUrl: "https://example.org" })).toEqual(inactive);
  expect((await client.listSubscriptions({})).subscriptions).toEqual([inactive]);
});

test("UpdateSubscription changes the members that its mask names, and leaves the others of the same part", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(projectId);
  const triggerSlugs = ["code_host.issue_opened", "payments.payment_changed"];
  const created = await client.createSubscription({
    ...{ endpointUrl, match: { triggerSlugs, filter: "event.entityId == 'ada'" } },
    retry: { schedule: [durationFromMs(10_000)], giveUpAfter: durationFromMs(7_200_000), timeoutMs: 5_000 },
    ...{ pace: { max: 10, per: "1s", concurrency: 2 }, format: { kind: "custom", bodyJson: "{}" } },
  });
  const id = created.subscription!.id;
  const update = async (updateMask: string[], change: object = {}) =>
    (await client.updateSubscription({ id, ...change, updateMask })).subscription!;
  const filter = "event.entityId == 'bob'";
  expect((await update(["match.filter"], { match: { filter } })).match).toMatchObject({ triggerSlugs, filter });
  // A preview of the stored subscription leaves what the request does not name, too.
  const preview = (part: object) => client.previewSubscription({ id, ...part });
  const unknown = { match: { triggerSlugs: ["payments.none"] }, updateMask: ["match.filter"] };
  expect(await preview(unknown)).toMatchObject({ scanned: 0 });
  const one = await update(["match.triggerSlugs"], { match: { triggerSlugs: triggerSlugs.slice(0, 1) } });
  expect(one.match).toMatchObject({ triggerSlugs: triggerSlugs.slice(0, 1), filter });
  expect((await update(["match.filter"])).match).toMatchObject({ triggerSlugs: triggerSlugs.slice(0, 1), filter: "" });
  const slower = await update(["retry.timeoutMs", "pace.max", "pace.per"], { retry: { timeoutMs: 9_000 } });
  expect(slower.retry).toMatchObject({ ...created.subscription!.retry, timeoutMs: 9_000 });
  expect(slower.pace).toMatchObject({ max: 0, per: "", concurrency: 2 });
  expect((await update(["format.kind"], { format: { kind: "custom" } })).format).toMatchObject({ bodyJson: "{}" });
  // Without a mask, a part is replaced as a whole.
  expect((await update([], { retry: { timeoutMs: 8_000 } })).retry).toMatchObject({ schedule: [], timeoutMs: 8_000 });
  const refused = await refusalOf(update(["match.filter", "match"], { match: { filter } }));
  expect(refused).toEqual({ code: "InvalidArgument", reason: "UPDATE_MASK_INVALID", field: "updateMask[1]" });
  expect(await refusalOf(preview({ updateMask: ["id"] }))).toMatchObject({ reason: "UPDATE_MASK_INVALID" });
});

test.each([
  [{ endpointUrl: "" }, "ENDPOINT_URL_INVALID"],
  [{ endpointUrl: "http://example.com/" }, "ENDPOINT_URL_NOT_HTTPS"],
  [{ endpointUrl: "https://192.168.0.1/" }, "ENDPOINT_ADDRESS_REFUSED"],
])("UpdateSubscription refuses %j and changes nothing", async (change, reason) => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(projectId);
  const { subscription } = await client.createSubscription({ endpointUrl });
  const call = client.updateSubscription({ id: subscription!.id, active: false, ...change });
  expect(await refusalOf(call)).toEqual({ code: "InvalidArgument", reason, field: "endpointUrl" });
  expect((await client.listSubscriptions({})).subscriptions).toEqual([subscription]);
});

test("activating, or another address, gives an endpoint that was given up a fresh start", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(projectId);
  const { subscription } = await client.createSubscription({ endpointUrl });
  const id = subscription!.id;
  const giveUp = () => cluster.db
    .sql`update subscriptions set active = false, inactive_reason = 'gone', failing_since = now(),
    backoff_until = now(), backoff_set_at = now(), backoff_ms = 8000, gone_since = now(), gone_count = 3`;
  const health = () =>
    cluster.db
      .sql`select failing_since, backoff_until, backoff_set_at, backoff_ms, gone_since, gone_count from subscriptions`;
  const fresh = [
    { failing_since: null, backoff_until: null, backoff_set_at: null, backoff_ms: 0, gone_since: null, gone_count: 0 },
  ];
  await giveUp();
  expect((await client.updateSubscription({ id, active: true })).subscription).toMatchObject({
    active: true,
    inactiveReason: "",
  });
  expect(await health()).toEqual(fresh);
  await giveUp();
  const moved = await client.updateSubscription({ id, endpointUrl: "https://example.org" });
  expect(moved.subscription).toMatchObject({ active: false, inactiveReason: "gone" });
  expect(await health()).toEqual(fresh);
});

test("deactivating and deleting end what is pending; events, deliveries and attempts stay", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(projectId);
  const [first, second] = [
    (await client.createSubscription({ endpointUrl })).subscription!,
    (await client.createSubscription({ endpointUrl })).subscription!,
  ];
  await node.ingest.accept(issuePost());
  await node.ingest.accept(paymentPost());
  await client.updateSubscription({ id: first.id, active: false });
  await client.deleteSubscription({ id: second.id });
  for (const subscriptionId of [first.id, second.id]) {
    const { deliveries } = await client.listDeliveries({ subscriptionId });
    expect(deliveries).toHaveLength(2);
    for (const delivery of deliveries) {
      expect(delivery).toMatchObject({ state: "dead_letter", attempts: 0 });
      expect(delivery.lastError).toMatch(/^subscription_inactive/);
      expect(delivery.nextAttemptAt).toBeUndefined();
    }
  }
  expect(await cluster.count("delivery_tasks")).toBe(0);
  expect((await client.listEvents({})).events).toHaveLength(2);
  expect((await client.listSubscriptions({})).subscriptions.map(({ id }) => id)).toEqual([first.id]);
  expect(await refusalOf(client.deleteSubscription({ id: second.id }))).toEqual(missing);
});

test("GetSubscription tells in one word how the endpoint fares, when it took something and what waits for it", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  receiver.script({ status: 200 }, { status: 500 });
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(projectId);
  const { subscription } = await client.createSubscription({ endpointUrl: receiver.url });
  const id = subscription!.id;
  const health = async () => (await client.getSubscription({ id })).subscription!.health!;
  expect(subscription!.health).toMatchObject({ state: "well", pendingDeliveries: 0 });
  expect((await health()).lastSuccessAt).toBeUndefined();
  const startMs = cluster.clock.now();
  await node.ingest.accept(issuePost());
  await until(async () => (await health()).lastSuccessAt !== undefined);
  expect(await health()).toMatchObject({
    state: "well",
    lastSuccessAt: timestampFromMs(startMs),
    pendingDeliveries: 0,
  });
  cluster.clock.advance(1_000);
  await node.ingest.accept(paymentPost());
  await until(async () => (await health()).state !== "well");
  const held = await health();
  expect(held).toMatchObject({
    state: "backing_off",
    failingSince: timestampFromMs(startMs + 1_000),
    lastSuccessAt: timestampFromMs(startMs),
    pendingDeliveries: 1,
  });
  expect(held.backoffUntil!.seconds).toBeGreaterThan(0n);
  await cluster.db.sql`update subscriptions set backoff_until = to_timestamp(1)`;
  expect(await health()).toMatchObject({ state: "failing", failingSince: held.failingSince });
  expect((await health()).backoffUntil).toBeUndefined();
  await client.updateSubscription({ id, active: false });
  expect((await health()).state).toBe("inactive");
  const [listed] = (await client.listSubscriptions({})).subscriptions;
  expect(listed?.health).toMatchObject({ state: "inactive", pendingDeliveries: 0 });
  expect(listed?.health?.lastSuccessAt).toBeUndefined();
});

test("a subscription of another project, or none, reads as missing; what is no id is told so", async () => {
  await using cluster = await createTestCluster();
  const [own, other] = [await cluster.project(), await cluster.project()];
  await using node = createTestNode(cluster);
  const { subscription } = await node.client(own).createSubscription({ endpointUrl });
  const stranger = node.client(other);
  for (const id of [subscription!.id, createId("sub", 0)]) {
    expect(await refusalOf(stranger.updateSubscription({ id, active: false }))).toEqual(missing);
    expect(await refusalOf(stranger.getSubscription({ id }))).toEqual(missing);
    expect(await refusalOf(stranger.updateSubscription({ id }))).toEqual(missing);
    expect(await refusalOf(stranger.deleteSubscription({ id }))).toEqual(missing);
  }
  for (const id of ["", "sub_", subscription!.id.toUpperCase(), createId("evt", 0), `${subscription!.id}0`]) {
    expect(await refusalOf(stranger.updateSubscription({ id }))).toEqual(malformed);
    expect(await refusalOf(stranger.getSubscription({ id }))).toEqual(malformed);
    expect(await refusalOf(stranger.deleteSubscription({ id }))).toEqual(malformed);
  }
  expect((await node.client(own).listSubscriptions({})).subscriptions).toEqual([subscription]);
});

test("a new address serves the later attempts of a delivery, under the secret that was returned", async () => {
  await using cluster = await createTestCluster();
  await using broken = await startTestReceiver();
  await using mended = await startTestReceiver();
  broken.script({ status: 500 });
  cluster.clock.advance(Date.now() - cluster.clock.now());
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(projectId);
  const { subscription, signingSecret } = await client.createSubscription({ endpointUrl: broken.url });
  await node.ingest.accept(issuePost());
  await until(
    async () => (await client.listDeliveries({ subscriptionId: subscription!.id })).deliveries[0]?.attempts === 1,
  );
  await client.updateSubscription({ id: subscription!.id, endpointUrl: mended.url });
  cluster.clock.advance(1_000);
  node.dispatcher.wake();
  await until(() => mended.requests.length === 1);
  const [request] = mended.requests;
  new Webhook(signingSecret).verify(request!.body.toString("utf8"), request!.headers);
  // The first attempt sends the event from memory and the next one from the database, with equal bytes.
  expect(request!.body).toEqual(broken.requests[0]!.body);
  const { deliveries } = await client.listDeliveries({ subscriptionId: subscription!.id });
  await until(async () => (await client.listDeliveryAttempts({ deliveryId: deliveries[0]!.id })).attempts.length === 2);
  const { attempts } = await client.listDeliveryAttempts({ deliveryId: deliveries[0]!.id });
  expect(attempts.map(({ number, requestUrl }) => [number, requestUrl])).toEqual([
    [2, mended.url],
    [1, broken.url],
  ]);
});

const overlap = durationFromMs(3_600_000);
/**
 * Returns for each secret if a request is signed with it, by the Standard Webhooks library and by X-Svc-Signature or X-Svc-Signature-Next.
 */
function acceptedWith(secrets: readonly string[], { headers, body }: ReceivedRequest): boolean[] {
  const text = body.toString("utf8");
  const at = new Date(Number(headers["webhook-timestamp"]) * 1_000);
  return secrets.map((secret) => {
    // The library verifies only with the machine's clock, so the test compares the signatures that the library makes.
    const standard = new Webhook(secret).sign(String(headers["webhook-id"]), at, text);
    const plain = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    const isStandard = String(headers["webhook-signature"]).split(" ").includes(standard);
    const isPlain = [headers["x-svc-signature"], headers["x-svc-signature-next"]].includes(plain);
    expect(isPlain).toBe(isStandard);
    return isStandard;
  });
}

test("during an overlap a receiver with either secret accepts every attempt, and afterwards only the new one does", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  const { clock } = cluster;
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(projectId);
  const { subscription, signingSecret: first } = await client.createSubscription({ endpointUrl: receiver.url });
  const id = subscription!.id;
  let posts = 0;
  const deliver = async () => {
    await node.ingest.accept(issuePost({ delivery: `d${++posts}` }));
    // Waits until the delivery is recorded. Otherwise its lease would be lost when the clock moves, and it would be sent again.
    await until(async () => receiver.requests.length >= posts && (await cluster.count("delivery_tasks")) === 0);
    return receiver.requests.at(-1)!;
  };
  const accepted = async (...secrets: string[]) => acceptedWith(secrets, await deliver());

  const before = (await deliver()).headers;
  const { signingSecret: second, subscription: rotated } = await client.rotateSubscriptionSecret({ id, overlap });
  expect(rotated?.formerSecretUntil).toEqual(timestampFromMs(clock.now() + 3_600_000));
  expect(await accepted(first, second, generateSigningSecret())).toEqual([true, true, false]);
  expect(receiver.requests.at(-1)?.headers).toHaveProperty("x-svc-signature-next");

  // If the caller sends the same secret again, the former secret does not change.
  const third = generateSigningSecret();
  const made = await client.rotateSubscriptionSecret({ id, secret: third, overlap });
  expect(made.signingSecret).toBe(third);
  expect(await client.rotateSubscriptionSecret({ id, secret: third, overlap })).toEqual(made);
  expect(await accepted(first, second, third)).toEqual([false, true, true]);

  clock.advance(3_600_000);
  expect(await accepted(second, third)).toEqual([false, true]);
  expect((await client.getSubscription({ id })).subscription?.formerSecretUntil).toBeUndefined();
  // Without an overlap, requests have the same headers as before the first rotation.
  expect(Object.keys(receiver.requests.at(-1)!.headers)).toEqual(Object.keys(before));

  const { signingSecret: last } = await client.rotateSubscriptionSecret({ id });
  expect(await accepted(third, last)).toEqual([true, true]);
  await client.rotateSubscriptionSecret({ id, secret: last, overlap: durationFromMs(0) });
  expect(await accepted(third, last)).toEqual([false, true]);
});

test("two rotations at once keep one former secret, and each answer is that of a secret that signed", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(projectId);
  const { subscription } = await client.createSubscription({ endpointUrl: "https://example.com/hook" });
  const answers = await Promise.all([1, 2].map(() => client.rotateSubscriptionSecret({ id: subscription!.id })));
  const [row] = await cluster.db.sql<{ signing_secret: Buffer; former_secret: Buffer }[]>`select * from subscriptions`;
  const context = `${projectId}/subscriptions/${subscription!.id}`;
  const present = cluster.sealer.open(row!.signing_secret, context).toString("utf8");
  const former = cluster.sealer.open(row!.former_secret, `${context}/former`).toString("utf8");
  expect([present, former].sort()).toEqual(answers.map(({ signingSecret }) => signingSecret).sort());
});

/** The template of the form `custom`, and the body that it makes of an event. */
const customBody = {
  json: JSON.stringify({
    text: { $text: "{event.type} for {event.entityId}" },
    what: { $ref: "event.payload" },
    size: { $cel: "size(event.payload) > 0" },
    none: { $ref: "event.payload.absent", else: null },
    fixed: [1, { $literal: { $ref: "as it is" } }],
  }),
  of: (type: string, data: unknown) => ({
    ...{ text: `${type} for `, what: data, size: true, none: null },
    fixed: [1, { $ref: "as it is" }],
  }),
};

test.each(["standard", "cloudevents", "cloudevents_binary", "custom"])(
  "deliveries in the form %s pass public libraries at the first attempt, a retry and a replay",
  async (kind) => {
    await using cluster = await createTestCluster();
    await using receiver = await startTestReceiver();
    receiver.script({ status: 500 }, { status: 200 });
    const projectId = await cluster.project();
    await using node = createTestNode(cluster, { isStarted: true });
    const client = node.client(projectId);
    const { subscription, signingSecret } = await client.createSubscription({
      ...{ endpointUrl: receiver.url, format: { kind, bodyJson: kind === "custom" ? customBody.json : "" } },
    });
    expect(subscription?.format).toMatchObject({ kind, bodyJson: kind === "custom" ? customBody.json : "" });
    await node.ingest.accept(issuePost());
    await untilMoved(() => {
      cluster.clock.advance(1_000);
      return receiver.requests.length === 2;
    });
    const [event] = (await client.listEvents({})).events;
    await client.replayEvent({ eventId: event!.id });
    await until(() => receiver.requests.length === 3);
    const occurredAt = new Date(timestampMs(event!.occurredAt!)).toISOString();
    for (const { headers, body } of receiver.requests) {
      const text = body.toString("utf8");
      const at = new Date(Number(headers["webhook-timestamp"]) * 1_000);
      expect(headers["webhook-id"]).toBe(event!.id);
      expect(headers["webhook-signature"]).toBe(new Webhook(signingSecret).sign(event!.id, at, text));
      expect(Object.keys(headers).filter((name) => name.startsWith("x-svc-"))).toEqual([]);
      const data = JSON.parse(event!.payloadJson);
      const type = "code_host.issue_opened";
      if (kind === "standard") expect(JSON.parse(text)).toEqual({ type, timestamp: occurredAt, data });
      else if (kind === "custom") expect(JSON.parse(text)).toEqual(customBody.of(type, data));
      else {
        const read = HTTP.toEvent({ headers, body: text }) as CloudEvent;
        expect(read.validate()).toBe(true);
        expect(read.toJSON()).toMatchObject({
          id: event!.id,
          source: "/toolkits/code_host",
          type,
          time: occurredAt,
          data,
        });
      }
    }
  },
);

const values = { header: "t0p-secret", password: "pass word", token: "bearer-token-1", secret: "client-secret-1" };

test("headers and each kind of auth arrive, and no call or record shows their values", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  // The endpoint returns the headers that it received.
  receiver.script((req, res) => {
    const { authorization = "", "x-team": team = "", "user-agent": agent } = req.headers;
    const decoded = Buffer.from(authorization.replace("Basic ", ""), "base64").toString("latin1");
    res.writeHead(200, { "x-echo": authorization }).end(JSON.stringify({ authorization, decoded, team, agent }));
  });
  await using tokens = await startTestReceiver();
  tokens.script({ status: 503 }, { headers: { "content-type": "application/json" }, body: token("first") });
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { isStarted: true });
  const client = node.client(projectId);
  const headers = [
    { name: "X-Team", value: values.header },
    { name: "user-agent", value: "acme/2" },
  ];
  const { subscription } = await client.createSubscription({ endpointUrl: receiver.url, credentials: { headers } });
  const id = subscription!.id;
  expect(subscription?.credentials).toMatchObject({ headerNames: ["X-Team", "user-agent"], auth: "" });
  const arrived: unknown[] = [];
  const deliver = async () => {
    await node.ingest.accept(issuePost({ delivery: `d${arrived.length}` }));
    await untilMoved(() => {
      cluster.clock.advance(1_000);
      return receiver.requests.length > arrived.length;
    });
    const { headers: got } = receiver.requests.at(-1)!;
    arrived.push([got["authorization"], got["x-team"], got["user-agent"]]);
    return arrived.at(-1);
  };
  expect(await deliver()).toEqual([undefined, values.header, "acme/2"]);
  const set = (auth: EndpointAuthInit) => client.updateSubscription({ id, credentials: auth });
  await set({ basic: { username: "ada", password: values.password } });
  const basic = `Basic ${Buffer.from(`ada:${values.password}`).toString("base64")}`;
  expect(await deliver()).toEqual([basic, undefined, "svc/1"]);
  const moved = await client.updateSubscription({ id, endpointUrl: `${receiver.url}/other` });
  expect(moved.subscription?.credentials?.auth).toBe("basic");
  await set({ bearer: { token: values.token } });
  expect(await deliver()).toEqual([`Bearer ${values.token}`, undefined, "svc/1"]);
  const client2 = {
    tokenUrl: tokens.url,
    clientId: "svc",
    clientSecret: values.secret,
    scope: "a b",
    audience: "hooks",
  };
  const { subscription: withTokens } = await set({ oauth2: client2 });
  expect(withTokens?.credentials).toMatchObject({ headerNames: [], auth: "oauth2" });
  // The token endpoint fails once. Only this one attempt fails.
  expect(await deliver()).toEqual(["Bearer first", undefined, "svc/1"]);
  expect(await deliver()).toEqual(["Bearer first", undefined, "svc/1"]);
  expect(tokens.requests).toHaveLength(2);
  const asked = Object.fromEntries(new URLSearchParams(tokens.requests[1]!.body.toString("utf8")));
  expect(asked).toEqual({ grant_type: "client_credentials", scope: "a b", audience: "hooks" });
  // A token that the endpoint refuses is replaced before the next attempt.
  tokens.script({ headers: { "content-type": "application/json" }, body: token("second") });
  receiver.script({ status: 401 }, { status: 200 });
  expect(await deliver()).toEqual(["Bearer first", undefined, "svc/1"]);
  await untilMoved(() => {
    cluster.clock.advance(1_000);
    return receiver.requests.at(-1)!.headers["authorization"] === "Bearer second";
  });

  const { deliveries } = await client.listDeliveries({ subscriptionId: id });
  const attempts = await Promise.all(
    deliveries.map(({ id: deliveryId }) => client.listDeliveryAttempts({ deliveryId })),
  );
  expect(attempts.flatMap((one) => one.attempts.map(({ error }) => error))).toContain(
    "auth_failed: the token endpoint answered 503",
  );
  const rows = await cluster.db
    .sql`select s::text as text from subscriptions s union all select d::text from deliveries d`;
  const shown = JSON.stringify([attempts, await client.listSubscriptions({}), rows], (_, value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  for (const value of [...Object.values(values), basic.split(" ")[1]!, "Bearer first"])
    expect(shown).not.toContain(value);

  const gone = await client.updateSubscription({ id, endpointUrl: tokens.url });
  expect(gone.subscription?.credentials).toBeUndefined();
  expect(await cluster.db.sql`select from subscriptions where credentials is not null`).toHaveLength(0);
});

type EndpointAuthInit = MessageInitShape<typeof EndpointCredentialsSchema>;

function token(text: string): string {
  return JSON.stringify({ access_token: text, token_type: "Bearer", expires_in: 3_600 });
}

test.each([
  [{ headers: [{ name: "Host", value: "x" }] }, "HEADER_NAME_REFUSED", "credentials.headers[0].name"],
  [{ headers: [{ name: "webhook-id", value: "x" }] }, "HEADER_NAME_REFUSED", "credentials.headers[0].name"],
  [{ headers: [{ name: "a b", value: "x" }] }, "HEADER_NAME_REFUSED", "credentials.headers[0].name"],
  [
    {
      headers: [
        { name: "a", value: "x" },
        { name: "A", value: "y" },
      ],
    },
    "HEADER_NAME_REFUSED",
    "credentials.headers[1].name",
  ],
  [{ headers: [{ name: "a", value: "x\r\nb: c" }] }, "ENDPOINT_AUTH_INVALID", "credentials.headers[0].value"],
  [{ headers: [{ name: "a", value: "x".repeat(4_096) }] }, "ENDPOINT_AUTH_INVALID", "credentials.headers"],
  [
    { headers: [{ name: "authorization", value: "x" }], bearer: { token: "t" } },
    "HEADER_NAME_REFUSED",
    "credentials.headers[0].name",
  ],
  [{ bearer: { token: "" } }, "ENDPOINT_AUTH_INVALID", "credentials.bearer.token"],
  [{ basic: { username: "a:b" } }, "ENDPOINT_AUTH_INVALID", "credentials.basic"],
  [
    { oauth2: { tokenUrl: "https://10.0.0.1/", clientId: "a", clientSecret: "b" } },
    "ENDPOINT_AUTH_INVALID",
    "credentials.oauth2.tokenUrl",
  ],
] as const)("credentials %j are refused", async (credentials, reason, field) => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  const client = node.client(await cluster.project());
  const refused = await refusalOf(
    client.createSubscription({
      endpointUrl,
      credentials: credentials as MessageInitShape<typeof EndpointCredentialsSchema>,
    }),
  );
  expect(refused).toEqual({ code: "InvalidArgument", reason, field });
});
