import { testContext } from "@svc/testing/programs";
import { expect, test } from "vitest";
import { checkProgram } from "./program.ts";

// Programs with constructs of other languages, as people write them. Each fault names the place and shows the correct form.

const context = await testContext();

async function faultsOf(steps: readonly object[], rest: object = {}) {
  const checked = await checkProgram(JSON.stringify({ version: 1, title: "T", ...rest, steps }), context);
  return "faults" in checked
    ? checked.faults.map(({ pointer, message, hint }) => `${pointer} ${message}: ${hint}`)
    : [];
}

const deals = {
  id: "deals",
  call: "sales_crm.list_deals",
  entity: "ops",
  args: {},
  rows: { from: "data[]", keep: ["id", "title", "status", "value"] },
};
const say = (text: unknown, more: object = {}) => {
  return { id: "say", call: "messaging_bot.send_message", entity: "ops", args: { chat_id: "@x", text }, ...more };
};

/** Returns the first JSON value that the hints of these faults show. */
function shown(faults: readonly string[]): unknown {
  const [found] = /\{"\$(?:text|cel|ref)": ?"(?:[^"\\]|\\.)*"\}/.exec(faults.join("\n")) ?? [];
  return found === undefined ? undefined : JSON.parse(found);
}

test.each<[string, unknown, object]>([
  ["the time in a text", { $text: { now: true } }, { $cel: "now" }],
  ["the time as a form of its own", { $now: true }, { $cel: "now" }],
  ["the time as a path", { $text: "Report of {now}" }, { $cel: '"Report of " + string(now)' }],
  ["an expression in a text", { $text: { $cel: "string(now)" } }, { $cel: "string(now)" }],
  ["parts, one computed", { $text: ["At ", { $cel: "now" }] }, { $cel: '"At " + string(now)' }],
  ["parts with a path", { $text: ["Open: ", { $ref: "rows.deals" }] }, { $text: "Open: {rows.deals}" }],
  [
    "parts, joined by a function",
    { "Fn::Join": ["", ["Open: ", { $ref: "rows.deals" }]] },
    { $text: "Open: {rows.deals}" },
  ],
  ["a function between braces", { $text: "There are {size(deals)}" }, { $text: "There are {rows.deals}" }],
  ["arithmetic between braces", { $text: "Next: {rows.deals + 1}" }, { $cel: '"Next: " + string(rows.deals + 1.0)' }],
  ["an expression under another name", { $expr: "string(rows.deals)" }, { $cel: "string(rows.deals)" }],
  ["a number for a text", { $ref: "rows.deals" }, { $text: "{rows.deals}" }],
])("%s", async (_what, wrong, right) => {
  const faults = await faultsOf([deals, say(wrong)]);
  expect(faults[0]).toMatch(/^\/steps\/1\/args\/text/);
  expect(shown(faults)).toEqual(right);
  const mended = say(right);
  const isText = "$text" in right || /string\(/.test(JSON.stringify(right));
  expect(await faultsOf([deals, isText ? mended : say({ $cel: "string(now)" })])).toEqual([]);
});

test.each<[string, object, string]>([
  ["a row by another name", say({ $ref: "item.title" }), 'write "row.title"'],
  ["n8n", say("={{ $json.title }}"), 'write {"$text":"{row.title}"}'],
  [
    "Step Functions",
    { ...say("x"), args: { chat_id: "@x", "text.$": "$.title" } },
    'write "text":{"$ref":"row.title"}',
  ],
  ["what a step answered", say({ $ref: "deals.output.text" }), 'write "steps.deals.text"'],
  ["a pointer", say({ $ref: "#/row/title" }), 'write "row.title"'],
  ["the environment", say({ $ref: "env.NAME" }), "input.<name>, declared in inputSchema"],
  ["an expression as an object", say("x", { when: { $cel: "rows.deals > 0" } }), 'write "rows.deals > 0"'],
  ["order by name", say("x", { dependsOn: ["deals"] }), "steps run in the order in which they are listed"],
  [
    "a number where a text belongs",
    { ...say("x"), args: { chat_id: 4711, text: "x" } },
    "is 4711, and must be string: write it in quotes",
  ],
  ["a name in another case", { ...say("x"), args: { chatId: "@x", text: "x" } }, "chat_id"],
  ["a tool in another case", say("x", { call: "messaging_bot.sendMessage" }), 'write "messaging_bot.send_message"'],
])("in a map: %s", async (_what, call, hint) => {
  expect((await faultsOf([deals, { id: "each", map: "deals", do: [call] }])).join("\n")).toContain(hint);
});

test.each<[string, unknown, string]>([
  ["jq", '.status == "open"', 'row.status == "open"'],
  ["JSONata", "$.value > 100 and $.status = 'open'", "row.value > 100 && row.status == 'open'"],
  ["JavaScript", "deal => deal.value > 100", "row.value > 100"],
  ["fields alone", "value > 100", "row.value > 100"],
  ["SQL", "title LIKE '%x%'", "row.title.contains('x')"],
  ["patterns", "row.title =~ /x/", "row.title.matches('x')"],
  ["dates", "new Date(row.status) < Date.now()", "timestamp(row.status) < now"],
  ["lengths", "row.title.length > 3", "size(row.title) > 3"],
  ["filters as objects", { value: { $gt: 100 } }, "row.value > 100.0"],
  ["several", ["row.value > 1.0", "row.status == 'open'"], "row.value > 1.0 && row.status == 'open'"],
])("a condition as %s have it", async (_what, where, right) => {
  const filter = (condition: unknown) => ({ id: "open", filter: "deals", where: condition });
  const faults = await faultsOf([deals, filter(where)]);
  expect(faults[0]).toMatch(/^\/steps\/1\/where/);
  expect(faults.join("\n").replaceAll('\\"', '"')).toContain(right);
  expect(await faultsOf([deals, filter(right)])).toEqual([]);
});

test.each<[string, readonly object[], string]>([
  [
    "a call without rows as a set",
    [
      { ...deals, rows: undefined },
      { id: "m", map: "deals", do: [say("x")] },
    ],
    '"rows": {"from": "data[]"',
  ],
  ["a path as a set", [deals, { id: "m", map: "steps.deals.data", do: [say("x")] }], 'write "deals", only the id'],
  ["a skill by its name", [{ id: "r", run: "announce", input: {} }], 'write "skills.announce"'],
  ["a skill as a tool", [{ id: "r", call: "skills.announce", entity: "ops" }], '"run": "skills.announce"'],
  ["a wait in words", [{ id: "w", wait: { seconds: 30 } }], 'write "30s"'],
  [
    "a sum as an expression",
    [deals, { id: "s", reduce: "deals", as: { t: { $cel: "sum(row.value)" } } }],
    'write "sum value"',
  ],
  ["steps by their names", [{ id: "p", parallel: { a: { say: say("x") } } }], '[{"id": "say", …}]'],
  ["a dash in an id", [say("x", { id: "say-it" })], 'write "say_it"'],
  ["a field of a field", [{ ...deals, rows: { from: "data[]", keep: ["owner.name"] } }], 'write "owner"'],
])("%s", async (_what, steps, hint) => {
  expect((await faultsOf(steps)).join("\n")).toContain(hint);
});

test("operators of filters are values of their own, and what is meant so is sent", async () => {
  const search = (filter: object) => ({ ...deals, id: "found", args: { filter_id: 1, extra: filter } });
  const texts = async (filter: object) => (await faultsOf([search(filter)])).join("\n");
  expect(await texts({ genre: { $eq: "drama" }, $and: [{ year: { $gt: 2000 } }] })).not.toContain(
    "not a form of a value",
  );
  expect(await texts({ $literal: { $now: true } })).not.toContain("not a form of a value");
  expect(await texts({ $now: true })).toContain("not a form of a value");
});

test("an input that is missing is told with its name", async () => {
  const inputSchema = { type: "object", required: ["name"], properties: { name: { type: "string" } } };
  expect(await faultsOf([say({ $ref: "input.name" })], { inputSchema })).toEqual([
    expect.stringContaining('input lacks name, which inputSchema requires: write "input": {"name": …}'),
  ]);
  expect((await faultsOf([say({ $ref: "input.nam" })], { inputSchema, input: { name: "x" } })).join("\n")).toContain(
    "did you mean name?",
  );
});

const people = {
  id: "people",
  call: "sales_crm.list_persons",
  entity: "ops",
  args: {},
  rows: { from: "data[]", keep: ["id", "name"] },
};
const issues = { id: "look", call: "issue_tracker.list_issues", entity: "ops", args: { team_id: "t1" } };
test.each<[string, readonly object[], string, readonly object[]]>([
  [
    "the first row of a set",
    [deals, say({ $ref: "rows.deals[0].title" })],
    '{"id": "found", "reduce": "deals", "as": {"title": "list title"}} and "steps.found.title[0]"',
    [deals, { id: "found", reduce: "deals", as: { title: "list title" } }, say({ $ref: "steps.found.title[0]" })],
  ],
  [
    "the first row of a set in a text",
    [deals, say({ $text: "First: {rows.deals[0].title}" })],
    '"steps.found.title[0]"',
    [deals, { id: "found", reduce: "deals", as: { title: "list title" } }, say({ $text: "{steps.found.title[0]}" })],
  ],
  [
    "a total of a set",
    [deals, say({ $cel: "string(sum(rows.deals.value))" })],
    'takes rows.deals.value, but rows.<set> is a number: rows.deals is the number of rows in the set: make a value of them, {"id": "found", "reduce": "deals", "as": {"value": "list value"}}',
    [deals, { id: "found", reduce: "deals", as: { value: "sum value" } }, say({ $text: "{steps.found.value}" })],
  ],
  [
    "the size of a list",
    [issues, say("x", { when: "size(steps.look.nodes) == 0" })],
    '"rows": {"from": "nodes[]", "keep": ["id"]} at step look; then rows.look',
    [{ ...issues, rows: { from: "nodes[]", keep: ["id"] } }, say("x", { when: "rows.look == 0" })],
  ],
  [
    "rows that are in another set",
    [deals, people, { id: "f", filter: "deals", where: "row.id in rows.people" }],
    '"join": "<this set>", "with": "people", "on": {"id": "<field of people>"}',
    [deals, people, { id: "f", join: "deals", with: "people", on: { id: "id" } }],
  ],
  [
    "a wait that is named",
    [{ id: "w", wait: { $ref: "params.span" } }],
    'write {"until":{"$cel":"now + duration(params.span)"}} for a duration',
    [{ id: "w", wait: { until: { $cel: "now + duration(params.span)" } } }],
  ],
  [
    "a wait that is computed",
    [{ id: "w", wait: { $cel: "'10s'" } }],
    'write {"until":{"$cel":"now + duration(\'10s\')"}}',
    [{ id: "w", wait: { until: { $cel: "now + duration('10s')" } } }],
  ],
  [
    "a map that goes on",
    [deals, { id: "m", map: "deals", do: [say("x")], continueOnError: true }],
    '"tolerate": {"percent": 100} next to its do',
    [deals, { id: "m", map: "deals", do: [say("x")], tolerate: { percent: 100 } }],
  ],
  [
    "a reduce that goes on",
    // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
    [deals, { id: "r", reduce: "deals", as: { n: "sum value" }, onError: { then: "continue" } }],
    'into an if that has one, {"id": "safe", "if": "true", "then": […], "onError": {"then": "continue"}}',
    [
      deals,
      {
        id: "safe",
        if: "true",
        // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
        then: [{ id: "r", reduce: "deals", as: { n: "sum value" } }],
        // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
        onError: { then: "continue" },
      },
    ],
  ],
  [
    "a number that is formatted",
    [deals, { id: "m", map: "deals", do: [say({ $text: "{row.value:.2f}" })] }],
    `{"$cel": "'%.2f'.format([row.value])"}`,
    [deals, { id: "m", map: "deals", do: [say({ $cel: "'%.2f'.format([row.value])" })] }],
  ],
  [
    "an age in days",
    [deals, { id: "f", filter: "deals", where: "now - timestamp(row.title) > 3" }],
    'duration("72h") for three days',
    [deals, { id: "f", filter: "deals", where: 'now - timestamp(row.title) > duration("72h")' }],
  ],
  [
    "a set in the result",
    [deals, { id: "r", reduce: "deals", as: { n: "count" } }],
    'is the text "rows.deals", and the result would contain this text unchanged: write {"$ref": "rows.deals"}',
    [deals, { id: "r", reduce: "deals", as: { n: "count" } }],
  ],
])("%s is led to what is let pass", async (what, wrong, told, right) => {
  const params = { span: "90m" };
  const result = what === "a set in the result" ? "rows.deals" : undefined;
  expect((await faultsOf(wrong, { params, ...(result && { result: { n: result } }) })).join("\n")).toContain(told);
  expect(await faultsOf(right, { params, ...(result && { result: { n: { $ref: result } } }) })).toEqual([]);
  expect(await faultsOf(right, { params, ...(result && { result: { n: { $literal: result } } }) })).toEqual([]);
});

test("rows that start a program are handed on by its definition, and taken", async () => {
  const each = (map: string) => ({ id: "m", map, do: [say("x")] });
  expect((await faultsOf([each("rows")])).join("\n")).toContain(
    'write "input": {"rows": {"$ref": "rows"}} in the standing definition, next to program; in the program "inputSchema": {"type": "object", "required": ["rows"], "properties": {"rows": {"type": "array"}}}, the step {"id": "found", "take": "input.rows", "keep": ["id"]}',
  );
  const found = { id: "found", take: "input.rows", keep: ["id"] };
  const inputSchema = {
    type: "object",
    properties: { rows: { type: "array", items: { type: "object", properties: { id: { type: "string" } } } } },
  };
  expect(await faultsOf([found, each("found")], { inputSchema, input: { rows: [] } })).toEqual([]);
});

test.each<[string, object]>([
  ["a text", say({ $text: "Order {event.payload.id}" })],
  ["a reference", say({ $ref: "event.payload.id" })],
  ["an expression", say({ $cel: "string(event.payload.id)" })],
])("%s that names what starts a program is told how it is handed on", async (_what, step) => {
  expect((await faultsOf([step])).join("\n")).toContain(
    'write "input": {"id": {"$ref": "event.payload.id"}} in the standing definition, next to program; in the program "inputSchema": {"type": "object", "required": ["id"], "properties": {"id": {}}}, and input.id here',
  );
});
