import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { answers, bearers, jsonOf, listEvents, rpc, startTestMcp, type TestMcp, toolCall } from "./test-mcp.ts";

// Tests of a client whose address names tools, and of a separate tool for reads.

let mcp: TestMcp;
beforeAll(async () => {
  mcp = await startTestMcp();
});
afterAll(() => mcp.stop());
beforeEach(() => mcp.reset());

const at = (query: string, body: object, key = bearers.project) =>
  jsonOf(
    fetch(`${mcp.url}?${query}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  );
const listAt = async (query: string) => (await at(query, rpc(1, "tools/list"))).result.tools;
const callAt = async (query: string, name: string, args: object) => (await at(query, toolCall(1, name, args))).result;
const textOf = ({ content }: { content: { text: string }[] }) => content.map(({ text }) => text).join("\n");

test("read_tool calls only reading tools, and sends nothing for others", async () => {
  mcp.app = async () => answers({ items: [{ id: "e1" }] });
  const { result } = await jsonOf(mcp.post(toolCall(1, "read_tool", { ...listEvents, fields: ["items.id"] })));
  expect(result).toMatchObject({
    isError: false,
    structuredContent: { outcome: "ok", result: { items: [{ id: "e1" }] } },
  });
  for (const [slug, accessClass] of [
    ["calendar.create_calendar", "write"],
    ["calendar.delete_event", "destructive"],
  ]) {
    const args = { slug, entity_id: "ada", arguments: { confirm: true } };
    const refused = (await jsonOf(mcp.post(toolCall(1, "read_tool", args)))).result;
    expect(refused).toMatchObject({
      isError: true,
      structuredContent: { error: { code: "invalid_argument", reason: "TOOL_NOT_READ", field: "slug" } },
    });
    expect(textOf(refused)).toMatch(new RegExp(`of class ${accessClass};[\\s\\S]*Call it with call_tool`));
  }
  expect(mcp.sent).toHaveLength(1);
});

test.each(["idempotency_key", "dry_run"])("read_tool takes no %s", async (name) => {
  const { result } = await jsonOf(mcp.post(toolCall(1, "read_tool", { ...listEvents, [name]: true })));
  expect(result.structuredContent.error.reason).toBe("META_ARGUMENTS_INVALID");
});

test("read_tool finds only tools that its project sees", async () => {
  const headers = { authorization: `Bearer ${bearers.stranger}` };
  const { result } = await jsonOf(mcp.post(toolCall(1, "read_tool", listEvents), headers));
  expect(result.structuredContent.error.reason).toBe("TOOL_NOT_FOUND");
});

test("a description of a tool ends with how to call it", async () => {
  for (const [slug, how] of [
    ["calendar.list_events", "Call it with read_tool."],
    ["calendar.delete_event", "Call it with call_tool."],
  ]) {
    const { result } = await jsonOf(mcp.post(toolCall(1, "describe_tool", { slug })));
    expect(textOf(result)).toContain(how);
  }
});

test("the address lists the tools of toolkits, each with its own schema, and what it may change", async () => {
  const tools = await listAt("toolkits=calendar");
  const { shared } = mcp.views;
  const callable = [...shared.tools.values()].filter(
    ({ toolkitSlug, kind, callable }) => toolkitSlug === "calendar" && kind === "action" && callable,
  );
  expect(tools.map(({ name }: { name: string }) => name)).toEqual(
    callable.map(({ slug }) => slug.replace(".", "__")).toSorted(),
  );
  for (const { slug, inputSchema, class: accessClass } of callable) {
    const listed = tools.find(({ name }: { name: string }) => name === slug.replace(".", "__"));
    expect(listed.inputSchema).toEqual(JSON.parse(JSON.stringify(inputSchema)));
    expect(listed.name).toMatch(/^[a-z0-9_]{1,64}$/);
    expect(listed.annotations).toEqual({
      readOnlyHint: accessClass === "read",
      destructiveHint: accessClass === "destructive",
      openWorldHint: true,
    });
  }
});

test("the address lists tools one by one, meta-tools among them, and nothing else can be called by it", async () => {
  const query = "tools=calendar.list_events,read_tool";
  const names = (await listAt(query)).map(({ name }: { name: string }) => name);
  expect(names).toEqual(["read_tool", "calendar__list_events"]);
  for (const name of ["calendar__delete_event", "call_tool", "svc_call_tool", "search_tools"]) {
    expect((await at(query, toolCall(1, name, {}))).error).toMatchObject({ code: -32_602, message: /^Unknown tool/ });
  }
  expect((await callAt(query, "read_tool", listEvents)).isError).toBe(false);
});

test("a tool that is listed so is called with its own arguments, for the entity of the address", async () => {
  mcp.app = async () => answers({ items: [{ id: "e1" }] });
  const result = await callAt("toolkits=calendar&entity_id=ada", "calendar__list_events", { calendar_id: "primary" });
  expect(result).toMatchObject({
    isError: false,
    structuredContent: { outcome: "ok", result: { items: [{ id: "e1" }] } },
  });
  expect(mcp.sent).toHaveLength(1);
  const nobody = await callAt("toolkits=calendar", "calendar__list_events", { calendar_id: "primary" });
  expect(nobody.structuredContent.outcome).toBe("no_account");
});

test("a destructive one needs confirmation, and its own text says how to confirm", async () => {
  mcp.app = async () => answers("", 204);
  const args = { calendar_id: "primary", event_id: "e1" };
  const query = "tools=calendar.delete_event&entity_id=ada";
  const held = await callAt(query, "calendar__delete_event", args);
  expect(textOf(held)).toMatch(/call calendar__delete_event again with the same arguments plus confirm: true\.$/);
  expect(mcp.sent).toHaveLength(0);
  const sent = await callAt(query, "calendar__delete_event", { ...args, confirm: true });
  expect(sent.structuredContent.outcome).toBe("ok");
});

test("texts for agents name the tools that the address lists", async () => {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
  const { instructions } = (await at("toolkits=calendar&entity_id=ada", rpc(1, "initialize", params))).result;
  expect(instructions).toMatch(/calendar[\s\S]*the accounts of ada[\s\S]*"confirm": true/);
  expect(instructions).not.toMatch(/_tool/);
});

test.each([
  ["toolkit=calendar", "initialize", /has a parameter "toolkit"/],
  ["toolkits=calendar&toolkits=calendar", "ping", /has toolkits twice/],
  [`tools=${"a.b,".repeat(101)}`, "tools/list", /more than 100/],
  [`entity_id=${"x".repeat(201)}`, "tools/list", /more than 200 characters/],
  ["toolkits=calender", "tools/list", /toolkits of the address names "calender"[\s\S]*did you mean calendar\?/],
  ["tools=calendar.list_event", "tools/list", /did you mean calendar\.list_events\?/],
  ["tools=calendar.events_changed", "tools/list", /calendar\.events_changed, which cannot be called/],
])("the address %s is refused and says why", async (query, method, why) => {
  const { error } = await at(query, rpc(1, method));
  expect(error).toMatchObject({ code: -32_602, data: { reason: "ADDRESS_INVALID" } });
  expect(error.message).toMatch(why);
});

test("tools above the model's limit are not listed", async () => {
  const all = [...mcp.views.shared.toolkits.keys()].join(",");
  expect((await at(`toolkits=${all}`, rpc(1, "tools/list"))).error.message).toMatch(/names \d+ tools; at most 200/);
});

test("an address cannot list another project's toolkit", async () => {
  const answer = await at("toolkits=calendar", rpc(1, "tools/list"), bearers.stranger);
  expect(answer.error.message).toContain("which this project does not have");
  const called = await at("toolkits=calendar", toolCall(1, "calendar__list_events", {}), bearers.stranger);
  expect(called.error.message).toMatch(/^Unknown tool/);
});

test("a name that is too long for models is cut, stays the only one of its kind, and can be called", async () => {
  const query = "toolkits=payments_checkout&entity_id=ada";
  const names: string[] = (await listAt(query)).map(({ name }: { name: string }) => name);
  expect(new Set(names).size).toBe(names.length);
  const cut = names.filter((name) => name.length === 64);
  expect(cut.length).toBeGreaterThan(0);
  expect(Math.max(...names.map(({ length }) => length))).toBe(64);
  const result = await callAt(query, cut[0] ?? "", {});
  expect(result.structuredContent.outcome).toMatch(/^(?:ok|invalid_arguments)$/);
});

test("direct calls are reported as such, under any name", async () => {
  await callAt("toolkits=calendar", "calendar__list_events", {});
  await at("toolkits=calendar", toolCall(1, "anything", {}));
  expect(mcp.calls.map(({ method }) => method)).toEqual(["mcp/direct_tool", "mcp/direct_tool"]);
});
