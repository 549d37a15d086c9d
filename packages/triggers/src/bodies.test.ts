import { createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import { createId } from "@svc/core";
import { putAccountReferences } from "@svc/db/account-references/repo";
import { eventsForProject } from "@svc/db/events/repo";
import { setProjectPolicy } from "@svc/db/projects/repo";
import { listQuarantinedPosts } from "@svc/db/quarantine/list";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { catalogOf, type ToolkitSource } from "@svc/testing/catalog";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createTestCluster,
  createTestNode,
  type TestCluster,
  type TriggerNode,
  type TriggerNodeOptions,
} from "./test-node.ts";

type Webhook = NonNullable<ToolkitSource["toolkit"]["webhook"]>;
type Trigger = Extract<ToolkitSource["tools"][string], { kind: "trigger" }>;

const properties: Record<string, object> = {
  text: { type: "string" },
  mark: { type: ["string", "number", "object"] },
  list: { type: "object" },
  from: { type: "string" },
};
const [secret, formType] = ["s3cret", "application/x-www-form-urlencoded"];

/** Returns a toolkit with one trigger, whose posts are signed. `at`: the part of a post that contains the fields. */
function toolkit(slug: string, bodies: object, at = "body", changes: Partial<Trigger> = {}): ToolkitSource {
  const { payload = { text: `{{${at}.text}}`, mark: `{{${at}.mark}}` } } = changes;
  return {
    toolkit: {
      slug,
      name: slug,
      description: `Notes that an app sends, for tests of bodies that are read as ${slug}.`,
      version: "0.1.0",
      category: "communication",
      baseUrl: "https://api.notes.example.com",
      auth: [{ type: "none" }],
      webhook: {
        ...{ scheme: "hmac_sha256", secretEnv: "SVC_WEBHOOK_SECRET_NOTES", header: "x-signature", encoding: "hex" },
        ...bodies,
      } as Webhook,
    },
    tools: {
      noted: {
        kind: "trigger",
        description: `Fires when somebody writes a note in the app, read as ${slug} by svc.`,
        intents: ["when a note is written", "tell me about notes", "watch the notes"],
        output: {
          ...{ type: "object", additionalProperties: false },
          properties: Object.fromEntries(Object.keys(payload).map((name) => [name, properties[name]])),
        },
        match: {},
        account: `{{${at}.owner}}`,
        dedupe: `{{${at}.id}}`,
        ...changes,
        payload,
      } as Trigger,
    },
  };
}

const whole = { account: "", dedupe: "", payload: { text: "{{body}}" } };
const kinds = [
  toolkit("notes_json", {}),
  toolkit("notes_field", { form: "payload" }),
  toolkit("notes_fields", { form: "*" }),
  toolkit("notes_items", { each: "body" }, "item"),
  toolkit("notes_events", { each: "body.data.events", ignore: [{ item: { kind: "ping" } }] }, "item", {
    match: { item: { kind: ["note", "memo"] } },
    payload: { text: "{{item.text}}", from: "{{body.from}}" },
  }),
  toolkit("notes_text", { content: "text" }, "body", whole),
  toolkit("notes_bytes", { content: "base64" }, "body", whole),
  toolkit("notes_unread", { content: "none" }, "headers", { payload: { text: "{{headers.x-note}}" } }),
  toolkit("notes_whole", { form: "*" }, "body", { ...whole, payload: { list: "{{body}}" } }),
];

let cluster: TestCluster;
let node: TriggerNode;
let project: Awaited<ReturnType<TestCluster["project"]>>;
const nodeOf = (toolkits: readonly ToolkitSource[], options: TriggerNodeOptions = {}) =>
  createTestNode(cluster, { catalog: catalogOf({ toolkits }), secretOf: () => secret, ...options });

beforeAll(async () => {
  cluster = await createTestCluster();
  project = await cluster.project();
  node = nodeOf(kinds);
});
afterAll(async () => {
  await node?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
  await dropTestDatabases();
});

type Sent = { readonly type?: string | undefined; readonly headers?: Record<string, string> };

function post(slug: string, body: Buffer | string, { type = "application/json", headers = {} }: Sent = {}) {
  const bytes = Buffer.from(body as Buffer);
  const signature = createHmac("sha256", secret).update(bytes).digest("hex");
  return {
    toolkitSlug: slug,
    headers: { "content-type": type, ...headers, "x-signature": signature },
    query: new URLSearchParams(),
    body: bytes,
  };
}
const send = (slug: string, body: Buffer | string, sent?: Sent) => node.ingest.accept(post(slug, body, sent));

const everything = { triggerSlug: "", sinceMs: undefined, untilMs: undefined };
const eventsOf = async (slug: string, limit = 500) => {
  const filter = { ...everything, toolkitSlug: slug };
  return (await eventsForProject(cluster.db, project).list(filter, { after: undefined, limit })).toReversed();
};
const keptOf = (slug: string, includeReleased = false) =>
  listQuarantinedPosts(
    cluster.db,
    { ...everything, toolkitSlug: slug, reason: "", includeReleased },
    { after: undefined, limit: 50 },
  );
/** Returns the contents of a toolkit's events, without the parts that name the toolkit. */
const contentsOf = async (slug: string) =>
  (await eventsOf(slug)).map(({ payload, dedupeKey, account }) => [payload, dedupeKey, account]);

test("property: the same content as JSON, as a form, as an element and in a named charset makes equal events", async () => {
  const latin = fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code < 0x7f || code > 0x9f)
      .map((code) => String.fromCharCode(code)),
  });
  const content = fc.oneof(
    fc.record({ value: latin, charset: fc.constantFrom("utf-8", "iso-8859-1", "windows-1252", "utf-16") }),
    fc.record({
      value: fc.string({ unit: "grapheme" }).filter((value) => value.isWellFormed()),
      charset: fc.constantFrom("utf-8", "utf-16"),
    }),
  );
  let id = 0;
  await fc.assert(
    fc.asyncProperty(content, async ({ value, charset }) => {
      const note = { text: value, mark: value, owner: `o${value.slice(0, 50).replaceAll("\0", "")}`, id: `n${++id}` };
      const json = JSON.stringify(note);
      const encode = (sent: string) => encodeIn(charset, sent);
      const named = (type: string) => ({ type: `${type}; charset=${charset}` });
      await send("notes_json", json);
      await send("notes_json", encode(json.replace(note.id, `${note.id}c`)), named("application/json"));
      await send("notes_field", encode(formOf({ payload: json }, charset)), named(formType));
      await send("notes_field", json);
      await send("notes_fields", encode(formOf(note, charset)), named(formType));
      await send("notes_items", encode(`[${json}]`), named("application/json"));
      const [plain, inCharset] = (await contentsOf("notes_json")).slice(-2);
      expect(plain?.[0]).toBe(JSON.stringify({ text: value, mark: value }));
      expect(inCharset).toEqual([plain?.[0], `${note.id}c`, plain?.[2]]);
      for (const slug of ["notes_field", "notes_fields", "notes_items"])
        expect((await contentsOf(slug)).at(-1), slug).toEqual(plain);
      // Both forms of the post have the same dedupe key, so the second form makes no new event.
      expect((await eventsOf("notes_field")).length).toBe(id);
    }),
    { numRuns: 10 },
  );
  expect(await cluster.count("quarantined_posts")).toBe(0);
});

function encodeIn(charset: string, sent: string): Buffer {
  if (charset === "utf-8") return Buffer.from(sent);
  return charset === "utf-16" ? Buffer.from(sent, "utf16le") : Buffer.from(sent, "latin1");
}

/**
 * Returns a form whose escapes are bytes of the charset. For UTF-16, they are bytes of UTF-8, because ASCII characters have two bytes in
 * UTF-16.
 */
function formOf(fields: Record<string, string>, charset: string): string {
  const escaped = (value: string) =>
    [...encodeIn(charset === "utf-16" ? "utf-8" : charset, value)]
      .map((byte) => `%${byte.toString(16).padStart(2, "0")}`)
      .join("");
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${escaped(value)}`)
    .join("&");
}

test("a form's repeated names are lists, and no name of a field changes what an object is", async () => {
  await send("notes_whole", "a=1&b=2&a=3&__proto__=4&constructor=&d.e=5", { type: formType });
  const [{ payload } = { payload: "" }] = await eventsOf("notes_whole");
  expect(payload).toBe('{"list":{"a":["1","3"],"b":"2","__proto__":"4","constructor":"","d.e":"5"}}');
});

test("a body that is one text is the text, the bytes in base64, or not read at all", async () => {
  const lines = "first line\r\n<b>second</b> \ufffd\n";
  await send("notes_text", lines, { type: "text/plain" });
  await send("notes_bytes", Buffer.from([0, 0xff, 0x0a]), { type: "image/png" });
  await send("notes_unread", Buffer.from([0xff, 0xfe, 0xfd]), { headers: { "x-note": "n", owner: "o", id: "1" } });
  const payloads = ["notes_text", "notes_bytes", "notes_unread"].map(
    async (slug) => (await eventsOf(slug))[0]?.payload,
  );
  expect(await Promise.all(payloads)).toEqual([JSON.stringify({ text: lines }), '{"text":"AP8K"}', '{"text":"n"}']);
  const large = Buffer.alloc(262_145, "a");
  expect(await send("notes_text", large.subarray(1))).toMatchObject({ outcome: "accepted" });
  for (const slug of ["notes_text", "notes_bytes"])
    expect(await send(slug, large)).toEqual({ outcome: "quarantined", reason: "unreadable_body" });
});

const utf16 = (value: string) => Buffer.from(value, "utf16le");

test.each<[string, string, Buffer | string, string | undefined, string]>([
  ["notes_json", "a form", "a=1&b=2", formType, "The body is not JSON but a form."],
  ["notes_json", "white space", " \n", undefined, "The body is not JSON: it is empty or has white space only."],
  [
    "notes_json",
    "a byte order mark alone",
    "\ufeff",
    undefined,
    "The body is not JSON: it is empty or has white space only.",
  ],
  [
    "notes_json",
    "multipart",
    '--x\r\nContent-Disposition: form-data; name="a"\r\n',
    "multipart/form-data; boundary=x",
    "The body is not JSON but multipart.",
  ],
  ["notes_json", "XML", "<a/>", "application/xml", "The body is not JSON but XML or HTML."],
  [
    "notes_json",
    "a gzip file",
    gzipSync("{}"),
    undefined,
    "The body is not text of the charset UTF-8: it looks compressed (gzip), and no Content-Encoding says so.",
  ],
  [
    "notes_json",
    "another charset",
    Buffer.from('{"text":"caf\xe9"}', "latin1"),
    undefined,
    "The body is not text of the charset UTF-8: it looks like text of another charset, which Content-Type must name.",
  ],
  [
    "notes_json",
    "binary data",
    Buffer.from([0xff, 0, 1]),
    undefined,
    "The body is not text of the charset UTF-8: it looks like binary data.",
  ],
  [
    "notes_json",
    "UTF-16",
    utf16("{}"),
    undefined,
    "The body is not JSON, and has bytes as UTF-16 has them: its content-type must declare the charset.",
  ],
  [
    "notes_json",
    "UTF-16 that is none",
    Buffer.from([0x7b, 0, 0x7d]),
    "application/json; charset=utf-16",
    'The body is not text of the charset "utf-16".',
  ],
  [
    "notes_json",
    "a repeated name",
    '{"text":"a","mark":{"x":1,"x":2}}',
    undefined,
    "The body repeats a name in an object.",
  ],
  [
    "notes_json",
    "a repeated name in a long body",
    `{"text":"a","list":{${Array.from({ length: 3_000 }, (_, at) => `"n${at}":1`)},"n7":1}}`,
    undefined,
    "The body repeats a name in an object.",
  ],
  [
    "notes_field",
    "a repeated name in the field",
    `payload=${encodeURIComponent('{"text":"a","text":"a"}')}`,
    formType,
    "The field payload of the form repeats a name in an object.",
  ],
  ["notes_field", "a form without the field", "a=1", formType, "The form has no field payload."],
  ["notes_field", "the field twice", "payload=1&payload=2", formType, "The form has more than one field payload."],
  [
    "notes_field",
    "the field without JSON",
    "payload=a%3Db",
    formType,
    "The field payload of the form is not JSON but a form: its Content-Type must say so.",
  ],
  [
    "notes_field",
    "an empty field",
    "payload=",
    formType,
    "The field payload of the form is not JSON: it is empty or has white space only.",
  ],
  [
    "notes_field",
    "a form that is sent as JSON",
    "payload={}",
    undefined,
    "The body is not JSON but a form: its Content-Type must say so.",
  ],
  [
    "notes_field",
    "JSON that is sent as a form",
    '{"text":"a"}',
    formType,
    "The body is not a form, although its Content-Type says so.",
  ],
  [
    "notes_fields",
    "JSON that is sent as a form",
    ' [{"text":"a=b"}]',
    formType,
    "The body is not a form, although its Content-Type says so.",
  ],
  [
    "notes_fields",
    "a form with invalid bytes",
    "text=%ff",
    formType,
    "The form is not text of the charset UTF-8: it looks like text of another charset, which Content-Type must name.",
  ],
  ["notes_fields", "too many fields", "a&".repeat(2_001), formType, "The form has more than 2000 fields."],
])(
  "a body of %s that is %s becomes no event, and its detail says what it is",
  async (slug, _what, body, type, detail) => {
    const before = (await eventsOf(slug)).length;
    expect(await send(slug, body, { type })).toEqual({ outcome: "quarantined", reason: "unreadable_body" });
    const [kept] = await keptOf(slug);
    expect(kept).toMatchObject({ reason: "unreadable_body", detail });
    expect((await eventsOf(slug)).length).toBe(before);
    expect((await node.quarantine.find(kept!.id))?.body).toEqual(Buffer.from(body as Buffer));
  },
);

test("a decimal of 40 digits, an exponent and a long integer keep their digits in payload, account and key", async () => {
  const numbers = [
    "1234567890.123456789012345678901234567890",
    "1.5e-400",
    "98765432109876543210987654321098765432109",
  ];
  for (const number of numbers) {
    const json = `{"text":"t","mark":${number},"owner":${number},"id":${number}}`;
    for (const [slug, body] of [
      ["notes_json", json],
      ["notes_items", `[${json}]`],
    ] as const) {
      expect(await send(slug, body)).toMatchObject({ outcome: "accepted" });
      expect((await contentsOf(slug)).at(-1)).toEqual([`{"text":"t","mark":${number}}`, number, number]);
    }
    await send("notes_field", `payload=${encodeURIComponent(json)}`, { type: formType });
    expect((await contentsOf("notes_field")).at(-1)).toEqual([`{"text":"t","mark":${number}}`, number, number]);
  }
});

const listOf = (...events: unknown[]) => JSON.stringify({ from: "app", data: { events } });

test("each element of a list is a post of its own: match, ignore, key and quarantine; a repeated post stores nothing twice", async () => {
  const before = (await eventsOf("notes_events")).length;
  const body = listOf(
    { kind: "note", text: "a" },
    { kind: "ping" },
    { kind: "other" },
    { kind: "memo", text: 5 },
    { kind: "memo", text: "b" },
    { kind: "other" },
    null,
    { kind: "note", text: "a" },
  );
  for (const _round of [1, 2])
    expect(await send("notes_events", body)).toEqual({ outcome: "accepted", events: 3, items: 3 });
  const events = (await eventsOf("notes_events")).slice(before);
  expect(events.map(({ payload }) => payload)).toEqual([
    '{"text":"a","from":"app"}',
    '{"text":"b","from":"app"}',
    '{"text":"a","from":"app"}',
  ]);
  expect(new Set(events.map(({ dedupeKey }) => dedupeKey.replace(/:\d+$/, ""))).size).toBe(1);
  const kept = (await keptOf("notes_events")).slice(0, 2);
  expect(kept.map(({ reason, detail }) => [reason, detail]).sort()).toEqual([
    ["invalid_payload", "body.data.events[3]: notes_events.noted: payload.text must be string."],
    [
      "no_trigger",
      "body.data.events[2]: No trigger of the toolkit matches the post (it has notes_events.noted). Also in quarantine: [5], [6].",
    ],
  ]);
  const opened = await Promise.all(kept.map(async ({ id }) => (await node.quarantine.find(id))?.post.items));
  expect(opened.map((items) => items?.indexes).sort()).toEqual([[2, 5, 6], [3]]);
});

test("elements of a released post become events once, by the definition of now; the others stay with their places", async () => {
  const slug = "notes_released";
  const strict = toolkit(slug, { each: "body" }, "item", { match: { item: { kind: "note" } }, dedupe: "" });
  const lax = toolkit(slug, { each: "body" }, "item", { match: { item: { kind: ["note", "memo"] } }, dedupe: "" });
  const body = JSON.stringify([
    { kind: "memo", text: "a" },
    { kind: "note", text: "b" },
    { kind: "x" },
    { kind: "memo", text: 1 },
  ]);
  await using before = nodeOf([strict]);
  expect(await before.ingest.accept(post(slug, body))).toMatchObject({ items: 1 });
  const [{ id } = { id: createId("qrn", 0) }] = await keptOf(slug);
  await using after = nodeOf([lax]);
  const stays = { id, outcome: "quarantined", accepted: 1, reason: "no_trigger" };
  expect(await after.quarantine.release(id, { dryRun: true })).toEqual(stays);
  expect((await after.quarantine.find(id))?.post.items?.indexes).toEqual([0, 2, 3]);
  expect(await after.quarantine.release(id, { dryRun: false })).toEqual(stays);
  expect(await after.quarantine.release(id, { dryRun: false })).toEqual({ ...stays, accepted: 0 });
  expect((await after.quarantine.find(id))?.post.items?.indexes).toEqual([2, 3]);
  expect((await eventsOf(slug)).map(({ payload }) => payload)).toEqual(['{"text":"b"}', '{"text":"a"}']);

  // If the definition names another path, it means another list. So all of its elements are read.
  await using moved = nodeOf([toolkit(slug, { each: "body.events" }, "item", { dedupe: "" })]);
  expect(await moved.quarantine.release(id, { dryRun: false })).toMatchObject({ reason: "invalid_payload" });
  await using fixed = nodeOf([toolkit(slug, { each: "body" }, "item", { dedupe: "", payload: { mark: "{{item}}" } })]);
  expect(await fixed.quarantine.release(id, { dryRun: false })).toEqual({
    id,
    outcome: "released",
    accepted: 2,
    reason: "",
  });
  expect((await eventsOf(slug)).length).toBe(4);
  expect(await fixed.quarantine.release(id, { dryRun: false })).toMatchObject({ outcome: "already_released" });
});

test("an unreadable body is released once the definition declares its form", async () => {
  const slug = "notes_fixed";
  await using before = nodeOf([toolkit(slug, {})]);
  const form = post(slug, "text=a+b&id=1", { type: formType });
  expect(await before.ingest.accept(form)).toMatchObject({ reason: "unreadable_body" });
  const [{ id } = { id: createId("qrn", 0) }] = await keptOf(slug);
  expect(await before.quarantine.release(id, { dryRun: false })).toMatchObject({ reason: "unreadable_body" });
  await using after = nodeOf([toolkit(slug, { form: "*" })]);
  expect(await after.quarantine.release(id, { dryRun: false })).toMatchObject({ outcome: "released", accepted: 1 });
  expect((await eventsOf(slug))[0]?.payload).toBe('{"text":"a b"}');
});

test("an element goes to the project that holds its account, and is kept alone if none does", async () => {
  const slug = "notes_owned";
  const reference = { toolkitSlug: slug, projectId: project, accountId: createId("acc", 0), entityId: "ann" };
  await putAccountReferences(cluster.db, [{ ...reference, reference: "o-1" }]);
  const owned = toolkit(slug, { each: "body" }, "item");
  const catalog = catalogOf({
    toolkits: [owned],
    deployment: { toolkits: { [slug]: { webhook: { audience: "accounts" } } } },
  });
  await using accounts = nodeOf([owned], { catalog });
  const body = JSON.stringify([
    { owner: "o-2", text: "a" },
    { owner: "o-1", text: "b" },
  ]);
  expect(await accounts.ingest.accept(post(slug, body))).toEqual({ outcome: "accepted", events: 1, items: 1 });
  expect((await eventsOf(slug)).map(({ entityId, payload }) => [entityId, payload])).toEqual([["ann", '{"text":"b"}']]);
  const [kept] = await keptOf(slug);
  expect(kept?.reason).toBe("no_project");
  await putAccountReferences(cluster.db, [{ ...reference, reference: "o-2", entityId: "bob" }]);
  await using later = nodeOf([owned], { catalog });
  expect(await later.quarantine.release(kept!.id, { dryRun: false })).toMatchObject({
    outcome: "released",
    accepted: 1,
  });
  expect((await eventsOf(slug)).map(({ entityId }) => entityId)).toEqual(["ann", "bob"]);
});

test("a list of 1,000 elements is stored before its answer, and other work goes on meanwhile; 1,001 are kept", async () => {
  const slug = "notes_items";
  const elements = Array.from({ length: 1_001 }, (_, at) => ({ text: `note ${at}`, owner: "o", id: `many-${at}` }));
  const before = (await eventsOf(slug)).length;
  const ticks: number[] = [];
  let isOver = false;
  const tick = () => {
    ticks.push(process.threadCpuUsage().user);
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  expect(await send(slug, JSON.stringify(elements.slice(1)))).toEqual({
    outcome: "accepted",
    events: 1_000,
    items: 1_000,
  });
  isOver = true;
  expect(ticks.length).toBeGreaterThan(20);
  const stored = await eventsOf(slug, 2_000);
  expect(stored.length - before).toBe(1_000);
  expect(await send(slug, JSON.stringify(elements))).toEqual({ outcome: "quarantined", reason: "invalid_payload" });
  expect((await keptOf(slug))[0]?.detail).toBe("body has 1001 elements, and a post may have 1000.");
  expect(await send(slug, "[]")).toEqual({ outcome: "ignored" });
  expect(await send(slug, '{"text":"a"}')).toEqual({ outcome: "quarantined", reason: "invalid_payload" });
  expect((await keptOf(slug))[0]?.detail).toBe("body is not a list.");
});

test("a list of which only the events could be stored is stored whole when it comes again, also at two nodes at once", async () => {
  const slug = "notes_broken";
  const list = post(slug, JSON.stringify([{ kind: "note", text: "a" }, { kind: "x" }, { kind: "note", text: "b" }]));
  const strict = toolkit(slug, { each: "body" }, "item", { match: { item: { kind: "note" } }, dedupe: "" });
  await using first = nodeOf([strict]);
  await using second = nodeOf([strict]);
  await cluster.db.sql`alter table quarantined_posts rename to quarantined_posts_gone`;
  await expect(first.ingest.accept(list)).rejects.toThrow();
  await cluster.db.sql`alter table quarantined_posts_gone rename to quarantined_posts`;
  expect((await eventsOf(slug)).length).toBe(2);
  const accepted = { outcome: "accepted", events: 2, items: 2 };
  expect(await Promise.all([first.ingest.accept(list), second.ingest.accept(list)])).toEqual([accepted, accepted]);
  expect((await eventsOf(slug)).length).toBe(2);
  // Each post keeps the elements that failed. Its events have the same dedupe key, so a second post adds none.
  const kept = await keptOf(slug);
  const releases = await Promise.all(kept.map(({ id }) => first.quarantine.release(id, { dryRun: true })));
  expect(releases.map(({ reason }) => reason)).toEqual(["no_trigger", "no_trigger"]);
  await using lax = nodeOf([toolkit(slug, { each: "body" }, "item", { dedupe: "" })]);
  for (const { id } of kept) await lax.quarantine.release(id, { dryRun: false });
  expect((await eventsOf(slug)).length).toBe(3);
});

test("a project that has room for the first element of a list receives the whole list, and waits for the next post", async () => {
  const slug = "notes_quota";
  await using own = await createTestCluster();
  const rows = Array.from({ length: 250 }, (_, at) => ({ text: `${at}`, id: `q${at}` }));
  const policy = { planApproval: "never", redirectUrls: [], quotas: { posts: 2 } } as const;
  await setProjectPolicy(own.db, await own.project(), { ...policy, redirectUrls: [] });
  const catalog = catalogOf({ toolkits: [toolkit(slug, { each: "body" }, "item")] });
  await using limited = createTestNode(own, { catalog, secretOf: () => secret });
  const list = post(slug, JSON.stringify(rows));
  expect(await limited.ingest.accept(list)).toEqual({ outcome: "accepted", events: 250, items: 250 });
  expect(await limited.ingest.accept(list)).toMatchObject({ outcome: "over_quota" });
  own.clock.advance(3_000);
  expect(await limited.ingest.accept(list)).toEqual({ outcome: "accepted", events: 250, items: 250 });
  expect([await own.count("events"), await own.count("quarantined_posts")]).toEqual([250, 0]);
});

test("elements that repeat a large field of the body make no more than eight bodies of payloads; the others are kept", async () => {
  const slug = "notes_large";
  await using large = nodeOf([
    toolkit(slug, { each: "body.events" }, "item", {
      dedupe: "",
      payload: { text: "{{item}}", from: "{{body.from}}" },
    }),
  ]);
  const body = JSON.stringify({ from: "f".repeat(500_000), events: Array.from({ length: 30 }, (_, at) => `e${at}`) });
  expect(await large.ingest.accept(post(slug, body))).toMatchObject({ outcome: "accepted", items: 16 });
  const [kept] = await keptOf(slug);
  expect((await large.quarantine.find(kept!.id))?.post.items?.indexes.length).toBe(14);
  expect(await large.quarantine.release(kept!.id, { dryRun: false })).toMatchObject({
    outcome: "released",
    accepted: 14,
  });
});
