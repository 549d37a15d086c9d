import { createId, type QuarantineId, uuidOfId } from "@svc/core";
import { putAccountReferences } from "@svc/db/account-references/repo";
import { eventsForProject } from "@svc/db/events/repo";
import { listQuarantinedPosts } from "@svc/db/quarantine/list";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { catalogOf } from "@svc/testing/catalog";
import { startTestReceiver } from "@svc/testing/receiver";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { until } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { quarantineSealSweep } from "./quarantine-seal.ts";
import { accountsCatalog, createTestCluster, createTestNode, type TestCluster } from "./test-node.ts";
import { changePost, issuePost, messagePost, paymentPost, signedCodePost } from "./test-posts.ts";

afterAll(dropTestDatabases);

const everything = { toolkitSlug: "", reason: "", includeReleased: true, sinceMs: undefined, untilMs: undefined };
const firstPage = { after: undefined, limit: 500 };
const real = { dryRun: false };

async function onlyPost({ db }: TestCluster): Promise<QuarantineId> {
  const posts = await listQuarantinedPosts(db, everything, firstPage);
  expect(posts).toHaveLength(1);
  return posts[0]!.id;
}

async function noteOf({ db }: TestCluster) {
  const [post] = await listQuarantinedPosts(db, everything, firstPage);
  return { reason: post?.reason, releasedAt: post?.releasedAt };
}

/** Returns the toolkit `code_host` with a changed definition of its trigger for opened issues. */
function codeHostWith(changes: object) {
  const { codeHost } = sampleToolkits;
  const trigger = { ...codeHost.tools["issue_opened"], ...changes } as (typeof codeHost.tools)[string];
  return catalogOf({ toolkits: [{ ...codeHost, tools: { ...codeHost.tools, issue_opened: trigger } }] });
}

test("a post that no trigger matched is released by a definition that matches it", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using before = createTestNode(cluster);
  const closed = signedCodePost(
    Buffer.from(JSON.stringify({ action: "closed", issue: { number: 9, title: "t" }, repository: { name: "r" } })),
    {
      "x-code-event": "issues",
    },
  );
  expect(await before.ingest.accept(closed)).toMatchObject({ reason: "no_trigger" });
  const id = await onlyPost(cluster);
  const receivedAtMs = cluster.clock.now();
  cluster.clock.advance(60_000);
  expect(await before.quarantine.release(id, real)).toEqual({
    id,
    outcome: "quarantined",
    accepted: 0,
    reason: "no_trigger",
  });
  expect(await noteOf(cluster)).toEqual({ reason: "no_trigger", releasedAt: null });

  await using after = createTestNode(cluster, {
    catalog: codeHostWith({ match: { headers: { "X-Code-Event": "issues" } } }),
  });
  expect(await after.quarantine.release(id, real)).toEqual({ id, outcome: "released", accepted: 1, reason: "" });
  const [event] = await eventsForProject(cluster.db, projectId).list(
    { toolkitSlug: "", triggerSlug: "", sinceMs: undefined, untilMs: undefined },
    firstPage,
  );
  // The event counts as received when it is released, and as having occurred when it was posted.
  expect(event).toMatchObject({
    receivedAt: receivedAtMs + 60_000,
    occurredAt: receivedAtMs,
    triggerSlug: "code_host.issue_opened",
  });
  expect(JSON.parse(event?.payload ?? "")).toMatchObject({ number: 9 });
});

test("a post that missed its schema is released by a schema that takes it", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using before = createTestNode(cluster);
  expect(await before.ingest.accept(issuePost({ number: "seven" }))).toMatchObject({ reason: "invalid_payload" });
  const id = await onlyPost(cluster);
  expect(await before.quarantine.release(id, real)).toMatchObject({
    outcome: "quarantined",
    reason: "invalid_payload",
  });
  const catalog = codeHostWith({
    payload: { number: 0, title: "{{body.issue.number}}", repository: "r", labels: "{{body.issue.labels}}" },
  });
  await using after = createTestNode(cluster, { catalog });
  expect(await after.quarantine.release(id, real)).toMatchObject({ outcome: "released", accepted: 1 });
});

test("a post whose account nobody held is released once a project holds it, and delivered", async () => {
  await using cluster = await createTestCluster();
  await using receiver = await startTestReceiver();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { catalog: accountsCatalog(), isStarted: true });
  await node.client(projectId).createSubscription({ endpointUrl: receiver.url });
  expect(await node.ingest.accept(changePost())).toMatchObject({ reason: "no_project" });
  const id = await onlyPost(cluster);
  expect(await node.quarantine.release(id, real)).toMatchObject({ outcome: "quarantined", reason: "no_project" });
  await putAccountReferences(cluster.db, [
    { toolkitSlug: "watcher", reference: "ch-1", projectId, accountId: createId("acc", 0), entityId: "user-1" },
  ]);
  expect(await node.quarantine.release(id, real)).toEqual({ id, outcome: "released", accepted: 1, reason: "" });
  expect(await noteOf(cluster)).toEqual({ reason: "no_project", releasedAt: cluster.clock.now() });
  await until(() => receiver.requests.length === 1);
  expect(JSON.parse(receiver.requests[0]!.body.toString("utf8"))).toMatchObject({
    entityId: "user-1",
    payload: { channel: "ch-1" },
  });
});

test("the body of a url_verification post released later is answered to nobody: it counts as ignored", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  expect(await node.ingest.accept(messagePost(cluster.clock.now()))).toMatchObject({ reason: "no_project" });
  const id = await onlyPost(cluster);
  const { teamChat } = sampleToolkits;
  const webhook = { ...teamChat.toolkit.webhook!, ignore: [{ body: { type: "event_callback" } }] };
  const catalog = catalogOf({
    toolkits: [{ ...teamChat, toolkit: { ...teamChat.toolkit, webhook } as typeof teamChat.toolkit }],
  });
  await using later = createTestNode(cluster, { catalog });
  expect(await later.quarantine.release(id, real)).toEqual({ id, outcome: "ignored", accepted: 0, reason: "" });
  expect(await later.quarantine.release(id, real)).toMatchObject({ outcome: "already_released" });
});

test("a dry run tells what a release would do, and does nothing", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  await node.ingest.accept(paymentPost());
  const id = await onlyPost(cluster);
  expect(await node.quarantine.release(id, { dryRun: true })).toMatchObject({
    outcome: "quarantined",
    reason: "no_project",
  });
  await cluster.project();
  await cluster.project();
  for (let time = 0; time < 2; time++)
    expect(await node.quarantine.release(id, { dryRun: true })).toEqual({
      id,
      outcome: "released",
      accepted: 2,
      reason: "",
    });
  expect(await cluster.count("events")).toBe(0);
  expect(await noteOf(cluster)).toEqual({ reason: "no_project", releasedAt: null });
  expect(await node.quarantine.release(id, real)).toMatchObject({ outcome: "released", accepted: 2 });
  expect(await node.quarantine.release(id, { dryRun: true })).toMatchObject({ outcome: "already_released" });
});

test("released twice at once, on two nodes, a post becomes one event", async () => {
  await using cluster = await createTestCluster();
  await using first = createTestNode(cluster);
  await using second = createTestNode(cluster);
  for (let number = 0; number < 8; number++) await first.ingest.accept(issuePost({ number }));
  await cluster.project();
  const posts = await listQuarantinedPosts(cluster.db, everything, firstPage);
  const results = await Promise.all(
    posts.flatMap(({ id }) => [first, second, first].map((node) => node.quarantine.release(id, real))),
  );
  expect(results.map(({ outcome }) => outcome).sort()).toEqual([
    ...Array.from({ length: 16 }, () => "already_released"),
    ...Array.from({ length: 8 }, () => "released"),
  ]);
  expect(await cluster.count("events")).toBe(8);
});

test("a released post whose key was seen since stores nothing again", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  await node.ingest.accept(paymentPost());
  const id = await onlyPost(cluster);
  await cluster.project();
  expect(await node.ingest.accept(paymentPost())).toEqual({ outcome: "accepted", events: 1 });
  expect(await node.quarantine.release(id, real)).toEqual({ id, outcome: "released", accepted: 0, reason: "" });
  expect(await cluster.count("events")).toBe(1);
});

test("a post of a toolkit that is gone stays, with why", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  await node.ingest.accept(paymentPost());
  const id = await onlyPost(cluster);
  await using later = createTestNode(cluster, { catalog: catalogOf({ toolkits: [sampleToolkits.codeHost] }) });
  expect(await later.quarantine.release(id, real)).toMatchObject({ outcome: "quarantined", reason: "no_trigger" });
  const [post] = await listQuarantinedPosts(cluster.db, everything, firstPage);
  expect(post?.detail).toContain("no toolkit payments");
});

test("what surrounds a post is sealed, and its detail quotes nothing of it", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using node = createTestNode(cluster);
  const planted = "PLANTED-59c1";
  const posts = [
    issuePost({ number: planted, title: planted }),
    signedCodePost(Buffer.from(JSON.stringify({ [planted]: planted })), { "x-code-event": planted, "x-user": planted }),
    changePost({ state: planted, room: planted }),
  ];
  for (const post of posts) expect(await node.ingest.accept(post)).toMatchObject({ outcome: "quarantined" });
  const rows = await cluster.db.sql<{ row: string }[]>`select q::text as row from quarantined_posts q`;
  expect(rows).toHaveLength(3);
  const hex = Buffer.from(planted).toString("hex");
  for (const { row } of rows) for (const marker of [planted, hex]) expect(row).not.toContain(marker);
  const [change] = await node.quarantine.list({ ...everything, toolkitSlug: "watcher" }, firstPage);
  expect(change).toMatchObject({ headers: { "x-watch-state": planted }, query: { room: planted } });
  expect(JSON.stringify(await node.quarantine.list(everything, firstPage))).not.toContain('"envelope"');
});

test("posts that were kept unsealed are read and released as they are, and sealed by and by", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  await node.ingest.accept(changePost({ room: "r-1" }));
  await node.ingest.accept(paymentPost());
  const before = await node.quarantine.list(everything, firstPage);
  // Puts the posts into the form in which version 0.1 stored them.
  for (const { id, headers, query } of before) {
    await cluster.db.sql`update quarantined_posts set envelope = null, reason = 'invalid_payload', detail = 'is "a"',
      headers = ${JSON.stringify(headers)}::text::jsonb, query = ${JSON.stringify(query)}::text::jsonb where id = ${uuidOfId(id)}`;
  }
  expect((await node.quarantine.list(everything, firstPage)).map(({ query }) => query)).toEqual(
    before.map(({ query }) => query),
  );
  const sweep = quarantineSealSweep({ db: cluster.db, sealer: cluster.sealer, batchMax: 1 });
  const fullBatches: boolean[] = [];
  for await (const isFull of sweep.round(cluster.clock.now())) fullBatches.push(isFull);
  expect(fullBatches).toEqual([true, true, false]);
  const rows = await listQuarantinedPosts(cluster.db, everything, firstPage);
  for (const row of rows) {
    expect(row).toMatchObject({ headers: {}, query: {} });
    expect(row.envelope).not.toBeNull();
    expect(row.detail).not.toContain('"a"');
  }
  const after = await node.quarantine.list(everything, firstPage);
  expect(after.map(({ headers, query }) => ({ headers, query }))).toEqual(
    before.map(({ headers, query }) => ({ headers, query })),
  );
  await cluster.project();
  for (const { id } of after) {
    expect(await node.quarantine.release(id, real)).toMatchObject({ outcome: "released", accepted: 1 });
  }
});

test("names that the store cannot hold keep no post out of the quarantine", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  const head = { type: "object", additionalProperties: false, properties: { id: { type: "string" } } };
  const { codeHost } = sampleToolkits;
  const push = codeHost.tools["push_received"] as Extract<(typeof codeHost.tools)[string], { kind: "trigger" }>;
  const tool = {
    ...push,
    output: { type: "object", additionalProperties: false, properties: { head } },
    payload: { head: "{{body.head}}" },
  } as typeof push;
  const catalog = catalogOf({ toolkits: [{ ...codeHost, tools: { push_received: tool } }] });
  await using node = createTestNode(cluster, { catalog });
  const post = signedCodePost(Buffer.from(JSON.stringify({ head: { "a\0\ud800": 1 } })), { "x-code-event": "push" });
  expect(await node.ingest.accept(post)).toEqual({ outcome: "quarantined", reason: "invalid_payload" });
  const id = await onlyPost(cluster);
  expect(await node.quarantine.release(id, real)).toMatchObject({ outcome: "quarantined", reason: "invalid_payload" });
});

test("a post that there is not is missing", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  const id = createId("qrn", 0);
  expect(await node.quarantine.release(id, real)).toEqual({ id, outcome: "missing", accepted: 0, reason: "" });
  expect(await node.quarantine.find(id)).toBeUndefined();
});

test("posts are listed newest first, by toolkit, reason, time and whether they were released", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  const startMs = cluster.clock.now();
  for (const post of [issuePost(), paymentPost(), changePost({ state: "odd" })]) {
    await node.ingest.accept(post);
    cluster.clock.advance(1_000);
  }
  const list = async (filter: object, page: object = {}) =>
    (await node.quarantine.list({ ...everything, ...filter }, { ...firstPage, ...page })).map(
      (post) => post.toolkitSlug,
    );
  expect(await list({})).toEqual(["watcher", "payments", "code_host"]);
  expect(await list({ toolkitSlug: "payments" })).toEqual(["payments"]);
  expect(await list({ reason: "no_trigger" })).toEqual(["watcher"]);
  expect(await list({ sinceMs: startMs + 1_000, untilMs: startMs + 2_000 })).toEqual(["payments"]);
  const [newest] = await node.quarantine.list(everything, { after: undefined, limit: 1 });
  expect(await list({}, { after: newest!.id })).toEqual(["payments", "code_host"]);
  await cluster.project();
  const [payment] = await node.quarantine.list({ ...everything, toolkitSlug: "payments" }, firstPage);
  await node.quarantine.release(payment!.id, real);
  expect(await list({ includeReleased: false })).toEqual(["watcher", "code_host"]);
});
