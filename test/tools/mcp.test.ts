import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addProject, connect } from "./project.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  await connect(server, "sales_crm", { scheme: "api_key" });
});
afterAll(() => server?.stop());

/** Connects an official MCP client. It is closed at the end of the block that declares it. */
async function open(key: string = server.key): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  // The cast is needed, because two types of the library do not match under exactOptionalPropertyTypes.
  await client.connect(transport as unknown as Parameters<Client["connect"]>[0]);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

type Answer = {
  readonly isError: boolean;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever a tool answers
  readonly structuredContent: any;
};

async function use(client: Client, name: string, args: Record<string, unknown>): Promise<Answer & { text: string }> {
  const answer = (await client.callTool({ name, arguments: args })) as unknown as Answer;
  return { ...answer, text: answer.content.map(({ text }) => text).join("\n") };
}

test("the client lists four tools, and what they claim of themselves is so", async () => {
  await using client = await open();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["search_tools", "describe_tool", "read_tool", "call_tool"]);
  const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
  for (const name of ["search_tools", "describe_tool"]) {
    expect(hints[name]).toMatchObject({ readOnlyHint: true, openWorldHint: false });
    expect(hints[name]?.destructiveHint ?? false).toBe(false);
  }
  expect(hints["call_tool"]).toMatchObject({ readOnlyHint: false, destructiveHint: true, openWorldHint: true });

  // The tools for reading leave no entry in the ledger and give the same answer twice. A call of call_tool does leave one.
  const countCalls = async () => {
    const { json } = await server.call("svc.v1.ToolsService/ListToolCalls", {});
    return (json.calls as unknown[]).length;
  };
  const before = await countCalls();
  const args = { query: "list the deals", limit: 3 };
  const [first, second] = [await use(client, "search_tools", args), await use(client, "search_tools", args)];
  expect(first.structuredContent).toEqual(second.structuredContent);
  await use(client, "describe_tool", { slug: "sales_crm.list_deals" });
  expect(await countCalls()).toBe(before);
  await use(client, "call_tool", { slug: "sales_crm.list_deals", entity_id: "ann" });
  expect(await countCalls()).toBe(before + 1);
});

test("an agent finds a tool, reads it, calls it, meets the gate and confirms", async () => {
  await using client = await open();
  const found = await use(client, "search_tools", { query: "create a new deal in the sales pipeline" });
  expect(found.structuredContent.tools.map(({ slug }: { slug: string }) => slug)).toContain("sales_crm.create_deal");
  const described = await use(client, "describe_tool", { slug: "sales_crm.create_deal" });
  const { inputSchema, accessClass, callable } = described.structuredContent;
  expect([accessClass, callable, inputSchema.required]).toEqual(["write", true, ["title"]]);

  const made = await use(client, "call_tool", {
    slug: "sales_crm.create_deal",
    arguments: { title: "Big one" },
    entity_id: "ann",
  });
  expect(made).toMatchObject({ isError: false, structuredContent: { outcome: "ok", sandbox: true } });
  expect(made.text).toContain("sandbox");
  const dealId = idIn(made.structuredContent.result);

  const target = { slug: "sales_crm.delete_deal", entity_id: "ann" };
  const held = await use(client, "call_tool", { ...target, arguments: { deal_id: dealId } });
  expect(held).toMatchObject({ isError: false, structuredContent: { outcome: "held" } });
  expect(held.text).toContain("nothing was sent");
  expect(held.text).toContain("confirm: true");
  const read = { slug: "sales_crm.get_deal", entity_id: "ann", arguments: { deal_id: dealId } };
  expect((await use(client, "call_tool", read)).structuredContent.outcome).toBe("ok");

  const confirmed = { ...target, arguments: { deal_id: dealId, confirm: true }, idempotency_key: "agent-1" };
  const gone = await use(client, "call_tool", confirmed);
  expect(gone).toMatchObject({ isError: false, structuredContent: { outcome: "ok" } });
  const again = await use(client, "call_tool", confirmed);
  expect(again.structuredContent).toMatchObject({
    outcome: "ok",
    replayed: true,
    callId: gone.structuredContent.callId,
  });
  const missing = await use(client, "call_tool", read);
  expect(missing).toMatchObject({ isError: true, structuredContent: { outcome: "provider_error" } });
});

function idIn(result: unknown): number {
  const id = /"id":(\d+)/.exec(JSON.stringify(result))?.[1];
  if (id === undefined) throw new Error(`no id in ${JSON.stringify(result)}`);
  return Number(id);
}

test("what MCP does stands in the ledger that the API lists, and is described as the API does", async () => {
  await using client = await open();
  const answer = await use(client, "call_tool", { slug: "sales_crm.list_deals", entity_id: "ann" });
  const { json } = await server.call("svc.v1.ToolsService/GetToolCall", { id: answer.structuredContent.callId });
  expect(json.call).toMatchObject({ toolSlug: "sales_crm.list_deals", entityId: "ann", outcome: "ok", sandbox: true });
  const described = await use(client, "describe_tool", { slug: "sales_crm.get_deal" });
  const { json: byRpc } = await server.call("svc.v1.ToolsService/DescribeTool", { slug: "sales_crm.get_deal" });
  expect(described.structuredContent.inputSchema).toEqual(JSON.parse(byRpc.tool.inputSchemaJson));
  expect(described.structuredContent.description).toBe(byRpc.tool.description);
});

test("a long result is cut to max_bytes and says how to get the rest", async () => {
  await using client = await open();
  const entityId = "sandbox:pages=2";
  await connect(server, "sales_crm", { scheme: "api_key", entityId });
  const call = { slug: "sales_crm.list_deals", entity_id: entityId, arguments: { limit: 100 } };
  const cut = await use(client, "call_tool", { ...call, max_bytes: 600 });
  expect(cut.isError).toBe(false);
  expect(Buffer.byteLength(cut.content[0]?.text ?? "")).toBeLessThanOrEqual(600);
  expect(cut.structuredContent.warnings[0]).toMatch(/^truncated:/);
  expect(cut.text).toContain("fields");
});

test("each key sees its own project: another's account is none", async () => {
  const { member } = await addProject(server, "other");
  await using client = await open(member);
  const answer = await use(client, "call_tool", { slug: "sales_crm.list_deals", entity_id: "ann" });
  expect(answer).toMatchObject({ isError: true, structuredContent: { outcome: "no_account" } });
});

test("nobody comes in without a key, or from a foreign page", async () => {
  await expect(open("nonsense")).rejects.toThrow();
  const post = (headers: Record<string, string>) =>
    fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${server.key}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
  expect((await post({})).status).toBe(200);
  expect((await post({ origin: "https://evil.example" })).status).toBe(403);
});
