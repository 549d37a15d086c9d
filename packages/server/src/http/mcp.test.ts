import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { systemClock } from "@svc/core";
import { callLimitsForProject } from "@svc/db/call-limits/repo";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { answers, bearers, deleteEvent, listEvents, startTestMcp, type TestMcp } from "./test-mcp.ts";

let mcp: TestMcp;
beforeAll(async () => {
  mcp = await startTestMcp();
});
afterAll(() => mcp.stop());
beforeEach(() => mcp.reset());

/** Connects a client of the official MCP library. It is closed at the end of the block. */
async function open(headers: Record<string, string> = {}): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(mcp.url), {
    requestInit: { headers: { authorization: `Bearer ${bearers.project}`, ...headers } },
  });
  // The cast is needed, because two types of the library do not match under exactOptionalPropertyTypes.
  await client.connect(transport as unknown as Parameters<Client["connect"]>[0]);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

type Answer = {
  isError: boolean;
  content: { type: string; text: string }[];
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever a tool answers
  structuredContent: any;
};

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Answer & { text: string }> {
  const answer = (await client.callTool({ name, arguments: args })) as Answer;
  return { ...answer, text: answer.content.map(({ text }) => text).join("\n") };
}

test("a client gets instructions, and four tools with their effects", async () => {
  await using client = await open();
  expect(client.getServerVersion()).toMatchObject({ name: "svc", version: "1.2.3" });
  expect(client.getInstructions()).toMatch(
    /search_tools[\s\S]*describe_tool[\s\S]*read_tool[\s\S]*call_tool[\s\S]*entity_id[\s\S]*"confirm": true/,
  );
  const { tools } = await client.listTools();
  expect(tools.map(({ name, annotations }) => [name, annotations])).toEqual([
    ["search_tools", expect.objectContaining({ readOnlyHint: true, openWorldHint: false })],
    ["describe_tool", expect.objectContaining({ readOnlyHint: true, openWorldHint: false })],
    ["read_tool", expect.objectContaining({ readOnlyHint: true, openWorldHint: true, destructiveHint: false })],
    ["call_tool", expect.objectContaining({ readOnlyHint: false, openWorldHint: true, destructiveHint: true })],
  ]);
  for (const { inputSchema } of tools) {
    for (const property of Object.values(inputSchema.properties ?? {})) expect(property).toHaveProperty("description");
  }
});

test("the list of tools stays below 1,100 tokens, the instructions below 200", async () => {
  await using client = await open();
  const { tools } = await client.listTools();
  // A model does not read what the protocol has for clients: the scopes of a tool, beside it and in its `_meta`.
  const read = tools.map((tool) => ({ ...tool, securitySchemes: undefined, _meta: undefined }));
  expect(JSON.stringify(read).length / 4).toBeLessThan(1_100);
  expect((client.getInstructions() ?? "").length / 4).toBeLessThan(200);
});

test("a search names what fits in a line each, as text and as data", async () => {
  await using client = await open();
  const { text, structuredContent, isError } = await call(client, "search_tools", {
    query: "cancel a meeting",
    limit: 3,
  });
  const { tools } = structuredContent;
  expect([isError, tools.length, text.split("\n").length]).toEqual([false, 3, 5]);
  expect(tools).toContainEqual({
    slug: "calendar.delete_event",
    description: expect.stringMatching(/^Deletes one event/),
    accessClass: "destructive",
    requiredArguments: ["calendar_id", "event_id"],
    callWith: "call_tool",
    confidence: "medium",
  });
  expect(structuredContent.confidence).toBe("high");
  expect(text).toContain("\nConfidence: high. Take the first.");
  expect(text).toContain("calendar.delete_event(calendar_id, event_id) [destructive: call_tool] Deletes one event");
  for (const line of text.split("\n")) expect(line.length).toBeLessThan(300);
});

test("a search is narrowed by app and class, and says so when nothing fits", async () => {
  await using client = await open();
  const found = await call(client, "search_tools", {
    query: "events",
    toolkit: "calendar",
    access_class: "read",
    limit: 50,
  });
  for (const tool of found.structuredContent.tools)
    expect(tool).toMatchObject({ accessClass: "read", callWith: "read_tool", slug: /^calendar\./ });
  const none = await call(client, "search_tools", { query: "events", toolkit: "nope" });
  expect(none).toMatchObject({ isError: false, structuredContent: { tools: [] } });
  expect(none.text).toContain('There is no toolkit "nope"');
});

test("a description is what GetTool answers, its schemas as objects", async () => {
  await using client = await open();
  for (const [slug, message] of [...mcp.views.shared.messages.tools].slice(0, 40)) {
    const { structuredContent, text } = await call(client, "describe_tool", { slug });
    const { tool } = message;
    const { connected: _, ...described } = structuredContent;
    expect(described).toEqual({
      slug,
      toolkitSlug: tool?.toolkitSlug,
      kind: tool?.kind === 1 ? "TOOL_KIND_ACTION" : "TOOL_KIND_TRIGGER",
      description: tool?.description,
      inputSchema: JSON.parse(tool?.inputSchemaJson ?? ""),
      outputSchema: JSON.parse(tool?.outputSchemaJson ?? ""),
      requiredScopes: tool?.requiredScopes,
      ownerProjectId: tool?.ownerProjectId,
      accessClass: tool?.accessClass,
      callable: tool?.callable,
      ...(tool?.uncallableReason !== "" && { uncallableReason: tool?.uncallableReason }),
      ...(tool?.replacedBy !== "" && { replacedBy: tool?.replacedBy }),
      ...(tool?.pagingJson !== "" && { paging: JSON.parse(tool?.pagingJson ?? "") }),
      ...(tool?.pollJson !== "" && { poll: JSON.parse(tool?.pollJson ?? "") }),
    });
    expect(text).toContain(tool?.inputSchemaJson);
    expect(text).toContain(tool?.description.trim());
  }
});

test.each([
  ["sales_crm.list_deals", "with cursor set to what additional_data.next_cursor of the answer holds."],
  [
    "esignature.list_templates",
    "with page set to the number of the page, from 1. page_size says how many rows a page has.",
  ],
  [
    "incident_mgmt.list_users",
    "with offset set to how many rows to skip. limit says how many rows a page has. more is false on the last page.",
  ],
])("a description of %s says how the next page is asked for", async (slug, how) => {
  await using client = await open();
  const { text } = await call(client, "describe_tool", { slug });
  expect(text).toContain(`\n\nNext page: call again ${how}\n`);
});

test("a call's result is JSON text and data with its place in the ledger", async () => {
  mcp.app = async () => answers({ items: [{ id: "e1", summary: "Stand-up" }] });
  await using client = await open();
  const answer = await call(client, "call_tool", listEvents);
  expect(answer.isError).toBe(false);
  expect(JSON.parse(answer.content[0]?.text ?? "")).toEqual(answer.structuredContent.result);
  expect(answer.structuredContent).toMatchObject({
    outcome: "ok",
    callId: expect.stringMatching(/^call_/),
    retryable: false,
    result: { items: [{ id: "e1", summary: "Stand-up" }] },
  });
  expect(mcp.sent).toHaveLength(1);
});

test("a destructive call needs confirmation, shows its request, and is sent after confirmation", async () => {
  mcp.app = async () => answers("", 204);
  await using client = await open();
  const held = await call(client, "call_tool", deleteEvent);
  expect(held).toMatchObject({ isError: false, structuredContent: { outcome: "held", request: { method: "DELETE" } } });
  expect(held.text).toMatch(/nothing was sent[\s\S]*DELETE https:\/\/\S+\/events\/e1[\s\S]*Bearer \*\*\*/);
  expect(held.text).toContain(
    "call call_tool again with the same slug and arguments plus confirm: true inside arguments",
  );
  expect(mcp.sent).toHaveLength(0);
  const args = { ...deleteEvent, arguments: { ...deleteEvent.arguments, confirm: true } };
  expect(await call(client, "call_tool", args)).toMatchObject({ isError: false, structuredContent: { outcome: "ok" } });
  expect(mcp.sent).toMatchObject([{ method: "DELETE" }]);
});

test("a call that needs confirmation but has no buildable request says how to find out why", async () => {
  await using client = await open();
  const { text } = await call(client, "call_tool", { ...deleteEvent, entity_id: "" });
  expect(text).toContain("dry_run: true and confirm: true");
});

test("a dry run shows the request and sends nothing", async () => {
  await using client = await open();
  const { text, isError } = await call(client, "call_tool", { ...listEvents, dry_run: true });
  expect([isError, mcp.sent.length]).toEqual([false, 0]);
  expect(text).toMatch(/^Nothing was sent\. This would be:\nGET https:\/\//);
});

test("wrong arguments of a tool are an error that names every fault", async () => {
  await using client = await open();
  const { isError, structuredContent, text } = await call(client, "call_tool", {
    ...listEvents,
    arguments: { calendar_id: 5, nope: 1 },
  });
  expect(isError).toBe(true);
  expect(structuredContent).toMatchObject({ outcome: "invalid_arguments", retryable: false });
  expect(structuredContent.faults).toHaveLength(2);
  expect(text).toMatch(/^invalid_arguments: 2 problems[\s\S]*"nope"[\s\S]*would fail again/);
});

test.each([
  [429, { "retry-after": "120" }, "rate_limited", "The same call may be sent again in 120 s."],
  [400, {}, "provider_error", "The same call would fail again."],
])("an app's %i is an error that says whether to try again", async (status, headers, outcome, advice) => {
  mcp.app = async () => answers({ error: { message: "no" } }, status, headers);
  await using client = await open();
  const { isError, structuredContent, text } = await call(client, "call_tool", listEvents);
  expect([isError, structuredContent.outcome, structuredContent.providerStatus]).toEqual([true, outcome, status]);
  expect(text).toContain(`${outcome} (HTTP ${status}): `);
  expect(text).toContain(advice);
});

test("a write without an answer asks the agent to check before repeating it", async () => {
  mcp.app = async () => ({ kind: "broken", sent: true, message: "the connection broke" });
  await using client = await open();
  const args = { slug: "calendar.create_calendar", arguments: { summary: "Team" }, entity_id: "ada" };
  const { isError, structuredContent, text } = await call(client, "call_tool", args);
  expect([isError, structuredContent.outcome]).toEqual([true, "outcome_unknown"]);
  expect(text).toContain("find out before you send it again");
});

test("a long result is cut to 20,000 bytes and says how to get the rest", async () => {
  const items = Array.from({ length: 500 }, (_, index) => ({ id: `e${index}`, summary: "x".repeat(200) }));
  mcp.app = async () => answers({ items });
  await using client = await open();
  const cut = await call(client, "call_tool", listEvents);
  expect(cut.content[0]?.text.length).toBeGreaterThan(15_000);
  expect(cut.content[0]?.text.length).toBeLessThanOrEqual(20_000);
  expect(JSON.parse(cut.content[0]?.text ?? "").items[0]).toEqual(items[0]);
  expect(cut.content[1]?.text).toMatch(/truncated: \d+ of \d+ bytes[\s\S]*fields[\s\S]*max_bytes/);
  const ids = await call(client, "call_tool", { ...listEvents, fields: ["items.id"] });
  expect(ids.structuredContent.result.items).toHaveLength(500);
  const whole = await call(client, "call_tool", { ...listEvents, max_bytes: 0 });
  expect(whole.structuredContent.result.items).toEqual(items);
});

test("integers beyond a double keep their digits in results and in arguments", async () => {
  mcp.app = async () => answers('{"ok":true,"result":[{"update_id":12345678901234567890}]}');
  const body = (args: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_tool","arguments":{"slug":"messaging_bot.get_updates","entity_id":"ada","arguments":${args}}}}`;
  const text = await (await mcp.post(body("{}"))).text();
  expect(text.match(/12345678901234567890/g)).toHaveLength(2);
  await mcp.post(body('{"offset":12345678901234567890}'));
  const { url = "", body: sent = "" } = mcp.sent.at(-1) ?? {};
  expect(`${url} ${sent}`).toContain("12345678901234567890");
});

const refusals: [string, Record<string, unknown>, object, RegExp][] = [
  [
    "call_tool",
    { slug: "nope.nope" },
    { code: "not_found", reason: "TOOL_NOT_FOUND", field: "slug" },
    /slug "nope\.nope" is not a tool[\s\S]*search_tools finds/,
  ],
  ["describe_tool", { slug: "nope" }, { code: "not_found", reason: "TOOL_NOT_FOUND", field: "slug" }, /search_tools/],
  ["search_tools", { query: " " }, { code: "invalid_argument", reason: "QUERY_INVALID" }, /plain words/],
  ["search_tools", {}, { reason: "META_ARGUMENTS_INVALID" }, /must have required property 'query'/],
  ["search_tools", { query: "x", limit: 99 }, { reason: "META_ARGUMENTS_INVALID" }, /limit must be <= 50/],
  [
    "call_tool",
    { slug: "a.b", arguments: "limit=5" },
    { reason: "META_ARGUMENTS_INVALID" },
    /arguments must be object[\s\S]*Call it as call_tool \{"slug": "a\.b"/,
  ],
  [
    "call_tool",
    { slug: "a.b", toolSlug: "a.b" },
    { reason: "META_ARGUMENTS_INVALID" },
    /must not have the property "toolSlug"/,
  ],
  [
    "call_tool",
    { ...listEvents, max_bytes: 5 },
    { reason: "CALL_OPTION_INVALID", field: "max_bytes" },
    /max_bytes is 5/,
  ],
];

test.each(refusals)("%s %j is refused in a result with its reason and help", async (name, args, error, text) => {
  await using client = await open();
  const answer = await call(client, name, args);
  expect(answer).toMatchObject({ isError: true, structuredContent: { error } });
  expect(answer.text).toMatch(text);
});

test("a call refused by a limit gives the agent the seconds to wait", async () => {
  const now = systemClock.now();
  const limits = callLimitsForProject(mcp.database.db, mcp.projectId);
  const bounds = { concurrency: 0, rateMax: 1, ratePerMs: 3_600_000, isPaused: false };
  const times = { createdAt: now, updatedAt: now };
  await limits.put({ name: "once", toolkitSlug: "", keyExpression: "entityId", ...bounds, ...times }, 10);
  await using client = await open();
  const ask = () => call(client, "call_tool", { ...listEvents, entity_id: "limited" });
  // Another node applies a changed limit within half a second.
  await expect.poll(async () => (await ask()).isError).toBe(true);
  const { text, structuredContent } = await ask();
  expect(text).toMatch(/^CALL_LIMIT: .*\nSend the same request again after \d{4} s, or /);
  expect(structuredContent.error.help).toMatch(/after \d{4} s/);
  await limits.delete("once");
});

test("a project searches, describes and calls what it sees, and nothing else", async () => {
  await using client = await open({ authorization: `Bearer ${bearers.stranger}` });
  expect((await call(client, "search_tools", { query: "list events" })).structuredContent.tools).toEqual([]);
  for (const name of ["describe_tool", "call_tool"]) {
    const { structuredContent } = await call(client, name, { slug: listEvents.slug });
    expect(structuredContent).toMatchObject({ error: { reason: "TOOL_NOT_FOUND" } });
  }
});

test("an unknown tool is an error of the protocol", async () => {
  await using client = await open();
  await expect(client.callTool({ name: "nope", arguments: {} })).rejects.toThrow(/-32602.*Unknown tool: nope/);
});

test("an agent's fault of the service names no cause; the log does", async () => {
  mcp.storeFault = new Error("the cause");
  await using client = await open();
  const answer = await call(client, "search_tools", { query: "x" });
  expect(answer).toMatchObject({
    isError: true,
    structuredContent: { error: { code: "internal", reason: "INTERNAL" } },
  });
  expect(JSON.stringify(answer)).not.toContain("the cause");
  expect(mcp.logs.join()).toContain("the cause");
});

test("twenty clients at once each get their own answers", async () => {
  mcp.app = async ({ url: asked }) => answers({ summary: decodeURIComponent(asked) });
  const results = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      await using client = await open();
      await client.listTools();
      const args = {
        slug: "calendar.get_calendar",
        arguments: { calendar_id: `cal-${index}` },
        entity_id: `user-${index}`,
      };
      return (await call(client, "call_tool", args)).structuredContent.result.summary;
    }),
  );
  for (const [index, summary] of results.entries()) expect(summary).toMatch(new RegExp(`/cal-${index}$`));
});

test("a tool that its app has deprecated names the one to use", async () => {
  await using client = await open();
  const { text, structuredContent } = await call(client, "describe_tool", { slug: "vector_db.recommend_points" });
  expect(structuredContent).toMatchObject({ callable: true, replacedBy: "vector_db.query_points" });
  expect(text).toContain("Its app has deprecated it: use vector_db.query_points.");
});
