import { getEventListeners } from "node:events";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { toolCallsForProject } from "@svc/db/calls/repo";
import { readAnswer } from "@svc/testing/server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { StoreLateError } from "../store-deadline.ts";
import {
  answers,
  bearers,
  jsonOf,
  listEvents,
  type McpAppAnswer,
  rpc,
  startTestMcp,
  type TestMcp,
  toolCall,
} from "./test-mcp.ts";

let mcp: TestMcp;
beforeAll(async () => {
  mcp = await startTestMcp();
});
afterAll(() => mcp.stop());
beforeEach(() => mcp.reset());

test("an unavailable database gives 503, before and after the key is known", async () => {
  expect(await readAnswer(await mcp.post(rpc(1, "ping"), { authorization: "Bearer away" }))).toMatchObject({
    status: 503,
    reason: "STORE_UNAVAILABLE",
  });
  mcp.storeFault = new StoreLateError(1);
  const res = await mcp.post(toolCall(1, "search_tools", { query: "x" }));
  expect(res.headers.get("retry-after")).toBe("5");
  expect(await readAnswer(res)).toMatchObject({ status: 503, reason: "STORE_UNAVAILABLE" });
});

test("a batch keeps its answers if the database is unavailable for one of them", async () => {
  mcp.storeFault = new StoreLateError(1);
  const res = await mcp.post([rpc(1, "ping"), toolCall(2, "search_tools", { query: "x" })]);
  expect([res.status, await jsonOf(res)]).toEqual([
    200,
    [
      { jsonrpc: "2.0", id: 1, result: {} },
      expect.objectContaining({ id: 2, result: expect.objectContaining({ isError: true }) }),
    ],
  ]);
});

test.each(["2025-06-18", "2025-03-26", "2024-11-05"])(
  "the protocol of %s is spoken to who asks for it",
  async (version) => {
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "old", version: "1" } };
    const res = await mcp.post(rpc(1, "initialize", params));
    expect(res.headers.get("mcp-session-id")).toBeNull();
    expect((await jsonOf(res)).result.protocolVersion).toBe(version);
    const list = await mcp.post(rpc(2, "tools/list"), { "mcp-protocol-version": version });
    expect((await jsonOf(list)).result.tools).toHaveLength(4);
  },
);

test("an unknown version is answered with the latest, and refused as a header", async () => {
  const params = { protocolVersion: "1999-01-01", capabilities: {}, clientInfo: { name: "odd", version: "1" } };
  expect((await jsonOf(mcp.post(rpc(1, "initialize", params)))).result.protocolVersion).toBe("2025-11-25");
  const res = await mcp.post(rpc(2, "tools/list"), { "mcp-protocol-version": "1999-01-01" });
  expect([res.status, (await jsonOf(res)).error]).toEqual([
    400,
    {
      code: -32_022,
      message: "Unsupported protocol version",
      data: { supported: expect.arrayContaining(["2026-07-28", "2025-11-25"]), requested: "1999-01-01" },
    },
  ]);
});

test.each(["2026-07-28", "2027-03-01", "2026-06-18", "banana", ""])(
  "a handshake is agreed on whatever version it names (%j), in its header too",
  async (version) => {
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "new", version: "1" } };
    for (const named of [params, { ...params, _meta: { "io.modelcontextprotocol/protocolVersion": "2027-03-01" } }]) {
      const res = await mcp.post(
        rpc(1, "initialize", named),
        version === "" ? {} : { "mcp-protocol-version": version },
      );
      const answer = await jsonOf(res);
      expect([res.status, answer.id, answer.result.protocolVersion]).toEqual([200, 1, "2025-11-25"]);
    }
  },
);

test("a refusal has the id of its request", async () => {
  const future = { "mcp-protocol-version": "2027-03-01" };
  const named = { _meta: { "io.modelcontextprotocol/protocolVersion": "2025-06-18" } };
  const refusals: [unknown, Record<string, string>][] = [
    [rpc(7, "tools/list"), future],
    [rpc(7, "tools/list", named), future],
    [{ ...rpc(7, "tools/list"), params: [] }, {}],
    [{ id: 7, method: "tools/list" }, {}],
    [{ id: 7, method: "tools/list" }, future],
  ];
  for (const [body, headers] of refusals) {
    const res = await mcp.post(body, headers);
    const answer = await jsonOf(res);
    expect([res.status, answer.id, answer.error.code]).toEqual([400, 7, expect.any(Number)]);
  }
});

test("a compressed body is read, within its bounds, and another coding is refused", async () => {
  const call = JSON.stringify(rpc(1, "ping"));
  for (const [coding, body] of [
    ["gzip", gzipSync(call)],
    ["br", brotliCompressSync(call)],
  ] as const)
    expect((await jsonOf(mcp.post(body, { "content-encoding": coding }))).result).toEqual({});
  const bomb = gzipSync(JSON.stringify(rpc(1, "ping", { x: "x".repeat(100_000) })));
  expect(await readAnswer(await mcp.post(bomb, { "content-encoding": "gzip" }))).toMatchObject({ status: 413 });
  expect(await readAnswer(await mcp.post(call, { "content-encoding": "zstd" }))).toMatchObject({ status: 415 });
  expect(await readAnswer(await mcp.post(call, { "content-encoding": "gzip" }))).toMatchObject({ status: 400 });
});

test("a body that is not text of its charset is no JSON, and one of another charset is read", async () => {
  const call = Buffer.from(JSON.stringify(toolCall(1, "search_tools", { query: "caf\u00e9" })), "latin1");
  expect((await jsonOf(mcp.post(call))).error).toMatchObject({
    code: -32_700,
    message: expect.stringContaining("UTF-8"),
  });
  const declared = await mcp.post(call, { "content-type": "application/json; charset=iso-8859-1" });
  expect((await jsonOf(declared)).result.isError).not.toBe(true);
});

test("an unknown caller gets the HTTP hint for authorization before the body is read", async () => {
  const none = await fetch(mcp.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "no json",
  });
  const place = `resource_metadata="${new URL(mcp.url).origin}/.well-known/oauth-protected-resource/mcp"`;
  const ask = `${place}, scope="read write"`;
  expect([none.status, none.headers.get("www-authenticate")]).toEqual([401, `Bearer ${ask}`]);
  expect((await readAnswer(none)).reason).toBe("API_KEY_MISSING");
  const wrong = await mcp.post("no json", { authorization: "Bearer wrong" });
  expect(wrong.headers.get("www-authenticate")).toBe(`Bearer error="invalid_token", ${ask}`);
  expect(await readAnswer(wrong)).toMatchObject({ status: 401, reason: "API_KEY_INVALID" });
  expect(await readAnswer(await mcp.post("{}", { authorization: `Bearer ${bearers.admin}` }))).toMatchObject({
    status: 403,
    reason: "ROLE_REQUIRED",
  });
});

test.each(["GET", "DELETE", "PUT", "OPTIONS"])("%s is 405 and names POST", async (method) => {
  const res = await fetch(mcp.url, { method, headers: { authorization: `Bearer ${bearers.project}` } });
  expect([res.status, res.headers.get("allow")]).toEqual([405, "POST"]);
});

test.each([
  ["no JSON", "{", -32_700],
  ["an empty body", "", -32_700],
  ["no message", '{"jsonrpc":"2.0"}', -32_600],
  ["an id that is no id", '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32_600],
  ["what is nested beyond reason", "[".repeat(3_000) + "]".repeat(3_000), -32_700],
  ["an empty batch", "[]", -32_600],
  ["a batch of one id", JSON.stringify([rpc(1, "ping"), rpc(1, "ping")]), -32_600],
  ["a batch of 101", JSON.stringify(Array.from({ length: 101 }, (_, id) => rpc(id, "ping"))), -32_600],
])("%s is 400 with an error of the protocol", async (_name, body, code) => {
  const res = await mcp.post(body);
  expect([res.status, await jsonOf(res)]).toEqual([
    400,
    { jsonrpc: "2.0", id: null, error: { code, message: expect.any(String) } },
  ]);
});

test("unknown methods are refused by the protocol, and notifications accepted without an answer", async () => {
  expect(await jsonOf(mcp.post(rpc(1, "prompts/list")))).toMatchObject({ id: 1, error: { code: -32_601 } });
  const res = await mcp.post({ jsonrpc: "2.0", method: "notifications/initialized" });
  expect([res.status, await res.text()]).toEqual([202, ""]);
});

test("a batch is answered whole, also with a cancellation in it", async () => {
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } };
  const res = await mcp.post([rpc(1, "ping"), toolCall(2, "describe_tool", { slug: "calendar.get_event" }), cancel]);
  expect((await jsonOf(res)).map(({ id }: { id: number }) => id)).toEqual([1, 2]);
});

test.each(["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])(
  "the content type %j is 415",
  async (type) => {
    expect(await readAnswer(await mcp.post("{}", { "content-type": type }))).toMatchObject({
      status: 415,
      reason: "CONTENT_TYPE_UNSUPPORTED",
    });
  },
);

test("a body over the limit is 413", async () => {
  expect(await readAnswer(await mcp.post(" ".repeat(8_193)))).toMatchObject({ status: 413, reason: "BODY_TOO_LARGE" });
});

test("a client that accepts JSON alone is served", async () => {
  expect((await mcp.post(rpc(1, "ping"), { accept: "application/json" })).status).toBe(200);
});

test("an exchange ends with its time, with 504", async () => {
  const { promise, resolve } = Promise.withResolvers<McpAppAnswer>();
  mcp.app = () => promise;
  const answer = await readAnswer(await mcp.post(toolCall(1, "call_tool", listEvents)));
  resolve(answers({}));
  expect(answer).toMatchObject({ status: 504, reason: "DEADLINE_EXCEEDED" });
});

const anyCall = {
  toolSlug: undefined,
  entityId: undefined,
  outcome: undefined,
  sinceMs: undefined,
  untilMs: undefined,
};

test("a client that disconnects ends its exchange; the call continues to its outcome", async () => {
  const asked = Promise.withResolvers<void>();
  const { promise, resolve } = Promise.withResolvers<McpAppAnswer>();
  mcp.app = () => {
    asked.resolve();
    return promise;
  };
  const gone = new AbortController();
  const fetching = fetch(mcp.url, {
    method: "POST",
    headers: { authorization: `Bearer ${bearers.project}`, "content-type": "application/json" },
    body: JSON.stringify(toolCall(1, "call_tool", { ...listEvents, entity_id: "leaver" })),
    signal: gone.signal,
  });
  await asked.promise;
  gone.abort();
  await expect(fetching).rejects.toThrow();
  await expect.poll(() => mcp.calls.map(({ code }) => code)).toEqual(["canceled"]);
  resolve(answers({}));
  const ledger = toolCallsForProject(mcp.database.db, mcp.projectId);
  const newest = () => ledger.list(anyCall, { after: undefined, limit: 1 });
  await expect.poll(newest).toMatchObject([{ toolSlug: listEvents.slug, entityId: "leaver", outcome: "ok" }]);
});

test("each POST is reported with its request, caller and outcome", async () => {
  await mcp.post(toolCall(1, "call_tool", { slug: "nope" }));
  await mcp.post(toolCall(1, "search_tools", { query: "x" }), { "x-request-id": "mine" });
  await mcp.post(rpc(1, "tools/list"));
  await mcp.post("{");
  await mcp.post(rpc(1, "ping"), { authorization: "Bearer wrong" });
  expect(mcp.calls.map(({ method, code }) => [method, code])).toEqual([
    ["mcp/call_tool", "not_found"],
    ["mcp/search_tools", "ok"],
    ["mcp/tools/list", "ok"],
    ["mcp/other", "invalid_argument"],
    ["mcp/other", "unauthenticated"],
  ]);
  expect(mcp.calls[1]).toMatchObject({ requestId: "mine", principal: { projectId: mcp.projectId } });
});

test("an exchange leaves no resources behind", async () => {
  await Promise.all(Array.from({ length: 20 }, () => mcp.post(rpc(1, "tools/list")).then((res) => res.text())));
  await expect.poll(() => getEventListeners(mcp.shutdown.signal, "abort").length).toBe(0);
});

test("an exchange under way when the node stops may have had its effect; what comes after is 503", async () => {
  const asked = Promise.withResolvers<void>();
  const { promise, resolve } = Promise.withResolvers<McpAppAnswer>();
  mcp.app = () => {
    asked.resolve();
    return promise;
  };
  const posting = mcp.post(toolCall(1, "call_tool", listEvents));
  await asked.promise;
  mcp.shutdown.abort();
  const ended = await readAnswer(await posting);
  expect(ended).toMatchObject({ status: 504, code: "deadline_exceeded", reason: "DEADLINE_EXCEEDED" });
  expect(JSON.stringify(ended.json)).not.toContain("same request");
  expect(await readAnswer(await mcp.post(rpc(1, "ping")))).toMatchObject({ status: 503, reason: "SHUTTING_DOWN" });
  resolve(answers({}));
});
