import { readAnswer } from "@svc/testing/server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { StoreLateError } from "../store-deadline.ts";
import { answers, jsonOf, listEvents, startTestMcp, type TestMcp } from "./test-mcp.ts";

let mcp: TestMcp;
beforeAll(async () => {
  mcp = await startTestMcp();
});
afterAll(() => mcp.stop());
beforeEach(() => mcp.reset());

const version = "2026-07-28";
const own = {
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Sends a request that has everything that the revision requires, with the changes of the test. */
function ask(
  method: string,
  params: Record<string, unknown> = {},
  { meta = {}, headers = {} }: { meta?: object; headers?: Record<string, string | undefined> } = {},
): Promise<Response> {
  const name = typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {};
  const all = { "mcp-protocol-version": version, "mcp-method": method, ...name, ...headers };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const body = { jsonrpc: "2.0", id: 7, method, params: { _meta: { ...own, ...meta }, ...params } };
  return mcp.post(body, Object.fromEntries(given));
}

test("a client learns of the server before it asks for anything, and may keep that for itself", async () => {
  const { result } = await jsonOf(ask("server/discover"));
  expect(result).toEqual({
    resultType: "complete",
    supportedVersions: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"],
    capabilities: {
      ...{ tools: {}, events: {}, resources: {} },
      extensions: { "io.modelcontextprotocol/tasks": {}, "io.modelcontextprotocol/skills": {} },
    },
    instructions: expect.stringContaining("search_tools"),
    ttlMs: 300_000,
    cacheScope: "private",
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "svc", title: "svc tools", version: "1.2.3" } },
  });
});

test("tools are listed and called without a handshake; lists may be kept, calls may not", async () => {
  const { result: list } = await jsonOf(ask("tools/list"));
  expect(list).toMatchObject({ resultType: "complete", ttlMs: 300_000, cacheScope: "private" });
  expect(list.tools).toHaveLength(4);
  mcp.app = async () => answers({ items: [] });
  const { id, result } = await jsonOf(ask("tools/call", { name: "read_tool", arguments: listEvents }));
  expect(id).toBe(7);
  expect(result).toMatchObject({ resultType: "complete", isError: false, structuredContent: { outcome: "ok" } });
  expect(result).not.toHaveProperty("ttlMs");
});

const call = { name: "describe_tool", arguments: { slug: listEvents.slug } };
const clientKey = "io.modelcontextprotocol/clientCapabilities";
const versionKey = "io.modelcontextprotocol/protocolVersion";

test.each([
  ["no version in the headers", {}, { "mcp-protocol-version": undefined }, 400, -32_020],
  ["another version in the message", { [versionKey]: "2027-01-01" }, {}, 400, -32_020],
  ["no version in the message", { [versionKey]: undefined }, {}, 400, -32_602],
  ["a version that is no text", { [versionKey]: 5 }, {}, 400, -32_602],
  ["a version of the future", { [versionKey]: "2027-01-01" }, { "mcp-protocol-version": "2027-01-01" }, 400, -32_022],
  ["nothing of what the client can be asked", { [clientKey]: undefined }, {}, 400, -32_602],
  ["no method in the headers", {}, { "mcp-method": undefined }, 400, -32_020],
  ["another method in the headers", {}, { "mcp-method": "tools/list" }, 400, -32_020],
  ["a method in another case", {}, { "mcp-method": "Tools/Call" }, 400, -32_020],
  ["no name in the headers", {}, { "mcp-name": undefined }, 400, -32_020],
  ["another name in the headers", {}, { "mcp-name": "call_tool" }, 400, -32_020],
  ["a name in Base64 that is none", {}, { "mcp-name": "=?base64?ZGVzY3Jp!?=" }, 400, -32_020],
])("%s: refused, with the request's id", async (_what, meta, headers, status, code) => {
  const res = await ask("tools/call", call, { meta, headers });
  expect([res.status, await jsonOf(res)]).toMatchObject([status, { id: 7, error: { code } }]);
});

test("a name may come in Base64", async () => {
  const name = `=?base64?${Buffer.from("describe_tool").toString("base64")}?=`;
  const { result } = await jsonOf(ask("tools/call", call, { headers: { "mcp-name": name } }));
  expect(result.structuredContent.slug).toBe(listEvents.slug);
});

test.each(["ping", "initialize", "logging/setLevel", "prompts/list", "constructor", "nope"])(
  "the method %s is none of this revision",
  async (method) => {
    const res = await ask(method);
    expect([res.status, await jsonOf(res)]).toMatchObject([404, { id: 7, error: { code: -32_601 } }]);
  },
);

test.each([
  ["an unknown tool", { name: "nope" }],
  ["a name that is no text", { name: 5 }],
  ["arguments in a list", { name: "describe_tool", arguments: [] }],
])("%s is an error of the request alone", async (_what, params) => {
  const res = await ask("tools/call", params);
  expect([res.status, await jsonOf(res)]).toMatchObject([200, { id: 7, error: { code: -32_602 } }]);
});

test.each([
  ["a batch", [{ jsonrpc: "2.0", id: 1, method: "tools/list" }]],
  ["an answer", { jsonrpc: "2.0", id: 1, result: {} }],
  ["half a text", "{"],
])("%s is refused without an id", async (_what, body) => {
  const res = await mcp.post(body, { "mcp-protocol-version": version });
  const answer = await jsonOf(res);
  expect([res.status, answer]).toMatchObject([400, { error: { code: expect.any(Number) } }]);
  expect(answer).not.toHaveProperty("id");
});

test("a notification is taken without an answer", async () => {
  const body = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } };
  const res = await mcp.post(body, { "mcp-protocol-version": version });
  expect([res.status, await res.text()]).toEqual([202, ""]);
});

test("a handshake is answered in the older revision, regardless of its header", async () => {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "old", version: "1" } };
  const body = { jsonrpc: "2.0", id: 1, method: "initialize", params };
  const res = await mcp.post(body, { "mcp-protocol-version": "2025-11-25" });
  expect((await jsonOf(res)).result.protocolVersion).toBe("2025-11-25");
});

test("an unavailable database gives 503", async () => {
  mcp.storeFault = new StoreLateError(1);
  const res = await ask("tools/call", { name: "search_tools", arguments: { query: "x" } });
  expect(await readAnswer(res)).toMatchObject({ status: 503, reason: "STORE_UNAVAILABLE" });
});

test("a request's trace is reported with it if it is valid", async () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
  await ask("tools/list", {}, { meta: { traceparent } });
  await ask("tools/list", {}, { meta: { traceparent: "anything" } });
  expect(mcp.calls.map((call) => [call.method, call.traceparent])).toEqual([
    ["mcp/tools/list", traceparent],
    ["mcp/tools/list", undefined],
  ]);
});
