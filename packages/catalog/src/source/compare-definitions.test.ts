import { expect, test } from "vitest";
import { compareDefinitions, type DefinitionObject } from "./compare-definitions.ts";
import { mergeDefinitions } from "./merge-definitions.ts";

const toolkit = { slug: "shop", description: "A shop.", baseUrl: "https://a.example.com", auth: [{ type: "none" }] };
const input = {
  type: "object",
  required: ["id"],
  properties: { id: { type: "string", description: "Id." }, unit: { enum: ["a", "b"] } },
};
const order = {
  class: "write",
  description: "Orders.",
  input,
  output: { type: "object", properties: { total: { type: "integer" } } },
  request: { method: "POST", path: "/orders" },
};

const definition = (tools: object, changes: object = {}): DefinitionObject => ({
  toolkit: { ...toolkit, ...changes },
  tools: tools as DefinitionObject["tools"],
});

/** Returns the parts in which a tool differs after the given changes, each with its mark. */
function partsOf(changes: object): readonly string[] {
  const { altered } = compareDefinitions(definition({ order }), definition({ order: { ...order, ...changes } }));
  return altered.map(({ field, isBreaking }) => `${field}${isBreaking ? " breaks" : ""}`);
}

test.each<[string, object, string[]]>([
  ["nothing", {}, []],
  ["a description", { description: "Orders!" }, ["description"]],
  ["a milder class", { class: "read" }, ["class"]],
  ["a more dangerous class", { class: "destructive" }, ["class breaks"]],
  ["a path", { request: { ...order.request, path: "/v2/orders" } }, ["request.path breaks"]],
  ["a method", { request: { ...order.request, method: "DELETE" } }, ["request.method breaks"]],
  ["a query", { request: { ...order.request, query: { unit: "a" } } }, ["request.query"]],
  ["a scope", { scopes: ["orders"] }, ["scopes breaks"]],
  ["paging that is new", { paging: { arg: "page" } }, ["paging"]],
  [
    "the text of an argument",
    { input: { ...input, properties: { ...input.properties, id: { type: "string" } } } },
    ["input.id"],
  ],
  [
    "the type of an argument",
    { input: { ...input, properties: { ...input.properties, id: { type: "integer" } } } },
    ["input.id breaks"],
  ],
  ["an argument that is gone", { input: { ...input, properties: { id: input.properties.id } } }, ["input.unit breaks"]],
  [
    "a new argument",
    { input: { ...input, properties: { ...input.properties, constructor: { type: "string" } } } },
    ["input.constructor"],
  ],
  ["an argument that is required now", { input: { ...input, required: ["id", "unit"] } }, ["input.required breaks"]],
  ["an argument that is optional now", { input: { ...input, required: [] } }, ["input.required"]],
  [
    "a new field of the result",
    { output: { ...order.output, properties: { ...order.output.properties, id: {} } } },
    ["output.id"],
  ],
  ["a field that is gone", { output: { type: "object", properties: {} } }, ["output.total breaks"]],
])("a changed tool is compared part by part: %s", (_what, changes, parts) => {
  expect(partsOf(changes)).toEqual(parts);
});

test("tools, texts and the origin are compared, and names that objects inherit are names like others", () => {
  const before = definition({ order, gone: order });
  const after = definition(
    { order, constructor: order },
    { description: "The shop.", baseUrl: "https://b.example.com" },
  );
  expect(compareDefinitions(before, after, new Set(["constructor", "unchanged"]))).toMatchObject({
    added: [{ name: "constructor", class: "write", isFlagged: true }],
    gone: ["gone"],
    altered: [{ tool: "", field: "description", before: "A shop.", after: "The shop." }],
    originBefore: expect.stringContaining("a.example.com"),
    originAfter: expect.stringContaining("b.example.com"),
    flagged: ["constructor"],
    count: 4,
  });
  expect(compareDefinitions(after, after)).toMatchObject({ count: 0, altered: [], originAfter: "" });
});

test("a list of differences has a limit, lists breaking parts first, and counts the others", () => {
  const many = (text: string) =>
    Object.fromEntries(
      Array.from({ length: 1_000 }, (_, at) => [`t${at}`, { ...order, description: text.repeat(1_000) }]),
    );
  const after = { ...many("b"), t999: { ...order, class: "destructive", description: "a".repeat(1_000) } };
  const { altered, leftOff, count } = compareDefinitions(definition(many("a")), definition(after));
  expect(altered[0]).toMatchObject({ tool: "t999", field: "class", isBreaking: true });
  const parts = { class: "read", mcp: { tool: "other" }, request: { method: "DELETE", path: "/all" } };
  const decisive = { ...after, t999: { ...order, ...parts, description: "a".repeat(1_000) } };
  const listed = compareDefinitions(definition(many("a")), definition(decisive)).altered.slice(0, 4);
  expect(listed.map(({ tool, field }) => [tool, field])).toEqual([
    ["t999", "class"],
    ["t999", "request.method"],
    ["t999", "request.path"],
    ["t999", "mcp"],
  ]);
  expect(altered.length + leftOff).toBe(1_000);
  expect(JSON.stringify(altered).length).toBeLessThan(400_000);
  expect(count).toBe(1_000);
});

test("an approver sees whole descriptions, and the first difference of longer values", () => {
  const text = (end: string) => `${"a".repeat(790)} ${end}`;
  const before = definition({
    order: { ...order, description: text("old"), output: { enum: [`${text("")}${text("old")}`] } },
  });
  const newer = { ...order, description: text("new"), output: { enum: [`${text("")}${text("new")}`] } };
  const { added, altered } = compareDefinitions(before, definition({ order: newer, other: newer }));
  expect(added[0]?.description).toBe(text("new"));
  expect(altered.map(({ before: old, after }) => [old.includes("old"), after.includes("new")])).toEqual([
    [true, true],
    [true, true],
  ]);
});

test("tools of which parts are not listed are named", () => {
  const many = (text: string) =>
    Object.fromEntries(
      Array.from({ length: 400 }, (_, at) => [
        `t${at}`,
        { ...order, description: text.repeat(800), request: { method: text, path: text } },
      ]),
    );
  const { altered, leftOff, leftOffTools = [] } = compareDefinitions(definition(many("a")), definition(many("b")));
  const whole = new Set(altered.map(({ tool }) => tool).filter((tool) => !leftOffTools.includes(tool)));
  expect(leftOff).toBeGreaterThan(0);
  expect(whole.size).toBeGreaterThan(100);
  for (const name of whole) expect(altered.filter(({ tool }) => tool === name)).toHaveLength(3);
});

test("accepted changes are merged by tool, and the origin only if it is accepted", () => {
  const newer = { ...order, description: "Newer." };
  const before = definition({ order, gone: order });
  const after = definition(
    { order: newer, added: newer, bad: newer },
    { description: "The shop.", baseUrl: "https://b.example.com" },
  );
  const merged = (tools: string[], origin = false) => {
    const { toolkit: made, tools: kept } = mergeDefinitions(before, after, { tools, flagged: ["bad"], origin });
    return [made["description"], made["baseUrl"], Object.keys(kept).toSorted().join(" ")];
  };
  expect(merged([])).toEqual(["The shop.", "https://a.example.com", "added order"]);
  expect(merged(["bad"])).toEqual(["A shop.", "https://a.example.com", "bad gone order"]);
  expect(merged(["gone"], true)).toEqual(["A shop.", "https://b.example.com", "order"]);
  expect(mergeDefinitions(before, after, { tools: ["added"], flagged: [], origin: false }).tools["order"]).toEqual(
    order,
  );
});
