import {
  type Action,
  fillInput,
  type JsonSchema,
  parseDefinitionFile,
  renderRequest,
  type Toolkit,
} from "@svc/catalog";
import { repeats } from "@svc/testing/sample";
import fc from "fast-check";
import { expect, test } from "vitest";
import { drawArguments, type Optionals } from "./arguments.ts";
import { actions, catalog, readDefinition } from "./definitions.ts";
import { type AlwaysText, expectedRequest, placedArguments, type RequestText } from "./expected-request.ts";
import type { TextUse } from "./texts.ts";

type ToolText = { readonly request: RequestText };
type ToolkitText = { readonly always?: AlwaysText };

/** Reads a definition as YAML holds it, before the loader changes anything. */
async function textOf<Text>(slug: string): Promise<Text> {
  const text = texts.get(slug) ?? (await readText(slug));
  texts.set(slug, text);
  return text as Text;
}

const texts = new Map<string, unknown>();

async function readText(slug: string): Promise<unknown> {
  const { value, faults } = parseDefinitionFile(slug, await readDefinition(slug));
  if (faults.length > 0) throw new Error(`${slug} is not YAML`);
  return value;
}

const always = new Map<string, AlwaysText>();
for (const slug of catalog.toolkits.keys()) always.set(slug, (await textOf<ToolkitText>(slug)).always ?? {});

function toolkitOf(action: Action): Toolkit {
  const toolkit = catalog.toolkits.get(action.toolkitSlug);
  if (toolkit === undefined) throw new Error(`${action.toolkitSlug} is not loaded`);
  return toolkit;
}

function accountOf({ account }: Toolkit): Record<string, string> {
  return Object.fromEntries(account.map(({ name, example }) => [name, example]));
}

/**
 * Returns the use of each argument: a path argument must be valid as a segment, a header argument as a header value. Other arguments may be
 * any text.
 */
function useOfArguments({ path, headers = {} }: RequestText): (name: string) => TextUse {
  const segments = new Set(placedArguments({ method: "GET", path }));
  const inHeaders = new Set(placedArguments({ method: "GET", path: "", headers }));
  return (name) => (segments.has(name) ? "segment" : inHeaders.has(name) ? "header" : "any");
}

const optionals = fc.constantFrom<Optionals>("none", "some", "some", "all");

test.each(actions.map((action) => [action.slug, action] as const))(
  "%s renders the request that its file declares, and nothing else",
  async (slug, action) => {
    const { request } = await textOf<ToolText>(slug);
    const toolkit = toolkitOf(action);
    const useOf = useOfArguments(request);
    const property = fc.property(optionals, fc.gen(), (given, draw) => {
      const params = drawArguments(action.inputSchema, { draw, optionals: given, useOf });
      fc.pre(action.validateInput(params).length === 0);
      const filled = fillInput(action.inputSchema, params) as Record<string, unknown>;
      const scope = { params: filled, account: accountOf(toolkit) };
      const rendered = renderRequest(toolkit, action, scope);
      const expected = expectedRequest(request, always.get(action.toolkitSlug) ?? {}, scope);
      expect(rendered).toEqual(expected);
      expect(JSON.parse(JSON.stringify(rendered.body ?? null))).toEqual(rendered.body ?? null);
      expect(rendered.path.split("/")).toHaveLength(request.path.split("/").length);
      if (!JSON.stringify(params).includes("{{")) expect(JSON.stringify(rendered)).not.toContain("{{");
    });
    // At most one in four of the drawn calls may fail its schema, because arguments are drawn to fit it. In a small sample more may fail by
    // chance.
    fc.assert(
      property,
      repeats({ sample: { numRuns: 4, maxSkipsPerRun: 1 }, whole: { numRuns: 12, maxSkipsPerRun: 0.25 } }),
    );
  },
);

test.each(actions.map((action) => [action.slug, action] as const))(
  "%s places every argument, or fills a label of the host with it",
  async (slug, { inputSchema, class: access }) => {
    const { request } = await textOf<ToolText>(slug);
    const placed = placedArguments(request);
    const lost = Object.entries(inputSchema["properties"] as Record<string, JsonSchema>).filter(([name, schema]) => {
      if (schema["x-host"] === true || (access === "destructive" && name === "confirm")) return false;
      if (placed.includes(name)) return false;
      // The request uses only parts of this argument: then it must use each of them.
      const parts = Object.keys((schema["properties"] ?? {}) as object);
      return parts.length === 0 || parts.some((part) => !placed.includes(`${name}.${part}`));
    });
    expect(lost.map(([name]) => name)).toEqual([]);
  },
);
