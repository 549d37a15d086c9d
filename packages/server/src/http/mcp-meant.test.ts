import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { answers, bearers, deleteEvent, jsonOf, listEvents, rpc, startTestMcp, type TestMcp } from "./test-mcp.ts";

// Tests of calls as clients write them by mistake: with other names, with arguments at the wrong level, or as text.

let mcp: TestMcp;
beforeAll(async () => {
  mcp = await startTestMcp();
});
afterAll(() => mcp.stop());
beforeEach(() => {
  mcp.reset();
  mcp.app = async () => answers({ items: [{ id: "e1" }] });
});

const send = (name: unknown, args: unknown, query = "") =>
  jsonOf(
    fetch(`${mcp.url}?${query}`, {
      method: "POST",
      headers: { authorization: `Bearer ${bearers.project}`, "content-type": "application/json" },
      body: JSON.stringify(rpc(1, "tools/call", { name, arguments: args })),
    }),
  );
const sentPaths = () => mcp.sent.map(({ method, url }) => `${method} ${new URL(url).pathname}${new URL(url).search}`);

const { slug, entity_id, arguments: args } = listEvents;
const call = { slug, entity_id, arguments: args };

test.each([
  "read_tool",
  "readTool",
  "READ_TOOL",
  "read-tool",
  "svc_read_tool",
  "svc.read_tool",
  "mcp__svc__read_tool",
  "mcp_svc_read_tool",
  "my-server/read_tool",
])("%s is read_tool", async (name) => {
  const { result } = await send(name, call);
  expect(result).toMatchObject({ isError: false, structuredContent: { outcome: "ok" } });
});

test.each([
  ["calendar.list_events", call],
  ["calendar__list_events", call],
  ["calendar/list_events", { ...args, entity_id }],
  ["calendar-list-events", { ...args, entity_id }],
  ["calendar_list_events", { ...args, entity_id }],
  ["CALENDAR_LIST_EVENTS", { ...args, entity_id }],
  ["mcp__svc__calendar__list_events", { ...args, entity_id }],
  ["svc_calendar_list_events", { arguments: args, entity_id }],
])("%s calls the tool of the app", async (name, given) => {
  const { result } = await send(name, given);
  expect(result).toMatchObject({ isError: false, structuredContent: { outcome: "ok" } });
  expect(sentPaths()).toEqual([expect.stringMatching(/^GET \/calendars\/primary\/events/)]);
});

test.each([
  "read_tool.calendar.delete_event",
  "read_tool:calendar.delete_event",
  "search_tools/calendar.delete_event",
  "describe_tool: calendar.delete_event",
  "svc.read_tool.calendar__delete_event",
  "mcp__svc__read_tool__calendar.delete_event",
])("%s is no tool: who allows read_tool allows nothing behind it", async (name) => {
  const { error } = await send(name, { ...deleteEvent.arguments, entity_id, confirm: true });
  expect(error).toMatchObject({ message: expect.stringContaining("Unknown tool") });
  expect(sentPaths()).toEqual([]);
});

test.each<[string, unknown]>([
  ["arguments beside the slug", { slug, entity_id, ...args }],
  ["the slug by another name", { tool: slug, entity_id, arguments: args }],
  ["names in another case", { toolSlug: slug, entityId: entity_id, args }],
  ["the slug with another separator", { slug: "calendar__list_events", entity_id, arguments: args }],
  ["arguments as JSON text", { slug, entity_id, arguments: JSON.stringify(args) }],
  ["arguments as text of text", { slug, entity_id, arguments: JSON.stringify(JSON.stringify(args)) }],
  ["arguments in a fence", { slug, entity_id, arguments: `\`\`\`json\n${JSON.stringify(args)}\n\`\`\`` }],
  ["the call as JSON text", JSON.stringify(call)],
  ["the call in another object", { input: call }],
  ["the call in its own arguments", { arguments: call }],
  ["arguments in arguments", { slug, entity_id, arguments: { params: args } }],
  ["the entity among the arguments", { slug, arguments: { ...args, entity_id } }],
  ["every other argument as null", { ...call, connected_account_id: null, fields: null, max_bytes: null }],
  [
    "optional arguments of the tool as null",
    { slug, entity_id, arguments: { ...args, page_token: null, time_min: null } },
  ],
  ["a confirmation of what needs none", { ...call, confirm: true }],
  ["one among the arguments", { slug, entity_id, arguments: { ...args, confirm: true } }],
  ["a number as text, and a list as text", { ...call, max_bytes: "5000", fields: "items.id" }],
])("%s is understood", async (_what, given) => {
  const { result } = await send("read_tool", given);
  expect(result.content[0].text).toContain("e1");
  expect(result.isError).toBe(false);
});

test("a confirmation counts next to the arguments or among them, and nothing else does", async () => {
  const { arguments: named, ...rest } = deleteEvent;
  const held = [{ ...deleteEvent }, { ...deleteEvent, confirm: false }, { ...deleteEvent, confirm: null }];
  for (const given of [...held, { ...deleteEvent, confirm: "false" }]) {
    expect((await send("call_tool", given)).result.structuredContent.outcome).toBe("held");
  }
  const contrary = { ...rest, arguments: { ...named, confirm: false }, confirm: true };
  expect((await send("call_tool", contrary)).result.structuredContent.error.reason).toBe("META_ARGUMENTS_INVALID");
  for (const confirm of ["yes", 1]) {
    const { result } = await send("call_tool", { ...deleteEvent, confirm });
    expect(result.structuredContent.outcome).toBe("invalid_arguments");
  }
  expect(mcp.sent).toEqual([]);
  mcp.app = async () => answers({});
  for (const given of [
    { ...deleteEvent, confirm: true },
    { ...rest, ...named, confirm: "true" },
    { ...rest, arguments: JSON.stringify({ ...named, confirm: true }) },
  ]) {
    expect((await send("call_tool", given)).result.structuredContent.outcome).toBe("ok");
  }
  expect(mcp.sent).toHaveLength(3);
});

test("a dry run sends nothing, at whichever level it is given", async () => {
  for (const given of [
    { ...call, dryRun: true },
    { slug, entity_id, arguments: { ...args, dry_run: "true" } },
  ]) {
    expect((await send("call_tool", given)).result.structuredContent.request.url).toContain("/events");
  }
  expect(mcp.sent).toEqual([]);
});

test("a call that cannot be understood is answered with the correct call", async () => {
  const { error } = await send("calender__list_event", {});
  expect(error).toMatchObject({ code: -32_602, message: /^Unknown tool: calender__list_event\./ });
  expect(error.message).toContain('call_tool {"slug": "calendar.list_events", "entity_id": …, "arguments": {…}}');
  const { result } = await send("call_tool", { ...args, entity_id });
  expect(result.structuredContent.error).toMatchObject({ reason: "META_ARGUMENTS_INVALID" });
  expect(result.content[0].text).toContain('call_tool {"slug": …, "entity_id": …, "arguments": {"calendar_id": …}}');
  // The message does not repeat the value of an argument.
  expect(result.content[0].text).not.toContain("primary");
  const unknown = (await send("read_tool", { ...call, colour: "red" })).result;
  expect(unknown.content[0].text).toMatch(
    /must not have the property "colour"[\s\S]*read_tool \{"slug": "calendar.list_events"/,
  );
  expect((await send("read_tool", "no object")).error.message).toContain("params.arguments must be an object");
});

test("a client gets the tools that its address names, in any spelling", async () => {
  const query = "tools=calendar.list_events&entity_id=ada";
  for (const name of ["calendar.list_events", "calendar__list_events", "mcp__svc__calendar__list_events"]) {
    for (const given of [args, { arguments: args }, JSON.stringify(args)]) {
      expect((await send(name, given, query)).result).toMatchObject({ isError: false });
    }
  }
  for (const name of ["calendar.delete_event", "call_tool", "svc_read_tool"]) {
    expect((await send(name, {}, query)).error.message).toMatch(/^Unknown tool/);
  }
});
