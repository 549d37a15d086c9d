import { createMCPClient } from "@ai-sdk/mcp";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FormerClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FormerTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../tools/project.ts";

// The MCP clients of docs/guides/tools, each connected as its page describes, to a service with its sandbox.

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  await connect(server, "sales_crm", { scheme: "api_key" });
});
afterAll(() => server?.stop());

const metaTools = ["search_tools", "describe_tool", "read_tool", "call_tool"];
const read = { slug: "sales_crm.list_deals", entity_id: "ann", fields: ["items.id"] };
const write = { slug: "sales_crm.create_deal", entity_id: "ann", arguments: { title: "Big one" } };

/** The expected answer of each client's read and write. */
const done = { isError: false, structuredContent: { outcome: "ok", sandbox: true } };

/** Returns the protocol versions of the requests since the last call, taken from the service's log. */
const methodsAsked = () =>
  server.logs.splice(0).flatMap((line) => {
    const { method = "" } = JSON.parse(line);
    return method.startsWith("mcp/") ? [method.slice("mcp/".length)] : [];
  });

test("the protocol's SDK speaks the newest revision, without a handshake", async () => {
  methodsAsked();
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${server.key}` } },
  });
  const client = new Client({ name: "my-agent", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  expect(client.getProtocolEra()).toBe("modern");
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(metaTools);
  expect(await client.callTool({ name: "read_tool", arguments: read })).toMatchObject(done);
  expect(await client.callTool({ name: "call_tool", arguments: write })).toMatchObject(done);
  await client.close();
  expect(methodsAsked()).toEqual(["server/discover", "tools/list", "read_tool", "call_tool"]);
});

test("the protocol's SDK begins with a handshake where it is not told otherwise", async () => {
  const client = new Client({ name: "my-agent", version: "1.0.0" });
  const headers = { Authorization: `Bearer ${server.key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }));
  expect(client.getProtocolEra()).toBe("legacy");
  expect(await client.callTool({ name: "read_tool", arguments: read })).toMatchObject(done);
  await client.close();
});

test("the SDK's first version begins with a handshake", async () => {
  const transport = new FormerTransport(new URL(`${server.url}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${server.key}` } },
  });
  const client = new FormerClient({ name: "my-agent", version: "1.0.0" });
  // The cast is needed, because types of the library contradict each other under exactOptionalPropertyTypes.
  await client.connect(transport as unknown as Parameters<FormerClient["connect"]>[0]);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(metaTools);
  expect(await client.callTool({ name: "read_tool", arguments: read })).toMatchObject(done);
  expect(await client.callTool({ name: "call_tool", arguments: write })).toMatchObject(done);
  await client.close();
});

test("the AI SDK makes functions of the tools, and hands them what they answer", async () => {
  const client = await createMCPClient({
    transport: { type: "http", url: `${server.url}/mcp`, headers: { Authorization: `Bearer ${server.key}` } },
  });
  const tools = await client.tools();
  expect(Object.keys(tools)).toEqual(metaTools);
  const run = { toolCallId: "1", messages: [], context: undefined };
  expect(await tools["read_tool"]?.execute?.(read, run)).toMatchObject(done);
  expect(await tools["call_tool"]?.execute?.(write, run)).toMatchObject(done);
  await client.close();
});

test("the AI SDK is given a function for each tool that the address names", async () => {
  const url = `${server.url}/mcp?tools=sales_crm.list_deals,sales_crm.create_deal&entity_id=ann`;
  const client = await createMCPClient({
    transport: { type: "http", url, headers: { Authorization: `Bearer ${server.key}` } },
  });
  const tools = await client.tools();
  expect(Object.keys(tools)).toEqual(["sales_crm__create_deal", "sales_crm__list_deals"]);
  const run = { toolCallId: "1", messages: [], context: undefined };
  expect(await tools["sales_crm__create_deal"]?.execute?.(write.arguments, run)).toMatchObject(done);
  await client.close();
});
