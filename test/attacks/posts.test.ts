import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addProject } from "../tools/project.ts";
import { type PostAnswer, postToLedger, writeLedgerApp } from "./ledger-app.ts";
import { rounds } from "./rounds.ts";

let definitions: Awaited<ReturnType<typeof writeLedgerApp>>;
let server: TestServer;
let next = 0;

beforeAll(async () => {
  definitions = await writeLedgerApp("http://127.0.0.1:9");
  server = await startTestServer({ variables: definitions.variables });
});
afterAll(async () => {
  await server?.stop();
  await definitions[Symbol.asyncDispose]();
});

/** Returns the text of a new post. */
const entryText = (fields: object = {}) => JSON.stringify({ kind: "entry", owner: "o", id: ++next, ...fields });
const statusAndText = ({ status, text }: PostAnswer) => [status, text];
const stored = [202, '{"accepted":1}'];
const kept = [202, '{"accepted":0}'];

async function newest(): Promise<{ payloadJson: string; occurredAt: string; receivedAt: string }> {
  const { json } = await server.call("svc.v1.TriggersService/ListEvents", { toolkitSlug: "ledger", pageSize: 1 });
  return json.events[0];
}

test.each([
  ["2026-01-02 03:04:05", "2026-01-02T03:04:05Z"],
  ["Fri, 02 Jan 2026 03:04:05 +0100", "2026-01-02T02:04:05Z"],
  ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"],
  ["1969-07-20T20:17:40Z", "1969-07-20T20:17:40Z"],
  ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"],
  [-14_182_940, "1969-07-20T20:17:40Z"],
  ["yesterday", undefined],
  ["31 Foo 2026", undefined],
  [{ a: [1] }, undefined],
  [1e300, undefined],
])("a time such as %j keeps no event out", async (at, expected) => {
  expect(statusAndText(await postToLedger(server, entryText({ at })))).toEqual(stored);
  const { occurredAt, receivedAt } = await newest();
  expect(occurredAt).toBe(expected ?? receivedAt);
});

test("a compressed post is verified over its raw bytes and decoded; a byte order mark is skipped", async () => {
  const encoders = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync };
  for (const [encoding, encode] of Object.entries(encoders)) {
    const body = encode(Buffer.from(`\ufeff${entryText()}`));
    const headers = { "content-encoding": encoding };
    expect(statusAndText(await postToLedger(server, body, { headers })), encoding).toEqual(stored);
    expect(JSON.parse((await newest()).payloadJson)).toEqual({ id: next });
    expect((await postToLedger(server, body, { headers, secret: "wrong" })).status).toBe(401);
  }
  const plain = await postToLedger(server, entryText(), { headers: { "content-encoding": "identity" } });
  expect(statusAndText(plain)).toEqual(stored);
});

test("a bomb ends at the bound of a body, and an encoding that is not read is refused, before anything is stored", async () => {
  const bomb = gzipSync(Buffer.alloc(100_000_000, " "), { level: 9 });
  expect(bomb.byteLength).toBeLessThan(200_000);
  for (let round = 0; round < rounds; round++) {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => postToLedger(server, bomb, { headers: { "content-encoding": "gzip" } })),
    );
    for (const { status, text } of answers) {
      expect([413, 503]).toContain(status);
      expect(text).toMatch(/BODY_TOO_LARGE|NODE_OVERLOADED/);
    }
  }
  for (const encoding of ["zstd", "compress", "gzip, aes128gcm", "gzip,gzip,gzip,gzip"]) {
    const { status, text, headers } = await postToLedger(server, entryText(), {
      headers: { "content-encoding": encoding },
    });
    expect(status, encoding).toBe(415);
    expect(text).toContain("CONTENT_ENCODING_UNSUPPORTED");
    expect(headers.get("accept-encoding")).toBe("gzip, deflate, br");
  }
  expect(statusAndText(await postToLedger(server, entryText()))).toEqual(stored);
  // This post is signed but not compressed as it claims, so it is kept in quarantine.
  const broken = await postToLedger(server, entryText(), { headers: { "content-encoding": "br" } });
  expect(statusAndText(broken)).toEqual(kept);
});

test("a provider is told 1 or 0, however many projects receive its post", async () => {
  for (let project = 0; project < 3; project++) {
    const text = entryText();
    expect(statusAndText(await postToLedger(server, text))).toEqual(stored);
    expect(statusAndText(await postToLedger(server, text))).toEqual(stored);
    await addProject(server, `tenant-${project}`);
  }
  expect(statusAndText(await postToLedger(server, '{"kind":"other"}'))).toEqual(kept);
});

test("a quarantined post stands nowhere in the clear, and its detail quotes nothing of it", async () => {
  const planted = "PLANTED-9e2b";
  const bodies = [
    { kind: planted, secret: planted },
    { kind: "entry", id: planted, owner: planted },
    { kind: "entry", id: 1, labels: { [planted]: planted } },
    { kind: "entry", id: 1, labels: [{ [planted]: 1 }], amount: planted },
    { kind: "entry", id: 1, owner: { [planted]: planted } },
    { kind: "entry", id: 1, owner: planted.repeat(100) },
  ];
  for (const body of bodies) {
    const options = { headers: { "x-planted": planted, [planted]: "1" }, query: `?${planted}=${planted}` };
    expect(statusAndText(await postToLedger(server, JSON.stringify(body), options))).toEqual(kept);
  }
  const rows = await server.database.db.sql<{ row: string }[]>`select q::text as row from quarantined_posts q`;
  expect(rows.length).toBeGreaterThanOrEqual(bodies.length);
  const forms = [planted, planted.toLowerCase()].flatMap((text) => [text, Buffer.from(text).toString("hex")]);
  for (const { row } of rows) for (const form of forms) expect(row).not.toContain(form);
  expect(server.logs.join("")).not.toContain(planted);

  const { json } = await server.admin("ListQuarantinedPosts", { toolkitSlug: "ledger" });
  const own = (json.posts as { id: string; detail: string; headers: object; query: object }[]).slice(0, bodies.length);
  for (const { detail, headers, query } of own) {
    expect(detail).not.toBe("");
    expect(detail).not.toContain("PLANTED");
    // The administrator can read the whole post.
    expect(headers).toMatchObject({ "x-planted": planted });
    expect(query).toEqual({ [planted]: planted });
  }
  const { json: got } = await server.admin("GetQuarantinedPost", { id: own[0]?.id });
  expect(Buffer.from(got.body, "base64").toString()).toBe(JSON.stringify(bodies.at(-1)));
});

test("who subscribes to a toolkit without triggers is warned, and hosts that no name system has are refused", async () => {
  const subscribe = (request: object) =>
    server.call("svc.v1.TriggersService/CreateSubscription", { endpointUrl: "https://example.com/hook", ...request });
  const silent = await subscribe({ toolkitSlug: "silent" });
  expect(silent.json).toMatchObject({
    subscription: { active: true },
    warnings: [expect.stringContaining("no triggers")],
  });
  expect((await subscribe({ toolkitSlug: "ledger" })).json.warnings).toEqual([]);
  for (const host of ["a..b", "-", "-a.example", "a-.example", "example..", `${"a".repeat(64)}.example`]) {
    const refused = await subscribe({ endpointUrl: `https://${host}/hook` });
    expect([refused.status, refused.reason], host).toEqual([400, "ENDPOINT_URL_INVALID"]);
  }
});
