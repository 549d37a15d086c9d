import { Code, ConnectError } from "@connectrpc/connect";
import { createId, type ProjectId, type QuarantineId, uuidOfId, type WebhookSecretId } from "@svc/core";
import { beginErasure } from "@svc/db/erasures/repo";
import { stepErasure } from "@svc/db/erasures/step";
import { setProjectPolicy } from "@svc/db/projects/repo";
import { usageOfProject } from "@svc/db/projects/usage";
import { CatalogService } from "@svc/gen/catalog";
import { StandingService } from "@svc/gen/standing";
import { TriggersService } from "@svc/gen/triggers";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { createTestNode as createNode, type TestNode } from "@svc/testing/node";
import { deskDefinition, ticketPost } from "@svc/testing/private-webhook";
import { startTestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestAgent } from "./agents/test-agent.ts";
import { createTestCluster, sampleCatalog, sampleSecrets, type TestCluster } from "./test-node.ts";
import { signedCodePost } from "./test-posts.ts";
import { webhookSecretSweep } from "./webhook-secret-sweep.ts";

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await createTestCluster();
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await dropTestDatabases();
});

const secret = "a-secret-of-the-desk";

function startNode(isStarted = false, db = cluster.db): TestNode {
  const { clock, sealer } = cluster;
  return createNode(db, {
    ...{ clock, sealer, catalog: sampleCatalog(), variable: (name) => sampleSecrets[name] },
    engines: isStarted ? ["deliveries"] : [],
  });
}

const triggersOf = (node: TestNode, projectId: ProjectId) =>
  node.client(TriggersService, { projectId, role: "approver" });
const catalogOf = (node: TestNode, projectId: ProjectId) => node.client(CatalogService, { projectId, role: "member" });

/** Publishes the help desk, sets a secret, and returns the project. */
async function startDesk(node: TestNode, definitionJson = deskDefinition(), value = secret): Promise<ProjectId> {
  const projectId = await cluster.project();
  await catalogOf(node, projectId).publishToolkit({ definitionJson });
  if (value !== "") await triggersOf(node, projectId).putWebhookSecret({ toolkitSlug: "desk", value });
  return projectId;
}

/** Records the statements of the cluster's nodes until `stop`. */
function noteStatements() {
  const { sql } = cluster.db;
  const names: string[] = [];
  const send = sql.unsafe;
  const unsafe = (...statement: Parameters<typeof send>) => {
    names.push(statement[0]);
    return send.apply(sql, statement);
  };
  Object.assign(sql, { unsafe });
  return { names, stop: () => void Object.assign(sql, { unsafe: send }) };
}

async function refusalOf(call: Promise<unknown>): Promise<Code | undefined> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error === undefined ? undefined : ConnectError.from(error).code;
}

test("a project publishes a toolkit with a webhook and receives, on every node within 0.5 s, and no other project does", async () => {
  await using receiver = await startTestReceiver();
  await using here = startNode(true);
  await using there = startNode();
  const [projectId, otherId] = [await cluster.project(), await cluster.project()];
  for (const id of [projectId, otherId])
    await triggersOf(here, id).createSubscription({ endpointUrl: `${receiver.url}/${id}` });
  const post = ticketPost(projectId, secret);
  expect(await there.ingest.accept(post)).toEqual({ outcome: "unknown_toolkit" });

  await catalogOf(here, projectId).publishToolkit({ definitionJson: deskDefinition() });
  expect(await here.ingest.accept(post)).toEqual({ outcome: "secret_unset", secretEnv: "" });
  const put = await triggersOf(here, projectId).putWebhookSecret({ toolkitSlug: "desk", value: secret });
  expect(put).toMatchObject({ secret: { id: expect.stringMatching(/^wsc_/) }, value: "" });
  await cluster.clock.advance(500);
  expect(await there.ingest.accept(post)).toEqual({ outcome: "accepted", events: 1 });
  expect(await here.ingest.accept(post)).toEqual({ outcome: "accepted", events: 1 });
  const second = ticketPost(projectId, secret, { id: "t-2", customer: undefined });
  expect(await here.ingest.accept(second)).toEqual({ outcome: "accepted", events: 1 });

  const { events } = await triggersOf(there, projectId).listEvents({ toolkitSlug: "desk" });
  expect(events.map(({ triggerSlug, entityId, payloadJson }) => [triggerSlug, entityId, payloadJson])).toEqual([
    ["desk.ticket_opened", "", '{"id":"t-2","subject":"It is broken"}'],
    ["desk.ticket_opened", "ada", '{"id":"t-1","subject":"It is broken"}'],
  ]);
  await until(async () => receiver.requests.length > 0);
  expect(new Set(receiver.requests.map(({ path }) => path))).toEqual(new Set([`/hook/${projectId}`]));

  // Another project neither lists nor reaches it.
  const other = triggersOf(here, otherId);
  expect((await other.listEvents({})).events).toEqual([]);
  const shared = (await other.listIngestEndpoints({})).endpoints;
  expect(shared.map(({ toolkitSlug }) => toolkitSlug)).toEqual(["code_host", "payments", "team_chat", "watcher"]);
  expect((await other.listIngestEndpoints({ projectId: otherId })).endpoints).toEqual(shared);
  expect((await triggersOf(here, projectId).listIngestEndpoints({})).endpoints).toEqual(shared);
  expect(await refusalOf(other.listIngestEndpoints({ projectId }))).toBe(Code.NotFound);
  expect(await refusalOf(other.putWebhookSecret({ toolkitSlug: "desk", value: secret }))).toBe(Code.NotFound);
  expect(await refusalOf(other.deleteWebhookSecret({ id: put.secret?.id ?? "" }))).toBe(Code.NotFound);
  expect(await here.ingest.accept({ ...post, projectId: otherId })).toEqual({ outcome: "unknown_toolkit" });
  expect(here.ingest.admit("desk", post.query, post.headers)).toEqual({ outcome: "unknown_toolkit" });
  const { projectId: _none, ...unowned } = post;
  expect(await here.ingest.accept(unowned)).toEqual({ outcome: "unknown_toolkit" });

  const own = await triggersOf(here, projectId).listIngestEndpoints({ projectId });
  expect(own.endpoints.filter((endpoint) => endpoint.projectId !== "")).toMatchObject([
    {
      ...{ toolkitSlug: "desk", path: `/webhooks/${projectId}/desk`, projectId, secretEnv: "", secretSet: true },
      ...{ scheme: "hmac_sha256", header: "x-desk-signature", fault: "", methods: ["POST"] },
      secrets: [{ id: put.secret?.id }],
      sample: { triggerSlug: "desk.ticket_opened" },
    },
  ]);
});

test("of two live secrets either verifies; after one has ended only the other does, on every node", async () => {
  await using here = startNode();
  await using there = startNode();
  const projectId = await startDesk(here);
  const client = triggersOf(here, projectId);
  let id = 0;
  const accepted = async (value: string) => {
    const outcomes = [];
    for (const node of [here, there])
      outcomes.push((await node.ingest.accept(ticketPost(projectId, value, { id: `t-${id++}` }))).outcome);
    expect(outcomes[0]).toBe(outcomes[1]);
    return outcomes[0] === "accepted";
  };
  expect([await accepted(secret), await accepted("another-secret")]).toEqual([true, false]);
  const made = await client.putWebhookSecret({ toolkitSlug: "desk", overlap: { seconds: 60n } });
  expect(made.value).toMatch(/^[\w-]{43}$/);
  await cluster.clock.advance(500);
  expect([await accepted(secret), await accepted(made.value)]).toEqual([true, true]);
  await cluster.clock.advance(59_400);
  expect([await accepted(secret), await accepted(made.value)]).toEqual([true, true]);
  await cluster.clock.advance(200);
  expect([await accepted(secret), await accepted(made.value)]).toEqual([false, true]);

  // A secret that is deleted ends at once; without one every post is refused.
  const last = await client.putWebhookSecret({ toolkitSlug: "desk", value: "third-secret", overlap: {} });
  await cluster.clock.advance(500);
  expect([await accepted(made.value), await accepted("third-secret")]).toEqual([false, true]);
  await client.deleteWebhookSecret({ id: last.secret?.id ?? "" });
  await cluster.clock.advance(500);
  for (const node of [here, there])
    expect(await node.ingest.accept(ticketPost(projectId, "third-secret"))).toMatchObject({ outcome: "secret_unset" });
});

test("a secret that has ended is removed from the database within a round of the sweep, and no live one is", async () => {
  await using node = startNode();
  const projectId = await startDesk(node);
  const client = triggersOf(node, projectId);
  const put = await client.putWebhookSecret({ toolkitSlug: "desk", overlap: { seconds: 60n } });
  const stored = async () => {
    for await (const _isFull of webhookSecretSweep({ db: cluster.db }).round(cluster.clock.now()));
    return cluster.db.sql<{ id: string }[]>`select id from webhook_secrets where project_id = ${uuidOfId(projectId)}`;
  };
  expect(await stored()).toHaveLength(2);
  await cluster.clock.advance(60_001);
  expect(await stored()).toEqual([{ id: uuidOfId(put.secret?.id as WebhookSecretId) }]);
});

test("quarantined posts of a private toolkit count among the stored bytes of its project", async () => {
  await using node = startNode();
  const projectId = await startDesk(node);
  const measure = () => usageOfProject(cluster.db, projectId).measureStorage();
  const before = await measure();
  const subject = "x".repeat(10_000);
  const post = ticketPost(projectId, secret, { type: "ticket.closed", subject });
  expect(await node.ingest.accept(post)).toMatchObject({ outcome: "quarantined" });
  const kept = (await measure()) - before;
  expect(kept).toBeGreaterThan(post.body.byteLength);
  expect(kept).toBeLessThan(post.body.byteLength + 2_000);
  // A released post is stored until its retention ends.
  await cluster.db.sql`update quarantined_posts set released_at = now() where project_id = ${uuidOfId(projectId)}`;
  expect((await measure()) - before).toBe(kept);
});

test("a webhook has at most 5 live secrets, and each fits its definition", async () => {
  await using node = startNode();
  const definition = deskDefinition({
    webhook: {
      ...{ scheme: "hmac_sha256", header: "webhook-signature", split: "space", prefix: "v1,", encoding: "base64" },
      secret: { encoding: "base64", prefix: "whsec_" },
      signed: "{{headers.webhook-id}}.{{headers.webhook-timestamp}}.{{body}}",
      timestamp: "{{headers.webhook-timestamp}}",
    },
  });
  const projectId = await startDesk(node, definition, "");
  const client = triggersOf(node, projectId);
  const put = (value: string, seconds?: bigint) =>
    client.putWebhookSecret({ toolkitSlug: "desk", value, ...(seconds !== undefined && { overlap: { seconds } }) });
  for (const value of ["short", `${"a".repeat(600)}`, "whsec_not base64!", "whsec_aGFs\nbG8gd29ybGQ="])
    expect(await refusalOf(put(value)), value).toBe(Code.InvalidArgument);
  expect(await refusalOf(put("", 7n * 86_400n + 1n))).toBe(Code.InvalidArgument);
  expect(await refusalOf(put("", -1n))).toBe(Code.InvalidArgument);
  const made = [];
  for (let count = 0; count < 5; count++) made.push(await put(""));
  expect(new Set(made.map(({ value }) => value)).size).toBe(5);
  expect(made[0]?.value).toMatch(/^whsec_[\w+/]{43}=$/);
  expect(await refusalOf(put(""))).toBe(Code.ResourceExhausted);
  const racing = await Promise.all([put("", 0n), put("", 0n)]);
  const { endpoints } = await client.listIngestEndpoints({ projectId });
  const [desk] = endpoints.filter((endpoint) => endpoint.projectId !== "");
  expect(racing.map(({ secret: one }) => one?.id)).toContain(desk?.secrets[0]?.id);
  expect(desk?.secrets).toHaveLength(1);

  const plain = await cluster.project();
  const source = JSON.parse(deskDefinition());
  const { webhook: _webhook, ...toolkit } = source.toolkit;
  const tools = {
    read_ticket: {
      ...{ kind: "action", class: "read", description: "Reads one ticket of the help desk with its messages." },
      intents: ["what did the customer write", "show the problem", "open the support request"],
      input: { type: "object", properties: {}, additionalProperties: false },
      output: { type: "object" },
      request: { method: "GET", path: "/tickets" },
    },
  };
  await catalogOf(node, plain).publishToolkit({ definitionJson: JSON.stringify({ toolkit, tools }) });
  const refused = triggersOf(node, plain).putWebhookSecret({ toolkitSlug: "desk" });
  expect(await refusalOf(refused)).toBe(Code.FailedPrecondition);
});

test("posts of a private toolkit in quarantine are reported once a minute, to their project only", async () => {
  await using node = startNode();
  const [projectId, otherId] = [await startDesk(node), await startDesk(node)];
  const post = (subject: string) =>
    node.ingest.accept(ticketPost(projectId, secret, { type: "ticket.closed", subject }));
  const reports = async (of: ProjectId) => {
    const { events } = await triggersOf(node, of).listEvents({ toolkitSlug: "svc" });
    return events.map(({ triggerSlug, payloadJson }) => ({ triggerSlug, payload: JSON.parse(payloadJson) as object }));
  };
  await post("Before anyone subscribes");
  for (const id of [projectId, otherId])
    await triggersOf(node, id).createSubscription({ endpointUrl: "https://ops.example.com/", toolkitSlug: "svc" });
  for (const subject of ["One", "Two"]) await post(subject);
  expect(await reports(projectId)).toEqual([
    {
      triggerSlug: "svc.posts_quarantined",
      payload: { toolkitSlug: "desk", reason: "no_trigger", count: 1, detail: expect.any(String) },
    },
  ]);
  expect(await reports(otherId)).toEqual([]);
});

test("the approver of a project releases its quarantined post, and nobody else sees it", async () => {
  await using node = startNode();
  const projectId = await startDesk(node);
  const otherId = await startDesk(node);
  const post = ticketPost(projectId, secret, { type: "ticket.closed", subject: "Closed" });
  post.query.set("from", "desk");
  expect(await node.ingest.accept(post)).toEqual({ outcome: "quarantined", reason: "no_trigger" });

  const client = triggersOf(node, projectId);
  const [listed, ...none] = (await client.listQuarantinedPosts({})).posts;
  expect(none).toEqual([]);
  expect(listed).toMatchObject({ toolkitSlug: "desk", reason: "no_trigger", query: { from: "desk" } });
  expect(Object.keys(listed?.headers ?? {})).toEqual(["content-type"]);
  const id = listed?.id ?? "";
  const { body } = await client.getQuarantinedPost({ id });
  expect(Buffer.from(body).equals(post.body)).toBe(true);
  // Neither the administrator nor another project has it.
  const all = { toolkitSlug: "", reason: "", includeReleased: true, sinceMs: undefined, untilMs: undefined };
  expect(await node.quarantine.list(all, { after: undefined, limit: 10 })).toEqual([]);
  expect(await node.quarantine.find(id as QuarantineId)).toBeUndefined();
  expect(await node.quarantine.release(id as QuarantineId, { dryRun: false })).toMatchObject({ outcome: "missing" });
  const other = triggersOf(node, otherId);
  expect((await other.listQuarantinedPosts({ includeReleased: true })).posts).toEqual([]);
  expect(await refusalOf(other.getQuarantinedPost({ id }))).toBe(Code.NotFound);
  expect((await other.releaseQuarantinedPosts({ ids: [id] })).results).toMatchObject([{ outcome: "missing" }]);
  expect((await other.releaseQuarantinedPosts({ toolkitSlug: "desk" })).results).toEqual([]);
  // A post to a shared toolkit stays the deployment's.
  expect(await node.ingest.accept(signedCodePost(Buffer.from("{}")))).toMatchObject({ outcome: "quarantined" });
  expect((await client.listQuarantinedPosts({})).posts).toHaveLength(1);
  expect(await node.quarantine.list(all, { after: undefined, limit: 10 })).toHaveLength(1);

  const release = async () => (await client.releaseQuarantinedPosts({ toolkitSlug: "desk" })).results;
  expect(await release()).toMatchObject([{ id, outcome: "quarantined", reason: "no_trigger" }]);
  const definitionJson = deskDefinition({ trigger: { match: { body: { type: ["ticket.opened", "ticket.closed"] } } } });
  await catalogOf(node, projectId).publishToolkit({ definitionJson });
  expect(await release()).toMatchObject([{ id, outcome: "released", accepted: 1 }]);
  expect(await release()).toEqual([]);
  expect((await client.listEvents({})).events).toMatchObject([
    { entityId: "ada", payloadJson: '{"id":"t-1","subject":"Closed"}' },
  ]);
  expect((await other.listEvents({})).events).toEqual([]);
  expect((await client.listQuarantinedPosts({})).posts).toEqual([]);
  expect((await client.listQuarantinedPosts({ includeReleased: true, toolkitSlug: "desk" })).posts).toHaveLength(1);
});

test("posts to unknown projects are refused without a statement", async () => {
  await using node = startNode();
  const projectId = await startDesk(node);
  expect(await node.ingest.accept(ticketPost(projectId, secret))).toMatchObject({ outcome: "accepted" });
  const { clock } = cluster;
  const statements = noteStatements();
  const times = [0, clock.now() - 86_400_000, clock.now() - 1, clock.now() + 86_400_000];
  const strangers = Array.from({ length: 2_000 }, (_, n) => createId("prj", times[n % times.length] ?? 0));
  for (const id of strangers) {
    // Refused at once: the answer is not even a promise.
    expect(node.ingest.admitPrivate(ticketPost(id, secret))).toEqual({ outcome: "unknown_toolkit" });
    expect(node.ingest.greetPrivate("GET", ticketPost(id, secret))).toMatchObject({ outcome: "no_handshake" });
  }
  expect(statements.names).toEqual([]);
  // A project that another node made is found; those of strangers with a time of the present share its read.
  await clock.advance(500);
  const made = await startDesk(node);
  statements.names.length = 0;
  const [lookedUp, ...others] = await Promise.all([
    node.ingest.accept(ticketPost(made, secret)),
    ...Array.from({ length: 100 }, () => node.ingest.accept(ticketPost(createId("prj", clock.now()), secret))),
  ]);
  expect(lookedUp).toMatchObject({ outcome: "accepted" });
  expect(new Set(others.map(({ outcome }) => outcome))).toEqual(new Set(["unknown_toolkit"]));
  expect(statements.names.filter((text) => text.includes('from "projects"'))).toHaveLength(1);
  statements.stop();
  expect(node.ingest.admitPrivate(ticketPost(createId("prj", clock.now()), secret))).toMatchObject({
    outcome: "unknown_toolkit",
  });
});

test("a toolkit that is published again without its webhook, with another scheme, or deleted, changes what its posts do", async () => {
  await using node = startNode();
  const projectId = await startDesk(node);
  const post = ticketPost(projectId, secret);
  const admission = await node.ingest.admitPrivate(post);
  if (admission.outcome !== "admitted") throw new Error(admission.outcome);
  // The body arrives while the toolkit is published with a token in the query: the old signature no longer counts.
  const token = deskDefinition({ webhook: { scheme: "token_query", parameter: "token" } });
  await catalogOf(node, projectId).publishToolkit({ definitionJson: token });
  expect(await node.ingest.accept(post, admission)).toMatchObject({ outcome: "unverified" });
  const tokened = { ...post, headers: {}, query: new URLSearchParams({ token: secret, v: "1" }) };
  expect(await node.ingest.accept(tokened)).toMatchObject({ outcome: "accepted" });
  const strange = { ...tokened, body: Buffer.from("{}") };
  expect(await node.ingest.accept(strange)).toMatchObject({ outcome: "quarantined" });
  const [kept] = (await triggersOf(node, projectId).listQuarantinedPosts({})).posts;
  expect(kept?.query).toEqual({ v: "1" });

  const hex = { scheme: "hmac_sha256", header: "x-desk-signature", encoding: "hex", secret: { encoding: "hex" } };
  await catalogOf(node, projectId).publishToolkit({ definitionJson: deskDefinition({ webhook: hex }) });
  expect(await node.ingest.accept(post)).toEqual({
    outcome: "not_ready",
    fault: "the webhook has no secret that the definition can read: hex",
  });
  await catalogOf(node, projectId).deleteToolkit({ slug: "desk" });
  expect(await node.ingest.accept(post)).toEqual({ outcome: "unknown_toolkit" });
  const released = await triggersOf(node, projectId).releaseQuarantinedPosts({ ids: [kept?.id ?? ""] });
  expect(released.results).toMatchObject([{ outcome: "quarantined", reason: "no_trigger" }]);
  // A toolkit with the slug of a deleted one does not take the posts of the deleted one.
  await catalogOf(node, projectId).publishToolkit({ definitionJson: deskDefinition() });
  expect(await node.ingest.accept(post)).toMatchObject({ outcome: "secret_unset" });
});

test("no secret is in an answer, a quarantined post, or the database in clear", async () => {
  await using node = startNode();
  const value = "a-very-visible-secret";
  const basic = { scheme: "token_query", basic: true };
  const projectId = await startDesk(node, deskDefinition({ webhook: basic }), `desk:${value}`);
  const client = triggersOf(node, projectId);
  const headers = { authorization: `Basic ${Buffer.from(`desk:${value}`).toString("base64")}` };
  const post = { ...ticketPost(projectId, ""), headers, body: Buffer.from("[]") };
  expect(await node.ingest.accept(post)).toMatchObject({ outcome: "quarantined" });
  const answers = [
    await client.listIngestEndpoints({ projectId }),
    await client.listQuarantinedPosts({}),
    await catalogOf(node, projectId).listToolkits({ projectId }),
  ];
  const shown = JSON.stringify(answers, (_key, one) => (typeof one === "bigint" ? String(one) : one));
  expect(shown).not.toContain(value);
  expect(shown).not.toContain(headers.authorization);
  const rows = await cluster.db.sql<{ value: Buffer }[]>`select value from webhook_secrets`;
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.some((row) => row.value.includes(value))).toBe(false);
});

test("every post is charged to the project, also those that become no event", async () => {
  await using node = startNode();
  const projectId = await startDesk(node);
  const other = await startDesk(node);
  await setProjectPolicy(cluster.db, projectId, { planApproval: "never", redirectUrls: [], quotas: { posts: 2 } });
  const post = (id: ProjectId, n: number, fields: object = {}) =>
    node.ingest.accept(ticketPost(id, secret, { id: `t-${n}`, ...fields }));
  const outcomes = [];
  for (let n = 0; n < 3; n++) outcomes.push((await post(projectId, n)).outcome);
  for (let n = 3; n < 6; n++) outcomes.push((await post(projectId, n, { type: "other" })).outcome);
  expect(outcomes).toContain("over_quota");
  expect(outcomes.slice(3)).toEqual(["over_quota", "over_quota", "over_quota"]);
  expect((await post(other, 0)).outcome).toBe("accepted");
  expect((await post(other, 1, { type: "other" })).outcome).toBe("quarantined");
  expect(node.ingest.quotas.loadOf(projectId)?.refusals.get("posts")).toBeGreaterThan(0);
});

test("a payload that repeats a large body many times is refused in little time", async () => {
  await using node = startNode();
  const fields = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`f${n}`, "{{body.subject}}"]));
  const projectId = await startDesk(
    node,
    deskDefinition({
      trigger: { payload: fields, output: { type: "object" }, dedupe: "{{body.subject}}{{body.subject}}" },
    }),
  );
  const large = ticketPost(projectId, secret, { subject: "x".repeat(1_000_000) });
  const before = process.cpuUsage();
  expect(await node.ingest.accept(large)).toMatchObject({ outcome: "quarantined", reason: "invalid_payload" });
  const { user } = process.cpuUsage(before);
  expect(user / 1_000).toBeLessThan(1_000);
});

test("subscriptions, replays, agents and schedules use a private trigger as any other", async () => {
  await using receiver = await startTestReceiver();
  await using node = startNode(true);
  const projectId = await startDesk(node);
  const client = triggersOf(node, projectId);
  const chosen = { toolkitSlug: "desk", triggerSlug: "ticket_opened" };
  const { subscription } = await client.createSubscription({ endpointUrl: receiver.url, ...chosen });
  expect(subscription?.triggerSlug).toBe("desk.ticket_opened");
  const agent = await createTestAgent(cluster, node, { projectId });
  const poll = (more: object) => agent.ask("events/poll", { name: "desk.ticket_opened", ...more });
  const began = await poll({});
  expect(await node.ingest.accept(ticketPost(projectId, secret))).toMatchObject({ outcome: "accepted" });
  await until(async () => receiver.requests.length === 1);
  const { events } = await client.listEvents(chosen);
  await client.replayEvent({ eventId: events[0]?.id ?? "" });
  await until(async () => receiver.requests.length === 2);
  const bodies = receiver.requests.map(({ body }) => JSON.parse(body.toString()));
  expect(bodies.map(({ triggerSlug }) => triggerSlug)).toEqual(Array(2).fill("desk.ticket_opened"));

  const polled = await poll({ cursor: began.result.cursor });
  expect(JSON.stringify(polled.result)).toContain("It is broken");

  // A preview checks the definition, and stores nothing.
  const preview = (slug: string) => {
    const program = { version: 1, title: "Waits", steps: [{ id: "pause", wait: "1h" }] };
    const definition = { version: 1, title: "Answer tickets", source: { trigger: { slug } }, program };
    const standing = node.client(StandingService, { projectId, role: "approver" });
    return refusalOf(standing.previewStandingProgram({ definitionJson: JSON.stringify(definition) }));
  };
  expect(await preview("desk.ticket_opened")).toBeUndefined();
  expect(await preview("desk.nope")).toBe(Code.InvalidArgument);
  expect(
    await refusalOf(client.createSubscription({ endpointUrl: receiver.url, toolkitSlug: "desk", triggerSlug: "nope" })),
  ).toBe(Code.NotFound);
});

test("a project that is deleted takes no further posts, and leaves no secret and no post", async () => {
  await using node = startNode();
  const [projectId, otherId] = [await startDesk(node), await startDesk(node)];
  for (const id of [projectId, otherId])
    expect(await node.ingest.accept(ticketPost(id, secret, { type: "odd" }))).toMatchObject({ outcome: "quarantined" });
  const { db, clock } = cluster;
  await beginErasure(db, { projectId, entityId: undefined }, { nowMs: clock.now() });
  const times = { graceMs: 0, jobsMs: 0, pollMs: 0 };
  let refusedAt: number | undefined;
  for (let step = 0; (await stepErasure(db, clock.now(), times)) !== undefined; step++) {
    await clock.advance(500);
    const { outcome } = await node.ingest.accept(ticketPost(projectId, secret, { id: `t-${step}` }));
    if (outcome !== "accepted") refusedAt ??= step;
    else expect(refusedAt).toBeUndefined();
  }
  expect(await node.ingest.accept(ticketPost(projectId, secret))).toEqual({ outcome: "unknown_toolkit" });
  expect(await node.ingest.accept(ticketPost(otherId, secret))).toMatchObject({ outcome: "accepted" });
  const of = (id: ProjectId) => uuidOfId(id);
  for (const table of ["webhook_secrets", "quarantined_posts", "events"]) {
    const rows = await db.sql<{ project_id: string }[]>`select project_id from ${db.sql(table)}`;
    const owners = rows.map(({ project_id }) => project_id);
    expect([table, owners.includes(of(projectId)), owners.includes(of(otherId))]).toEqual([table, false, true]);
  }
});
