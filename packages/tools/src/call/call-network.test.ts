import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { createId, type ProjectId, systemClock } from "@svc/core";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import { catalogOf, type ToolkitSource } from "@svc/testing/catalog";
import { createTestDatabase } from "@svc/testing/database";
import { createTestNode, testSealer } from "@svc/testing/node";
import { afterAll, afterEach, expect, test } from "vitest";
import { answerOf } from "../service/call-request.ts";
import type { CallRequest } from "./call-request.ts";
import { addProject } from "./test-node.ts";
import { deskToolkit } from "./test-toolkits.ts";

// Tests of calls over the real transport and with real accounts, against a server that counts its requests.

const { db, drop } = await createTestDatabase();
afterAll(drop);

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

type Seen = { method: string; url: string; headers: IncomingMessage["headers"]; body: string };
type Reaction = (res: ServerResponse, req: IncomingMessage) => void;

/** Starts an app on its own port. It reacts as its script says, and after that answers with a ticket. */
async function startApp(...script: Reaction[]) {
  const seen: Seen[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const { method = "", url = "", headers } = req;
    seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    const react = script.shift() ?? reply(200, '{"id":"t1"}');
    react(res, req);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const reply =
  (status: number, body = "", headers: Record<string, string> = {}): Reaction =>
  (res) =>
    void res.writeHead(status, headers).end(body);
const hangUp: Reaction = (_res, req) => req.socket.destroy();
const hangUpInside: Reaction = (res, req) => {
  res.writeHead(200, { "content-length": "100" });
  res.write('{"id":', () => req.socket.destroy());
};

/** Returns a node that sends its calls over the network to the app at `url`. */
function createNode(url: string) {
  const source: ToolkitSource = {
    ...deskToolkit,
    toolkit: { ...deskToolkit.toolkit, baseUrl: "{{deployment.provider_base_url}}" },
  };
  const catalog = catalogOf({ toolkits: [source], deployment: { toolkits: { desk: { provider_base_url: url } } } });
  const observer = { callUnrecorded: () => expect.unreachable() };
  const node = createTestNode(db, { clock: systemClock, catalog, observer });
  open.push(async () => node[Symbol.asyncDispose]());
  return node.apps.caller;
}

/** Creates a project in which the entity `ann` has an account of the test app. */
async function connect(): Promise<ProjectId> {
  const projectId = await addProject(db);
  const id = createId("acc", 1);
  const credential = Buffer.from(JSON.stringify({ scheme: "api_key", key: "planted-key" }));
  await connectedAccountsForProject(db, projectId).create({
    id,
    toolkitSlug: "desk",
    isPrivate: false,
    isSandbox: false,
    entityId: "ann",
    scheme: "api_key",
    state: "active",
    variables: {},
    credential: testSealer.seal(credential, `${projectId}/connected_accounts/${id}`),
    originDigest: null,
    grantedScopes: [],
    references: [],
    lastError: "",
    createdAt: 1,
    updatedAt: 1,
    expiresAt: null,
    refreshAt: null,
    refreshLeaseUntil: null,
  });
  return projectId;
}

async function callOf(script: Reaction[], tool: string, changes: Partial<CallRequest> = {}) {
  const app = await startApp(...script);
  const projectId = await connect();
  const node = createNode(app.url);
  const call = async () =>
    answerOf(
      await node.call({
        caller: { projectId, keyId: undefined },
        toolSlug: `desk.${tool}`,
        args: tool === "read_ticket" ? { id: "t 1" } : { id: "t1", text: "hi" },
        entityId: "ann",
        accountId: undefined,
        idempotencyKey: undefined,
        isDryRun: false,
        ...changes,
      }),
    );
  return { app, call, result: (await call()).result };
}

test("a request is as the definition declares, with the account's credential in its place", async () => {
  const { app, result } = await callOf([], "add_note");
  expect(result).toMatchObject({ outcome: "ok", value: { id: "t1" }, providerStatus: 200 });
  expect(app.seen).toMatchObject([
    {
      method: "POST",
      url: "/tickets/t1/notes",
      headers: { authorization: "Bearer planted-key", "content-type": "application/json", accept: "application/json" },
      body: '{"text":"hi"}',
    },
  ]);
});

test.each([
  ["a cut connection", hangUp],
  ["an answer that breaks off", hangUpInside],
])("a write is sent once, and is in doubt, after %s", async (_name, reaction) => {
  const { app, call, result } = await callOf([reaction], "add_note", { idempotencyKey: "k" });
  expect([result.outcome, result.retryable, app.seen.length]).toEqual(["outcome_unknown", false, 1]);
  expect(await call()).toMatchObject({ isReplay: true, result: { outcome: "outcome_unknown" } });
  expect(app.seen).toHaveLength(1);
});

test.each([
  [429, "rate_limited"],
  [401, "account_unusable"],
  [503, "provider_error"],
])("a write is sent once when the app answers %d", async (status, outcome) => {
  const { app, result } = await callOf([reply(status, "", { "retry-after": "7" })], "add_note");
  expect([result.outcome, app.seen.length]).toEqual([outcome, 1]);
  if (status === 429) expect(result.retryAfterMs).toBe(7_000);
});

test.each([hangUp, hangUpInside, reply(429), reply(502), reply(503), reply(504)])(
  "a read is sent again once (%#)",
  async (reaction) => {
    const { app, result } = await callOf([reaction], "read_ticket");
    expect([result.outcome, app.seen.length]).toEqual(["ok", 2]);
    expect(app.seen[1]).toEqual(app.seen[0]);
    const twice = await callOf([reaction, reaction], "read_ticket");
    expect([twice.result.outcome === "ok", twice.app.seen.length]).toEqual([false, 2]);
  },
);

test("a write whose app takes a key is repeated once after a cut connection, with the same key", async () => {
  const { app, result } = await callOf([hangUp], "charge");
  expect([result.outcome, app.seen.length]).toEqual(["ok", 2]);
  expect(app.seen[0]?.headers["idempotency-key"]).toMatch(/^[0-9a-f]{40}$/);
  expect(app.seen[1]).toEqual(app.seen[0]);
});

test("an app that is not there is unreachable, and nothing is in doubt", async () => {
  const app = await startApp();
  for (const close of open.splice(0)) await close();
  const projectId = await connect();
  const called = await createNode(app.url).call({
    caller: { projectId, keyId: undefined },
    toolSlug: "desk.add_note",
    args: { id: "t1", text: "hi" },
    entityId: "ann",
    accountId: undefined,
    idempotencyKey: undefined,
    isDryRun: false,
  });
  const { result } = answerOf(called);
  expect(result).toMatchObject({ outcome: "unreachable", retryable: true });
});

test("a redirect of a write is not followed, and an answer of more than 8 MiB is cut off", async () => {
  const moved = await callOf([reply(307, "", { location: "/elsewhere" })], "add_note");
  expect(moved.result).toMatchObject({ outcome: "provider_error", providerStatus: 307 });
  expect(moved.app.seen).toHaveLength(1);
  const large = await callOf([reply(200, JSON.stringify({ id: "x".repeat(9 * 1024 * 1024) }))], "read_ticket");
  expect(large.result).toMatchObject({ outcome: "provider_error", message: expect.stringContaining("8 MiB") });
  const taken = await callOf([reply(200, JSON.stringify({ id: "x".repeat(9 * 1024 * 1024) }))], "add_note");
  expect(taken.result).toMatchObject({
    outcome: "ok",
    retryable: false,
    warnings: [expect.stringContaining("cut off")],
  });
});

test("a write that the app accepts without a JSON answer is sent once, however often it is requested", async () => {
  const { app, call, result } = await callOf([reply(201, "<p>thanks</p>")], "add_note", { idempotencyKey: "k1" });
  expect(result).toMatchObject({
    outcome: "ok",
    providerStatus: 201,
    warnings: [expect.stringContaining("output_mismatch")],
  });
  expect((await call()).result.outcome).toBe("ok");
  expect(app.seen).toHaveLength(1);
});

test("an app is asked for compressed answers, and they are read", async () => {
  for (const [coding, body] of [
    ["gzip", gzipSync('{"id":"t1"}')],
    ["deflate", deflateSync('{"id":"t1"}')],
    ["br", brotliCompressSync('{"id":"t1"}')],
  ] as const) {
    const { app, result } = await callOf(
      [(res) => void res.writeHead(200, { "content-encoding": coding }).end(body)],
      "add_note",
    );
    expect(result).toMatchObject({ outcome: "ok", warnings: [] });
    expect(app.seen[0]?.headers["accept-encoding"]).toBe("gzip, deflate, br");
  }
});

test("a credential that the app quotes back is in no message and no unsealed column", async () => {
  const { result } = await callOf([reply(403, '{"error":"key planted-key may not"}')], "add_note");
  expect(result.message).toBe('the app answered 403: {"error":"key *** may not"}');
  const [dump] = await db.sql`select string_agg(t::text, ' ') as text from tool_calls t`;
  expect(JSON.stringify(dump)).not.toContain("planted");
});
