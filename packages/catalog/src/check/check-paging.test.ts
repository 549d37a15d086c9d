import { createId } from "@svc/core";
import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { expect, test } from "vitest";
import { pinToolkit, type ToolkitPin, toolkitFromPin } from "../build/pin.ts";
import { toToolMessage } from "../convert-catalog.ts";
import { parsePrivateToolkit } from "../private/parse-definition.ts";
import { privateSource } from "../private/test-definitions.ts";
import { createDefinitionFile, DefinitionError, definitionFaultText } from "../read/definition-file.ts";
import { overlayDefinition } from "../read/load.ts";

const text = (description: string) => ({ type: "string", description });

/** Returns the definition of a list that a project publishes. The list has this paging. */
function listOf(paging: unknown) {
  return {
    description: "Lists the orders of the shop, the newest first, a page at a time, with their states.",
    input: {
      type: "object",
      additionalProperties: false,
      properties: {
        cursor: text("Token of the page."),
        page: { type: "integer", minimum: 1, maximum: 500, description: "Number of the page." },
        offset: { type: "integer", minimum: 0, description: "Orders to skip." },
        count: { type: "integer", description: "Orders on a page." },
      },
    },
    output: {
      type: "object",
      properties: {
        orders: { type: "array", items: { type: "object" } },
        next: { type: ["string", "null"] },
        links: { type: "object", properties: { next: { type: "string" }, total: { type: "integer" } } },
        has_more: { type: "boolean" },
      },
    },
    request: {
      method: "GET",
      path: "/orders",
      query: {
        cursor: "{{params.cursor}}",
        page: "{{params.page}}",
        offset: "{{params.offset}}",
        count: "{{params.count}}",
      },
    },
    paging,
  };
}

async function publish(paging: unknown) {
  const definition = JSON.stringify(privateSource({ tool: listOf(paging) }));
  return await parsePrivateToolkit(definition, createId("prj", 1));
}

async function faultsOf(paging: unknown): Promise<string[]> {
  try {
    await publish(paging);
    return [];
  } catch (error) {
    if (error instanceof DefinitionError) return error.faults.map(definitionFaultText);
    throw error;
  }
}

const sound = [
  { arg: "cursor", from: "next" },
  { arg: "cursor", from: "next", more: "has_more" },
  { arg: "cursor", from: "links.next", query: "cursor" },
  { arg: "page", start: 1 },
  { arg: "page", start: 1, size: "count", more: "has_more" },
  { arg: "offset", by: "rows", size: "count" },
  { arg: "offset", by: "rows", start: 0 },
];

test.each(sound)("%j is taken, told by the tool's message, and pinned", async (paging) => {
  const toolkit = await publish(paging);
  const [action] = toolkit.actions;
  expect(action?.paging).toEqual(paging);
  expect(action && JSON.parse(toToolMessage(action).pagingJson)).toEqual(paging);
  const pin = JSON.parse(JSON.stringify(pinToolkit(toolkit, new Set(["read_order"])))) as ToolkitPin;
  expect(toolkitFromPin(pin).actions[0]?.paging).toEqual(paging);
});

test("a tool's message has its declared polls", async () => {
  const { tools } = await shippedCatalog();
  const messageOf = (slug: string) => {
    const tool = tools.get(slug);
    if (tool === undefined) throw new Error(`no ${slug}`);
    return toToolMessage(tool);
  };
  expect(JSON.parse(messageOf("incident_mgmt.list_incidents").pollJson)).toEqual({
    rows: "incidents[]",
    id: "id",
    cursor: { kind: "after", arg: "since", from: "created_at", overlap: "10m" },
  });
  expect(messageOf("sales_crm.get_deal").pollJson).toBe("");
});

test("an older pin has no paging, and its toolkit is created as before", async () => {
  const toolkit = await publish(undefined);
  const pin = pinToolkit(toolkit, new Set(["read_order"]));
  expect(Object.hasOwn(pin.actions[0] ?? {}, "paging")).toBe(false);
  const [action] = toolkitFromPin(pin).actions;
  expect(action?.paging).toBeUndefined();
  expect(action && toToolMessage(action).pagingJson).toBe("");
});

test.each([
  [{ from: "next" }, "paging.arg: is missing; add it: the argument that says which page is wanted"],
  [{ arg: "cursor", from: "next", max: 20 }, "paging.max: is not known here; use one of arg, from, query"],
  [{ arg: "cursor" }, "paging: does not say what arg takes; add from: <path of the next token>, or start: 1"],
  [
    { arg: "token", from: "next" },
    'paging.arg: "token" is not an argument; name one of input.properties: cursor, page',
  ],
  [{ arg: "cursor", from: "nex" }, 'paging.from: "nex" is not in the tool\'s output; name the text or number'],
  [{ arg: "cursor", from: "has_more" }, 'paging.from: "has_more" is boolean; name the text or number'],
  [{ arg: "cursor", from: "orders" }, 'paging.from: "orders" is an object or a list; name the text'],
  [
    { arg: "cursor", from: "links.total", query: "cursor" },
    'paging.from: "links.total" is integer; name the text that is the next page\'s link',
  ],
  [{ arg: "cursor", query: "cursor" }, "paging.query: is given without from; add from"],
  [{ arg: "cursor", from: "next", start: 1 }, "paging.start: is given together with from; remove start"],
  [{ arg: "cursor", from: "next", size: "count" }, "paging.size: is given together with from; remove size"],
  [{ arg: "cursor", start: 1 }, 'paging.arg: "cursor" does not take whole numbers; name one that does, or add from'],
  [{ arg: "page", start: 0 }, "paging.start: is 0, which page does not take; write what its schema allows"],
  [{ arg: "page", start: -1 }, "paging.start: is -1, which must be >= 0; write the number of the first page"],
  [{ arg: "offset", by: "pages" }, 'paging.by: is "pages", which must be equal to constant; use "rows"'],
  [{ arg: "offset", by: "rows", size: "limit" }, 'paging.size: "limit" is not an argument; name one of'],
  [{ arg: "offset", by: "rows", more: "next" }, 'paging.more: "next" is string; name the boolean'],
])("%j is refused with file, path and cure", async (paging, fault) => {
  const faults = await faultsOf(paging);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toContain(`tools.read_order ${fault}`);
});

test("an overlay that removes a field used for paging removes the paging, unless it declares paging", () => {
  const file = createDefinitionFile("list.yaml", { kind: "action", ...listOf({ arg: "cursor", from: "next" }) });
  const patched = (patch: object) => overlayDefinition(file, patch, "deployment.yaml").value as Record<string, unknown>;
  expect(patched({ description: "Another." })["paging"]).toEqual({ arg: "cursor", from: "next" });
  expect(patched({ input: { properties: { cursor: null } } })["paging"]).toBeUndefined();
  expect(patched({ output: { properties: { next: null } } })["paging"]).toBeUndefined();
  expect(patched({ output: { properties: { next: null } }, paging: { from: "gone" } })["paging"]).toEqual({
    arg: "cursor",
    from: "gone",
  });
});

test("a token may be the id of the last row, and only a token", async () => {
  expect(await faultsOf({ arg: "cursor", from: "orders[-1].id", more: "has_more" })).toEqual([]);
  expect(await faultsOf({ arg: "cursor", from: "orders[-2].id" })).toEqual([expect.stringContaining("is not a path")]);
  expect(await faultsOf({ arg: "cursor", from: "orders[-1].url", query: "cursor" })).toEqual([
    expect.stringContaining("is not a path"),
  ]);
  expect(await faultsOf({ arg: "cursor", from: "next", more: "orders[-1].more" })).toEqual([
    expect.stringContaining("is not a path"),
  ]);
});
