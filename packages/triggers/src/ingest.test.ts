import { createHmac } from "node:crypto";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { createId, type ProjectId } from "@svc/core";
import { putAccountReferences } from "@svc/db/account-references/repo";
import { releaseAccountReferences } from "@svc/db/connections/references";
import { eventsForProject } from "@svc/db/events/repo";
import { listQuarantinedPosts } from "@svc/db/quarantine/list";
import { subscriptionsForProject } from "@svc/db/subscriptions/repo";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { catalogOf } from "@svc/testing/catalog";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import {
  accountsCatalog,
  createTestCluster,
  createTestNode,
  sampleSecrets,
  type TestCluster,
  type TriggerNode,
} from "./test-node.ts";
import {
  changePost,
  issuePost,
  messagePost,
  paymentPost,
  type SignedPost,
  signedCodePost,
  signedPayment,
} from "./test-posts.ts";

afterAll(dropTestDatabases);

const everything = { toolkitSlug: "", triggerSlug: "", sinceMs: undefined, untilMs: undefined };
const firstPage = { after: undefined, limit: 500 };

const eventsOf = ({ db }: TestCluster, projectId: ProjectId) =>
  eventsForProject(db, projectId).list(everything, firstPage);
const quarantined = ({ db }: TestCluster) =>
  listQuarantinedPosts(db, { ...everything, reason: "", includeReleased: true }, firstPage);

async function isEmpty(cluster: TestCluster): Promise<boolean> {
  return (await cluster.count("events")) === 0 && (await cluster.count("quarantined_posts")) === 0;
}

const noQuery = new URLSearchParams();

test("a post of each scheme becomes an event with the normalized payload", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const nowMs = cluster.clock.now();
  const posts = [
    issuePost({ createdAt: "2026-01-05T10:00:00+02:00" }),
    paymentPost({ created: 1_767_600_000 }),
    messagePost(nowMs),
    changePost({ number: 3, room: "r" }),
  ];
  for (const post of posts) expect(await node.ingest.accept(post)).toEqual({ outcome: "accepted", events: 1 });
  const events = await eventsOf(cluster, projectId);
  const bySlug = Object.fromEntries(events.map((event) => [event.triggerSlug, event]));
  expect(events.every((event) => event.receivedAt === nowMs && event.entityId === "")).toBe(true);
  expect(bySlug["code_host.issue_opened"]).toMatchObject({
    payload: '{"number":7,"title":"It does not start","repository":"engine","labels":["bug"]}',
    occurredAt: Date.UTC(2026, 0, 5, 8),
  });
  expect(bySlug["payments.payment_changed"]).toMatchObject({
    payload: '{"id":"pay-1","state":"payment.settled","amount":1200}',
    occurredAt: 1_767_600_000_000,
  });
  expect(bySlug["team_chat.message_posted"]).toMatchObject({
    payload: '{"channel":"C1","text":"hello","user":"U1"}',
    occurredAt: nowMs,
  });
  expect(bySlug["watcher.changed"]).toMatchObject({
    payload: '{"channel":"ch-1","number":3,"room":"r"}',
    occurredAt: nowMs,
  });
});

test("what needs no body to be refused is refused before it is read", async () => {
  await using cluster = await createTestCluster();
  const secrets: Record<string, string> = { SVC_WEBHOOK_SECRET_PAYMENTS: "", SVC_WEBHOOK_SECRET_TEAM_CHAT: " \n\t" };
  await using node = createTestNode(cluster, { secretOf: (name) => secrets[name] });
  expect(node.ingest.admit("nobody", noQuery)).toEqual({ outcome: "unknown_toolkit" });
  expect(node.ingest.admit("__proto__", noQuery)).toEqual({ outcome: "unknown_toolkit" });
  for (const toolkit of ["code_host", "payments", "team_chat"]) {
    expect(node.ingest.admit(toolkit, noQuery)).toEqual({
      outcome: "secret_unset",
      secretEnv: `SVC_WEBHOOK_SECRET_${toolkit.toUpperCase()}`,
    });
  }
  // An empty secret must not become a key, because anyone could sign with it.
  expect(await node.ingest.accept(paymentPost({}, ""))).toMatchObject({ outcome: "secret_unset" });
  expect(await node.ingest.accept({ ...issuePost(), toolkitSlug: "nobody" })).toEqual({ outcome: "unknown_toolkit" });
  secrets["SVC_WEBHOOK_SECRET_PAYMENTS"] = "rotated";
  expect(node.ingest.admit("payments", noQuery).outcome).toBe("admitted");
  expect(await isEmpty(cluster)).toBe(true);
});

test("a secret that is replaced counts from the next post on", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  let secret = "old";
  await using node = createTestNode(cluster, { secretOf: () => secret });
  expect(await node.ingest.accept(paymentPost({}, "old"))).toMatchObject({ outcome: "accepted" });
  secret = "old new";
  expect(await node.ingest.accept(paymentPost({ id: "pay-2" }, "new"))).toMatchObject({ outcome: "accepted" });
  secret = "new";
  expect(await node.ingest.accept(paymentPost({ id: "pay-3" }, "old"))).toMatchObject({ outcome: "unverified" });
});

test("a query that was right before the body was read is compared anew where the secret is another by then", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  let secret = "watcher-token";
  await using node = createTestNode(cluster, { secretOf: () => secret });
  const admittedOf = (post: SignedPost) => {
    const admission = node.ingest.admit(post.toolkitSlug, post.query);
    return admission.outcome === "admitted" ? admission : undefined;
  };
  const [first, second] = [changePost({ number: 1 }, secret), changePost({ number: 2 }, secret)];
  const [known, old] = [admittedOf(first), admittedOf(second)];
  expect(known).toMatchObject({ isVerified: true });
  expect(await node.ingest.accept(first, known)).toMatchObject({ outcome: "accepted" });
  secret = "another";
  expect(await node.ingest.accept(second, old)).toMatchObject({ outcome: "unverified" });
});

test("posts that do not verify store nothing, whatever was changed (300 mutations through the engine)", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using node = createTestNode(cluster);
  const posts = [issuePost({ delivery: "d" }), paymentPost(), messagePost(cluster.clock.now()), changePost()];
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
      for (const post of posts) {
        const body = Buffer.from(post.body);
        if (body.byteLength > 0) body[at % body.byteLength] = (body[at % body.byteLength] as number) ^ flip;
        const query =
          post.toolkitSlug === "watcher" ? new URLSearchParams({ token: `watcher-token${flip}` }) : post.query;
        expect(await node.ingest.accept({ ...post, body, query })).toMatchObject({ outcome: "unverified" });
      }
    }),
    { numRuns: 75 },
  );
  expect(await isEmpty(cluster)).toBe(true);
});

test("a handshake that the definition ignores stores nothing; the same unsigned is refused", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using node = createTestNode(cluster);
  const ping = signedCodePost(Buffer.from("{}"), { "x-code-event": "ping" });
  expect(await node.ingest.accept(ping)).toEqual({ outcome: "ignored" });
  expect(await node.ingest.accept(changePost({ state: "sync" }))).toEqual({ outcome: "ignored" });
  expect(await node.ingest.accept({ ...ping, headers: { "x-code-event": "ping" } })).toMatchObject({
    outcome: "unverified",
  });
  expect(await isEmpty(cluster)).toBe(true);
});

test("a url_verification post of slack_v0 gets its challenge when it is signed, and nowhere else", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  const body = Buffer.from(JSON.stringify({ type: "url_verification", challenge: "c-1" }));
  const nowMs = cluster.clock.now();
  const answer = { status: 200, contentType: "application/json", body: '{"challenge":"c-1"}' };
  expect(await node.ingest.accept(messagePost(nowMs, { body }))).toEqual({ outcome: "challenge", answer });
  expect(await node.ingest.accept(messagePost(nowMs, { body }, "wrong"))).toMatchObject({ outcome: "unverified" });
  expect(await node.ingest.accept(signedCodePost(body))).toEqual({ outcome: "quarantined", reason: "no_trigger" });
  const odd = Buffer.from(JSON.stringify({ type: "url_verification", challenge: { a: 1 } }));
  expect(await node.ingest.accept(messagePost(nowMs, { body: odd }))).toMatchObject({ outcome: "quarantined" });
});

const answered = (body: string, contentType = "text/plain; charset=utf-8", status = 200) => {
  return { outcome: "challenge", answer: { status, contentType, body } };
};

test("each handshake answers as its definition says, once the sender is proven, and stores nothing", async () => {
  await using cluster = await createTestCluster();
  const handshakes = [
    {
      method: "GET",
      when: { query: { mode: "subscribe" } },
      token: "verify.token",
      answer: { text: "{{query.hub.challenge}}" },
    },
    { method: "HEAD", answer: { status: 204 } },
    {
      method: "POST",
      when: { body: { event: "url_check" } },
      answer: { json: { plain: "{{body.payload.token}}", list: [1, "is {{body.payload.token | hmac}}"] } },
    },
    { method: "POST", unsigned: true, answer: { status: 202, text: "{{query.validation}}" } },
  ];
  const { codeHost } = sampleToolkits;
  const webhook = { ...codeHost.toolkit.webhook, handshakes } as NonNullable<typeof codeHost.toolkit.webhook>;
  const catalog = catalogOf({ toolkits: [{ ...codeHost, toolkit: { ...codeHost.toolkit, webhook } }] });
  await using node = createTestNode(cluster, { catalog });
  const { ingest } = node;
  const greet = (method: string, query: string) =>
    ingest.greet(method, { toolkitSlug: "code_host", headers: {}, query: new URLSearchParams(query) });
  const right = "mode=subscribe&verify.token=code-host-secret&hub.challenge=";
  expect(greet("GET", `${right}1158201444`)).toEqual(answered("1158201444"));
  expect(greet("GET", `${right}${"a".repeat(1_025)}`).outcome).toBe("no_handshake");
  expect(greet("GET", `${right}caf%C3%A9`).outcome).toBe("no_handshake");
  expect(greet("GET", "mode=subscribe&verify.token=wrong&hub.challenge=1")).toMatchObject({ outcome: "unverified" });
  expect(greet("GET", "mode=subscribe&hub.challenge=1")).toMatchObject({ outcome: "unverified" });
  expect(greet("GET", `${right}1&verify.token=x`)).toMatchObject({ outcome: "unverified" });
  expect(greet("GET", "mode=other")).toEqual({ outcome: "no_handshake", methods: ["POST", "GET", "HEAD"] });
  expect(greet("HEAD", "")).toEqual(answered("", "", 204));
  expect(greet("PUT", right)).toMatchObject({ outcome: "no_handshake" });
  const check = signedCodePost(Buffer.from('{"event":"url_check","payload":{"token":"t-1"}}'));
  const mac = createHmac("sha256", "code-host-secret").update("t-1").digest("hex");
  const json = JSON.stringify({ plain: "t-1", list: [1, `is ${mac}`] });
  expect(await ingest.accept(check)).toEqual(answered(json, "application/json"));
  const { "x-code-signature": _, ...unsigned } = check.headers;
  expect(await ingest.accept({ ...check, headers: unsigned })).toMatchObject({ outcome: "unverified" });
  const validation = new URLSearchParams({ validation: "<b>v</b>" });
  expect(await ingest.accept({ ...check, headers: unsigned, query: validation })).toEqual(
    answered("<b>v</b>", undefined, 202),
  );
  expect(await isEmpty(cluster)).toBe(true);
});

test("a webhook whose app signs the address takes posts if SVC_PUBLIC_URL is set, and its list says so", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  const { codeHost } = sampleToolkits;
  const webhook = { ...codeHost.toolkit.webhook, signed: "{{url}}{{body}}" } as NonNullable<
    typeof codeHost.toolkit.webhook
  >;
  const catalog = catalogOf({ toolkits: [{ ...codeHost, toolkit: { ...codeHost.toolkit, webhook } }] });
  const variables: Record<string, string> = { ...sampleSecrets };
  await using node = createTestNode(cluster, { catalog, secretOf: (name) => variables[name] });
  const post = { ...issuePost(), target: "/webhooks/code_host?a=%41" };
  const signature = createHmac("sha256", "code-host-secret")
    .update("https://svc.example.com/in/webhooks/code_host?a=%41")
    .update(post.body);
  post.headers["x-code-signature"] = `sha256=${signature.digest("hex")}`;
  const fault = "SVC_PUBLIC_URL is not set, and the app signs the public address";
  expect(await node.ingest.accept(post)).toEqual({ outcome: "not_ready", fault });
  const endpoint = async () => (await node.client(projectId).listIngestEndpoints({})).endpoints[0];
  expect(await endpoint()).toMatchObject({ secretSet: true, fault, methods: ["POST"] });
  variables["SVC_PUBLIC_URL"] = "https://svc.example.com/in/";
  expect(await node.ingest.accept(post)).toEqual({ outcome: "accepted", events: 1 });
  expect(await endpoint()).toMatchObject({ fault: "" });
  expect(JSON.parse((await endpoint())!.verifierJson)).toEqual({
    ...{ header: ["x-code-signature"], prefix: "sha256=", encoding: "hex" },
    ...{ signed: "{{url}}{{body}}", secret: {} },
  });
});

test("the header that has the secret proves the sender before the body is read, and is never kept", async () => {
  await using cluster = await createTestCluster();
  const { watcher } = sampleToolkits;
  const webhook = { scheme: "token_query", secretEnv: "SVC_WEBHOOK_SECRET_WATCHER", header: "X-Watch-Token" } as const;
  const catalog = catalogOf({ toolkits: [{ ...watcher, toolkit: { ...watcher.toolkit, webhook } }] });
  await using node = createTestNode(cluster, { catalog });
  const { query: _, ...change } = changePost({ state: "moved" });
  const headers = { ...change.headers, "x-watch-token": "watcher-token", "x-route-token": "r" };
  expect(node.ingest.admit("watcher", noQuery, { ...headers, "x-watch-token": "wrong" })).toMatchObject({
    outcome: "unverified",
  });
  expect(node.ingest.admit("watcher", new URLSearchParams({ token: "watcher-token" }), {})).toMatchObject({
    outcome: "unverified",
  });
  expect(node.ingest.admit("watcher", noQuery, headers)).toMatchObject({ outcome: "admitted", isVerified: true });
  expect(await node.ingest.accept({ ...change, query: noQuery, headers })).toMatchObject({ outcome: "quarantined" });
  const [kept] = await quarantined(cluster);
  const found = await node.quarantine.find(kept!.id);
  expect(found!.post.headers).toMatchObject({ "x-route-token": "r" });
  expect(JSON.stringify(found!.post)).not.toContain("watcher-token");
});

test("a verified post that becomes no event is kept whole, but for its secrets, with the reason", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using node = createTestNode(cluster);
  const body = Buffer.from('{"action":"starred"}');
  const noTrigger = signedCodePost(body, { authorization: "Bearer x", cookie: "a=b", "x-code-event": "star\0" });
  expect(await node.ingest.accept(noTrigger)).toEqual({ outcome: "quarantined", reason: "no_trigger" });
  expect(await node.ingest.accept(issuePost({ number: "seven" }))).toEqual({
    outcome: "quarantined",
    reason: "invalid_payload",
  });
  const change = changePost({ state: "moved", room: "r\0\ud800" });
  expect(await node.ingest.accept(change)).toEqual({ outcome: "quarantined", reason: "no_trigger" });

  const kept = await quarantined(cluster);
  const byToolkit = (slug: string, reason: string) =>
    kept.find((post) => post.toolkitSlug === slug && post.reason === reason);
  const first = byToolkit("code_host", "no_trigger");
  expect(first).toMatchObject({ headers: {}, query: {} });
  expect((await node.quarantine.find(first!.id))?.post).toMatchObject({
    headers: { "content-type": "application/json", "x-code-event": "star\ufffd" },
    bodyBytes: 20,
    detail: expect.stringContaining("code_host.issue_opened"),
    receivedAt: cluster.clock.now(),
    releasedAt: null,
  });
  expect(first?.body.includes(body)).toBe(false);
  expect((await node.quarantine.find(first!.id))?.body).toEqual(body);
  const moved = await node.quarantine.find(byToolkit("watcher", "no_trigger")!.id);
  expect(moved?.post.query).toEqual({ room: "r\ufffd\ufffd" });
  expect(byToolkit("code_host", "invalid_payload")?.detail).toContain("issue.number");
  expect(await cluster.count("events")).toBe(0);
});

test("a post is kept when the deployment has no project, and when no project holds the account", async () => {
  await using cluster = await createTestCluster();
  await using everybody = createTestNode(cluster);
  expect(await everybody.ingest.accept(issuePost())).toEqual({ outcome: "quarantined", reason: "no_project" });
  await cluster.project();
  await using node = createTestNode(cluster, { catalog: accountsCatalog() });
  expect(await node.ingest.accept(issuePost())).toEqual({ outcome: "quarantined", reason: "no_project" });
  expect(await node.ingest.accept(issuePost({ organization: "" }))).toEqual({
    outcome: "quarantined",
    reason: "no_project",
  });
  const details = (await quarantined(cluster)).map((post) => post.detail);
  expect(details).toEqual(
    expect.arrayContaining([
      "The deployment has no project.",
      expect.stringContaining("no project holds an account"),
      expect.stringContaining("names no account"),
    ]),
  );
});

test("audience projects: one event a project, with the entity of the one whose account the post names", async () => {
  await using cluster = await createTestCluster();
  const [first, second] = [await cluster.project(), await cluster.project()];
  const accountId = createId("acc", 0);
  await putAccountReferences(cluster.db, [
    { toolkitSlug: "payments", reference: "shop-1", projectId: second, accountId, entityId: "user-9" },
  ]);
  await using node = createTestNode(cluster);
  expect(await node.ingest.accept(paymentPost())).toEqual({ outcome: "accepted", events: 2 });
  expect((await eventsOf(cluster, first)).map((event) => event.entityId)).toEqual([""]);
  expect((await eventsOf(cluster, second)).map((event) => event.entityId)).toEqual(["user-9"]);
});

test("audience accounts: only the project that holds the account receives the event", async () => {
  await using cluster = await createTestCluster();
  const [first, second] = [await cluster.project(), await cluster.project()];
  await putAccountReferences(cluster.db, [
    {
      toolkitSlug: "code_host",
      reference: "org-1",
      projectId: first,
      accountId: createId("acc", 0),
      entityId: "user-1",
    },
    // The same reference of another app means another account.
    {
      toolkitSlug: "payments",
      reference: "org-1",
      projectId: second,
      accountId: createId("acc", 0),
      entityId: "user-2",
    },
  ]);
  await using node = createTestNode(cluster, { catalog: accountsCatalog() });
  expect(await node.ingest.accept(issuePost())).toEqual({ outcome: "accepted", events: 1 });
  expect(await node.ingest.accept(issuePost({ organization: "ORG-1" }))).toMatchObject({ reason: "no_project" });
  expect((await eventsOf(cluster, first)).map((event) => event.entityId)).toEqual(["user-1"]);
  expect(await eventsOf(cluster, second)).toEqual([]);
});

test.each([
  ["U+0000", "org\0-1", "invalid_payload"],
  ["a lone surrogate", "org-\ud800", "no_project"],
  ["600 characters", "o".repeat(600), "invalid_payload"],
  ["512 characters", "o".repeat(512), "no_project"],
  ["an object", { a: 1 }, "invalid_payload"],
  ["a null", null, "no_project"],
  ["a number", 12, "no_project"],
])("an account key with %s is no fault of the service", async (_what, organization, reason) => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using node = createTestNode(cluster, { catalog: accountsCatalog() });
  expect(await node.ingest.accept(issuePost({ organization }))).toEqual({ outcome: "quarantined", reason });
});

test.each<[string, string | number | undefined, number | "received"]>([
  ["RFC 3339 with an offset", "2026-01-05T10:00:00.123+02:00", Date.UTC(2026, 0, 5, 8, 0, 0, 123)],
  ["microseconds", "2026-01-05T08:00:00.123999Z", Date.UTC(2026, 0, 5, 8, 0, 0, 123)],
  ["Unix seconds", 1_767_600_000, 1_767_600_000_000],
  ["Unix milliseconds", 1_767_600_000_123, 1_767_600_000_123],
  ["Unix seconds with a fraction as text", "1767600000.5", 1_767_600_000_500],
  ["nothing", undefined, "received"],
  ["an empty text", "", "received"],
  ["the year 1", "0001-01-01T00:00:00Z", -62_135_596_800_000],
  ["the moon", "1969-07-20T20:17:40Z", Date.UTC(1969, 6, 20, 20, 17, 40)],
  ["no zone", "2026-01-02 03:04:05", Date.UTC(2026, 0, 2, 3, 4, 5)],
  ["RFC 2822", "Fri, 02 Jan 2026 03:04:05 +0000", Date.UTC(2026, 0, 2, 3, 4, 5)],
  ["a leap second", "2016-12-31T23:59:60Z", Date.UTC(2017, 0, 1)],
  ["the last moment of 9999", "9999-12-31T23:59:59.999Z", Date.UTC(9999, 11, 31, 23, 59, 59, 999)],
  ["a word", "yesterday", "received"],
  ["the 30th of February", "2026-02-30T00:00:00Z", "received"],
])("occurredAt from %s", async (_what, createdAt, expected) => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  expect(await node.ingest.accept(issuePost({ createdAt }))).toMatchObject({ outcome: "accepted" });
  const [event] = await eventsOf(cluster, projectId);
  expect(event?.occurredAt).toBe(expected === "received" ? cluster.clock.now() : expected);
});

test.each([
  ["U+0000", "a\0b"],
  ["lone surrogates", "\ud800 \udfff"],
  ["every plane", "a é 漢 😀 \u{10ffff} \ufeff \u2028"],
  ["control characters", "\u0001\u001f\u007f\t\n\r\\\"'{},"],
  ["SQL and array syntax", '\'; drop table events; -- {NULL,"x"} null'],
  ["a megabyte", "x".repeat(1_048_000)],
  ["a megabyte of escapes", "\0".repeat(170_000)],
])("a payload with %s is stored and read back as it was", async (_what, title) => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  expect(await node.ingest.accept(issuePost({ title }))).toEqual({ outcome: "accepted", events: 1 });
  const [event] = await eventsOf(cluster, projectId);
  expect(JSON.parse(event?.payload ?? "").title === title).toBe(true);
});

test("any JSON that fits the schema becomes an event with the same text", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const titles: string[] = [];
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (title) => {
      titles.push(title);
      expect(await node.ingest.accept(issuePost({ title }))).toMatchObject({ outcome: "accepted" });
    }),
    { numRuns: 60 },
  );
  const stored = (await eventsOf(cluster, projectId)).map((event) => JSON.parse(event.payload).title);
  expect(stored.sort()).toEqual(titles.sort());
});

test("a body that is empty still matches by headers, whatever type it declares, where the trigger reads no body", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using node = createTestNode(cluster);
  for (const [number, type] of [undefined, "application/json; utf-8", "text/plain"].entries()) {
    const post = changePost({ number });
    const headers = { ...post.headers, ...(type !== undefined && { "content-type": type }) };
    const sent = { ...post, headers, body: Buffer.alloc(0) };
    expect(await node.ingest.accept(sent)).toMatchObject({ outcome: "accepted" });
  }
});

const utf32 = (text: string) => Buffer.from(Uint32Array.from(text, (character) => character.codePointAt(0)!).buffer);
const utf16 = (text: string, mark: number[] = []) => Buffer.concat([Buffer.from(mark), Buffer.from(text, "utf16le")]);

const listOf = (item: string, count: number) => Buffer.from(`[${`${item},`.repeat(count)}1]`);
const names = (count: number) => Array.from({ length: count }, (_, n) => `"k${n}":1`).join(",");

test.each<[string, Buffer, string | undefined, RegExp]>([
  ["NaN", Buffer.from('{"a":NaN}'), undefined, /the body is not JSON\.$/i],
  ["XML", Buffer.from("<?xml version='1.0'?><a/>"), "application/xml", /not JSON but XML or HTML/],
  ["a form", Buffer.from("payload=%7B%7D&a=b"), "application/x-www-form-urlencoded", /not JSON but a form/],
  ["two values", Buffer.from("{}{}"), "application/json", /not JSON/],
  ["spaces alone", Buffer.from(" \n"), "application/json", /not JSON/],
  ["UTF-16 that is not declared", utf16('{"a":1}'), "application/json", /must declare the charset/],
  ["no UTF-8", Buffer.from('{"a":"caf\xe9"}', "latin1"), "application/json", /not text of the charset UTF-8/],
  ["half a character", Buffer.from([0x22, 0xc3, 0x22]), undefined, /not text of the charset UTF-8/],
  ["a surrogate in UTF-8", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), undefined, /not text of the charset UTF-8/],
  ["no ASCII", Buffer.from('"caf\xc3\xa9"', "latin1"), "text/plain; charset=us-ascii", /charset "us-ascii"/],
  ["no UTF-16", utf16('"\ud800"'), "application/json; charset=utf-16le", /charset "utf-16le"/],
  [
    "a charset that there is not",
    Buffer.from("{}"),
    "application/json; charset=klingon",
    /"klingon", which is not supported/,
  ],
  [
    "a charset that is none",
    Buffer.from("e30="),
    "application/json; charset=base64",
    /"base64", which is not supported/,
  ],
  ["300,000 -0", listOf("-0", 300_000), undefined, /The body's JSON holds more than 10000 numbers that a double/],
  ["40,000 long numbers", listOf("0.12345678901234567890", 40_000), undefined, /more than 10000 numbers/],
  ["150,000 exponents", listOf("1e400", 150_000), undefined, /more than 10000 numbers/],
  ["a number of 900,000 digits", listOf("1".repeat(900_000), 1), undefined, /more than 10000 digits in a number/],
  ["400,000 items", listOf("1", 400_000), undefined, /more than 104858 values/],
  ["400,000 levels", Buffer.from("[".repeat(400_000) + "]".repeat(400_000)), undefined, /more than 104858 values/],
  ["60,000 names", Buffer.from(`{${names(60_000)}}`), undefined, /more than 20000 members in an object/],
  ["half of 900,000 texts", listOf('"a"', 200_000).subarray(1), undefined, /not JSON/],
  ["two charsets", Buffer.from("{}"), "application/json; charset=utf-8; charset=latin1", /more than one charset/],
])(
  "a body of %s is kept in quarantine and says why, although no field of it is needed",
  async (_what, body, type, why) => {
    await using cluster = await createTestCluster();
    await cluster.project();
    await using node = createTestNode(cluster);
    const post = changePost({ number: 1 });
    const headers = { ...post.headers, ...(type !== undefined && { "content-type": type }) };
    expect(await node.ingest.accept({ ...post, headers, body })).toEqual({
      outcome: "quarantined",
      reason: "unreadable_body",
    });
    const [kept] = await quarantined(cluster);
    expect(kept?.detail).toMatch(why);
    expect((await node.quarantine.find(kept!.id))?.body).toEqual(body);
  },
);

test.each<[string, string, (json: string) => Buffer]>([
  ["UTF-8", "application/json;charset=UTF-8", (json) => Buffer.from(json)],
  ["a quoted charset", 'application/json ; Charset="utf8"', (json) => Buffer.from(json)],
  ["ISO-8859-1", "application/json; charset=ISO-8859-1", (json) => Buffer.from(json, "latin1")],
  ["UTF-16 with its mark", "application/json", (json) => utf16(json, [0xff, 0xfe])],
  ["UTF-16, big end first", "application/json; charset=utf-16be", (json) => utf16(json).swap16()],
  ["UTF-16 without a mark", "application/json; charset=utf-16", (json) => utf16(json).swap16()],
  ["UTF-32, which TextDecoder does not have", "application/json; charset=utf-32le", utf32],
  [
    "code page 850",
    "application/json; charset=cp850",
    (json) => Buffer.from(json.replace("\u00e9", "\x82").replace("\u00fc", "\x81"), "latin1"),
  ],
])("a body of %s is read as what it is, and verified as it came", async (_what, type, encode) => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const json = issuePost({ title: "caf\u00e9 \u00fc" }).body.toString();
  const post = signedCodePost(encode(json), { "x-code-event": "issues", "content-type": type });
  expect(await node.ingest.accept(post)).toEqual({ outcome: "accepted", events: 1 });
  const [event] = await eventsOf(cluster, projectId);
  expect(JSON.parse(event?.payload ?? "").title).toBe("caf\u00e9 \u00fc");
});

test("two keys that differ in bytes that are no UTF-8 never become one", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using node = createTestNode(cluster);
  for (const id of ["caf\xe9", "caf\xe8"]) {
    const text = `{"id":"${id}","type":"payment.settled","account":"a","payment":{"id":"p","amount":1}}`;
    const post = signedPayment(Buffer.from(text, "latin1"));
    expect(await node.ingest.accept(post)).toMatchObject({ outcome: "quarantined" });
    const headers = { ...post.headers, "content-type": "application/json; charset=iso-8859-1" };
    expect(await node.ingest.accept({ ...post, headers })).toMatchObject({ outcome: "accepted" });
  }
  expect(await cluster.count("quarantined_posts")).toBe(2);
  expect(await cluster.count("events")).toBe(2);
});

test("integers beyond 2^53 keep their digits in payload, account and key, so that neighbours are no twins", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const ids = ["9007199254740992", "9007199254740993", "9007199254740994", "18446744073709551615"];
  for (const id of ids) {
    const text = `{"id":${id},"type":"payment.settled","account":${id},"payment":{"id":"p","amount":${id}}}`;
    expect(await node.ingest.accept(signedPayment(Buffer.from(text)))).toMatchObject({ outcome: "accepted" });
  }
  const events = await eventsOf(cluster, projectId);
  expect(events.map(({ payload }) => payload).reverse()).toEqual(
    ids.map((id) => `{"id":"p","state":"payment.settled","amount":${id}}`),
  );
});

test("a byte order mark is skipped", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using node = createTestNode(cluster);
  const body = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), issuePost().body]);
  const post = signedCodePost(body, { "x-code-event": "issues" });
  expect(await node.ingest.accept(post)).toMatchObject({ outcome: "accepted" });
});

test("a compressed post is verified as it came, decoded under a bound, and kept as it came where it is no event", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using node = createTestNode(cluster);
  const issue = issuePost().body;
  const encoded = (body: Buffer, encoding: string) =>
    signedCodePost(body, { "x-code-event": "issues", "content-encoding": encoding });
  expect(await node.ingest.accept(encoded(gzipSync(issue), "gzip"))).toMatchObject({ outcome: "accepted" });
  expect(await node.ingest.accept(encoded(brotliCompressSync(issue), "br"))).toMatchObject({ outcome: "accepted" });
  expect(await node.ingest.accept(encoded(issue, "zstd"))).toEqual({
    outcome: "encoding_unsupported",
    encoding: "zstd",
  });
  expect(await node.ingest.accept(encoded(gzipSync(Buffer.alloc(5_000_000)), "gzip"))).toEqual({
    outcome: "too_large",
  });
  const unsigned = { ...encoded(gzipSync(issue), "gzip"), body: issue };
  expect(await node.ingest.accept(unsigned)).toMatchObject({ outcome: "unverified" });
  expect(await cluster.count("quarantined_posts")).toBe(0);

  expect(await node.ingest.accept(encoded(issue, "gzip"))).toMatchObject({ reason: "unreadable_body" });
  const closed = gzipSync(Buffer.from('{"action":"closed"}'));
  expect(await node.ingest.accept(encoded(closed, "gzip"))).toMatchObject({ reason: "no_trigger" });
  const kept = await quarantined(cluster);
  for (const { id, reason } of kept) {
    const found = await node.quarantine.find(id);
    expect(found?.post.headers["content-encoding"]).toBe("gzip");
    expect(found?.body).toEqual(reason === "no_trigger" ? closed : issue);
    expect(await node.quarantine.release(id, { dryRun: false })).toMatchObject({ outcome: "quarantined", reason });
  }
});

async function subscribe(
  { db, clock }: TestCluster,
  projectId: ProjectId,
  slugs = { toolkitSlug: "", triggerSlug: "" },
) {
  const id = createId("sub", clock.now());
  const signingSecret = Buffer.alloc(1);
  const endpointUrl = "https://example.com/";
  await subscriptionsForProject(db, projectId).create({
    id,
    endpointUrl,
    ...slugs,
    createdAt: clock.now(),
    signingSecret,
  });
  return id;
}

test("an event is delivered to the active subscriptions of its project that match it", async () => {
  await using cluster = await createTestCluster();
  const [first, second] = [await cluster.project(), await cluster.project()];
  const all = await subscribe(cluster, first);
  const ofToolkit = await subscribe(cluster, first, { toolkitSlug: "code_host", triggerSlug: "" });
  const ofTrigger = await subscribe(cluster, first, {
    toolkitSlug: "code_host",
    triggerSlug: "code_host.issue_opened",
  });
  await subscribe(cluster, first, { toolkitSlug: "code_host", triggerSlug: "code_host.push_received" });
  await subscribe(cluster, first, { toolkitSlug: "payments", triggerSlug: "" });
  const inactive = await subscribe(cluster, first);
  await subscriptionsForProject(cluster.db, first).update(inactive, { active: false });
  const others = await subscribe(cluster, second);
  await using node = createTestNode(cluster);
  await node.ingest.accept(issuePost());
  const rows = await cluster.db.sql`select subscription_id from deliveries`;
  const tasks = await cluster.db.sql`select lease_owner from delivery_tasks`;
  expect(rows).toHaveLength(4);
  expect(tasks).toEqual(Array.from({ length: 4 }, () => ({ lease_owner: null })));
  const client = node.client(first);
  for (const id of [all, ofToolkit, ofTrigger])
    expect((await client.listDeliveries({ subscriptionId: id })).deliveries).toHaveLength(1);
  expect((await node.client(second).listDeliveries({ subscriptionId: others })).deliveries).toHaveLength(1);
});

test("a key seen before stores nothing again and is answered as the first was", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await cluster.project();
  await subscribe(cluster, projectId);
  await using node = createTestNode(cluster);
  const post = issuePost({ delivery: "d-1" });
  expect(await node.ingest.accept(post)).toEqual({ outcome: "accepted", events: 2 });
  cluster.clock.advance(3 * 86_400_000);
  expect(await node.ingest.accept(post)).toEqual({ outcome: "accepted", events: 2 });
  expect(await cluster.count("events")).toBe(2);
  expect(await cluster.count("deliveries")).toBe(1);
  // A dedupe key belongs to one trigger. An event of another trigger may have the same key.
  const push = signedCodePost(Buffer.from(JSON.stringify({ ref: "main", head: {} })), {
    "x-code-event": "push",
    "x-code-delivery": "d-1",
  });
  expect(await node.ingest.accept(push)).toEqual({ outcome: "accepted", events: 2 });
  expect(await cluster.count("events")).toBe(4);
});

test("a project that was not there when the first post came receives the second", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using node = createTestNode(cluster);
  const post = issuePost({ delivery: "d-1" });
  await node.ingest.accept(post);
  const late = await cluster.project();
  expect(await node.ingest.accept(post)).toEqual({ outcome: "accepted", events: 2 });
  expect(await eventsOf(cluster, late)).toHaveLength(1);
  expect(await cluster.count("events")).toBe(2);
});

test("an empty key means no de-duplication", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using node = createTestNode(cluster);
  await Promise.all([issuePost(), issuePost(), issuePost()].map((post) => node.ingest.accept(post)));
  expect(await cluster.count("events")).toBe(3);
});

test("twins in one batch, in the next and on another node at the same moment are one event, delivered once", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await subscribe(cluster, projectId);
  await using first = createTestNode(cluster);
  await using second = createTestNode(cluster);
  const nodes = [first, second];
  const posts = Array.from({ length: 40 }, (_, index) => paymentPost({ id: `evt-${index % 8}` }));
  for (let round = 0; round < 3; round++) {
    const outcomes = await Promise.all(posts.flatMap((post) => nodes.map((node) => node.ingest.accept(post))));
    expect(outcomes.every((outcome) => outcome.outcome === "accepted" && outcome.events === 1)).toBe(true);
  }
  expect(await cluster.count("events")).toBe(8);
  expect(await cluster.count("deliveries")).toBe(8);
  expect(await cluster.count("delivery_tasks")).toBe(8);
});

test.each([
  ["long keys that differ at their end", `${"k".repeat(400)}1`, `${"k".repeat(400)}2`],
  ["keys that differ in a lone surrogate", "k\ud800", "k\ud801"],
  ["keys that differ in case", "Key", "key"],
  ["keys that differ in a trailing space", "key", "key "],
  ["keys that differ in normalization", "\u00e9", "e\u0301"],
])("%s are two keys", async (_what, one, other) => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using node = createTestNode(cluster);
  await node.ingest.accept(paymentPost({ id: one }));
  await node.ingest.accept(paymentPost({ id: other }));
  await node.ingest.accept(paymentPost({ id: one }));
  expect(await cluster.count("events")).toBe(2);
});

test("a post that the store refuses fails alone", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using node = createTestNode(cluster);
  await cluster.db.sql`alter table events add constraint no_poison check (payload not like '%poison%')`;
  const posts = Array.from({ length: 64 }, (_, index) =>
    issuePost({ title: index % 20 === 7 ? "poison" : `t${index}` }),
  );
  const outcomes = await Promise.allSettled(posts.map((post) => node.ingest.accept(post)));
  expect(outcomes.flatMap(({ status }, index) => (status === "rejected" ? [index] : []))).toEqual([7, 27, 47]);
  expect(await cluster.count("events")).toBe(61);
  await cluster.db.sql`alter table events drop constraint no_poison`;
});

test("a drain resolves once every post under way is answered", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using node = createTestNode(cluster);
  let answered = 0;
  const posts = Array.from({ length: 50 }, () => node.ingest.accept(issuePost()).then(() => answered++));
  await node.ingest.drain();
  await Promise.all(posts);
  expect(await cluster.count("events")).toBe(50);
});

async function route(node: TriggerNode, number: number) {
  const outcome = await node.ingest.accept(changePost({ number }));
  return outcome.outcome === "accepted" ? outcome.events : outcome.outcome;
}

test("a project, reference or subscription made or removed on one node is honoured by another's very next post", async () => {
  await using cluster = await createTestCluster();
  await using everybody = createTestNode(cluster);
  await using accounts = createTestNode(cluster, { catalog: accountsCatalog() });
  expect(await route(everybody, 1)).toBe("quarantined");
  expect(await route(accounts, 1)).toBe("quarantined");
  const first = await cluster.project();
  expect(await route(everybody, 2)).toBe(1);
  await cluster.project();
  expect(await route(everybody, 3)).toBe(2);

  const accountId = createId("acc", 0);
  expect(await route(accounts, 4)).toBe("quarantined");
  await putAccountReferences(cluster.db, [
    { toolkitSlug: "watcher", reference: "ch-1", projectId: first, accountId, entityId: "e" },
  ]);
  expect(await route(accounts, 5)).toBe(1);
  await releaseAccountReferences(cluster.db, first, [accountId]);
  expect(await route(accounts, 6)).toBe("quarantined");

  const subscriptions = subscriptionsForProject(cluster.db, first);
  const deliveries = async (number: number) => {
    const before = await cluster.count("deliveries");
    await route(everybody, number);
    return (await cluster.count("deliveries")) - before;
  };
  expect(await deliveries(7)).toBe(0);
  const id = await subscribe(cluster, first);
  expect(await deliveries(8)).toBe(1);
  await subscriptions.update(id, { active: false });
  expect(await deliveries(9)).toBe(0);
  await subscriptions.update(id, { active: true });
  expect(await deliveries(10)).toBe(1);
  await subscriptions.delete(id);
  expect(await deliveries(11)).toBe(0);
});

test("posts under way while references change are routed by what the store holds: none is kept back by mistake", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster, { catalog: accountsCatalog() });
  let number = 0;
  for (let round = 0; round < 25; round++) {
    const channel = `ch-${round}`;
    const reference = {
      toolkitSlug: "watcher",
      reference: channel,
      projectId,
      accountId: createId("acc", 0),
      entityId: "",
    };
    const noise = Array.from({ length: 30 }, () =>
      node.ingest.accept(changePost({ number: number++, channel: `other-${number % 7}` })),
    );
    const early = node.ingest.accept(changePost({ number: number++, channel }));
    await putAccountReferences(cluster.db, [reference]);
    const late = await Promise.all(
      Array.from({ length: 5 }, () => node.ingest.accept(changePost({ number: number++, channel }))),
    );
    expect(late).toEqual(late.map(() => ({ outcome: "accepted", events: 1 })));
    await Promise.all([...noise, early]);
  }
});
