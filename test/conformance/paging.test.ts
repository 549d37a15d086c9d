import type { Action, JsonSchema } from "@svc/catalog";
import { isObject } from "@svc/core";
import { sampleOf } from "@svc/testing/sample";
import { startTestServer, type TestServer } from "@svc/testing/server";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { answer, hasEnded, isAsked, reach, submit, trySubmit } from "../jobs/project.ts";
import { consent, openBrowser } from "../tools/browser.ts";
import { connect } from "../tools/project.ts";
import { drawArguments } from "./arguments.ts";
import { actions, catalog } from "./definitions.ts";

// Tests the paging that tool definitions declare: a program that says only `"page": {"max": 20}` reads every page in the sandbox.

const paged = actions.filter(({ paging }) => paging !== undefined);
const toolkits = Map.groupBy(
  paged.filter(({ callable }) => callable),
  ({ toolkitSlug }) => toolkitSlug,
);

/**
 * Number of callable lists with more than one page, by toolkit. The two toolkits missing here have no such list: no argument of their lists
 * asks for another page.
 */
const counts: Readonly<Record<string, number>> = {
  bank_link: 4,
  calendar: 5,
  data_pipeline: 7,
  email_marketing: 8,
  esignature: 5,
  incident_mgmt: 10,
  issue_tracker: 11,
  notes_wiki: 3,
  sales_crm: 13,
  scheduling: 10,
  search_engine: 2,
  search_ingestion: 8,
  vector_db: 5,
  work_mgmt: 5,
};

/** Tools that take an argument such as a page number and still have no further pages, with the reason. */
const unpaged: Readonly<Record<string, string>> = {
  "data_pipeline.list_sources": "its result has no token: of the pagination it shows current and totalEntries alone",
  "messaging_bot.get_updates": "its offset is the id of the next update, and confirms those before it",
  "search_engine.multi_search": "its pages are those of each search in it",
  "search_ingestion.create_task": "its cursor is where the task begins",
  "search_ingestion.create_task_v1": "its cursor is where the task begins",
  "search_ingestion.replace_task": "its cursor is where the task begins",
};

const pages = 3;
const pageSize = 4;
const entity = `sandbox:pages=${pages}`;

/** A sample is enough, because the calls of all toolkits go the same way through the service. */
const sampled = sampleOf([...toolkits], 3);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force", SVC_LOG_LEVEL: "warn" } });
  // vector_db is included because the simulated write below is one of its tools.
  for (const toolkit of new Set(["vector_db", ...sampled.map(([slug]) => slug)])) await connectTo(toolkit);
}, 60_000);
afterAll(() => server?.stop());

async function connectTo(slug: string): Promise<void> {
  const { auth = [], account = [] } = catalog.toolkits.get(slug) ?? {};
  const hasKey = auth.some(({ type }) => type === "api_key");
  const { authorizeUrl } = await connect(server, slug, {
    entityId: entity,
    scheme: hasKey ? "api_key" : "oauth2",
    accountVariables: Object.fromEntries(account.map(({ name, example }) => [name, example])),
    ...(hasKey && { apiKey: "key-of-the-tests" }),
  });
  if (hasKey) return;
  const browser = openBrowser();
  const { status, text } = await browser.open(await consent(browser, authorizeUrl, "allow"));
  expect(status, text).toBe(200);
}

/** Finds the first list in an output, shallow ones before deep ones, written as `rows.from` writes it, and a field of the list's items. */
function listOf({ outputSchema }: Action): { from: string; keep: string } {
  const found = findLists(outputSchema, "");
  const [first] = found.toSorted((a, b) => a.from.split(".").length - b.from.split(".").length);
  if (first === undefined) throw new Error("there is no list in the output");
  return first;
}

function findLists(schema: JsonSchema, prefix: string): { from: string; keep: string }[] {
  const { items, properties } = schema;
  if (isObject(items)) {
    const fields = Object.entries(isObject(items["properties"]) ? items["properties"] : {});
    const [[keep, only] = ["value", undefined]] = fields;
    // The updates of one item are in a list of items that has only the requested one.
    const isHolder = fields.length === 1 && isObject(only) && isObject(only["items"]);
    return isHolder ? findLists(only, `${prefix}[0].${keep}`) : [{ from: `${prefix}[]`, keep }];
  }
  return Object.entries(isObject(properties) ? properties : {}).flatMap(([name, child]) => {
    return isObject(child) ? findLists(child, prefix === "" ? name : `${prefix}.${name}`) : [];
  });
}

/** Returns the arguments that the tool requires, and a small page size if the tool takes one. */
function argumentsOf({ slug, inputSchema, validateInput, paging }: Action): Record<string, unknown> {
  // This tool's arguments are fixed, because its address would take seconds to draw at random.
  if (slug === "scheduling.list_activity_log_entries")
    return { organization: "https://example.com/o", count: pageSize };
  const [drawn = {}] = fc.sample(
    fc
      .gen()
      .map((draw) => drawArguments(inputSchema, { draw, optionals: "none", useOf: () => "segment" }))
      .filter((args) => validateInput(args).length === 0),
    { numRuns: 1, seed: 12 },
  );
  const size = sizeArgument({ inputSchema, paging });
  const { [paging?.from === undefined ? (paging?.arg ?? "") : ""]: _first, ...args } = drawn;
  return size === undefined ? args : { ...args, [size]: pageSize };
}

function secretsOf({ inputSchema }: Action): object {
  const isTaken = Object.hasOwn((inputSchema["properties"] ?? {}) as object, "access_token");
  return isTaken ? { access_token: { $ref: "input.access_token" } } : {};
}

function sizeArgument({ inputSchema, paging }: Pick<Action, "inputSchema" | "paging">): string | undefined {
  const names = ["limit", "max_results", "page_size", "count", "per_page", "itemsPerPage"];
  return paging?.size ?? names.find((name) => Object.hasOwn((inputSchema["properties"] ?? {}) as object, name));
}

test("every tool that can be asked for another page says how, or why not", () => {
  const silent = actions.filter(({ inputSchema, paging, slug }) => {
    const names = Object.keys((inputSchema["properties"] ?? {}) as object);
    const asks = names.some((name) => /^(?:page|offset|skip|cursor|start_?cursor|page_?token|after)$/i.test(name));
    return asks && paging === undefined && unpaged[slug] === undefined;
  });
  expect(silent.map(({ slug }) => slug)).toEqual([]);
  expect(Object.fromEntries([...toolkits].map(([slug, tools]) => [slug, tools.length]))).toEqual(counts);
});

test.each(sampled)("every list of %s is read to its end by a page of max alone", async (slug, tools) => {
  const steps = tools.map((action) => {
    const { from, keep } = listOf(action);
    const rows = { from, keep: [keep], page: { max: 20 } };
    return { id: action.name, call: action.slug, entity, args: { ...argumentsOf(action), ...secretsOf(action) }, rows };
  });
  const result = Object.fromEntries(tools.map(({ name }) => [name, { $ref: `rows.${name}` }]));
  const secret = { type: "string", "x-sensitive": true };
  const inputSchema = { type: "object", properties: { access_token: secret } };
  const program = {
    title: `Every list of ${slug}`,
    inputSchema,
    input: { access_token: "access-sandbox-1" },
    steps,
    result,
  };
  const id = await submit(server, program);
  const job = await reach(server, id, hasEnded, { timeoutMs: 60_000 });
  expect(job.lastError).toBe("");
  const expected = tools.map((action) => {
    return [action.name, pages * (sizeArgument(action) === undefined ? 250 : pageSize)] as const;
  });
  expect(JSON.parse(job.receipt.resultJson)).toEqual(Object.fromEntries(expected));
  // A list without a paging token shows its end by an empty page, unless a boolean in the answer says so earlier.
  const calls = tools.map(({ paging }) =>
    paging?.from === undefined && paging?.more === undefined ? pages + 1 : pages,
  );
  expect(job.receipt.calls.read + job.receipt.calls.write).toBe(calls.reduce((sum, count) => sum + count, 0));
});

test("a simulated write answers with a sample, which is its only page", async () => {
  const action = actions.find(({ slug }) => slug === "vector_db.scroll_points");
  if (action === undefined) throw new Error("there is no such tool");
  const rows = { from: "result.points[]", keep: ["id"], page: { max: 20 } };
  const steps = [{ id: "points", call: action.slug, entity, args: argumentsOf(action), rows }];
  const id = await submit(server, { title: "Simulated pages", steps }, { mode: "simulate" });
  const job = await reach(server, id, hasEnded);
  expect(job).toMatchObject({ status: "JOB_STATUS_SUCCEEDED", lastError: "" });
  expect(job.receipt.limits.used.toolCalls).toBe(1);
});

/** A toolkit that a project defines for itself, with one list. */
const ownToolkit = (paging?: object) => ({
  toolkit: {
    slug: "own_list",
    name: "Own list",
    description: "A list of our own, whose definition changes while jobs read it.",
    version: "0.1.0",
    category: "knowledge",
    baseUrl: "https://lists.example.com",
    auth: [{ type: "api_key", placement: "header", name: "X-Own", value: "{{credential.key}}" }],
  },
  tools: {
    list_entries: {
      kind: "action",
      class: "read",
      description: "Lists the entries of the list of our own, the newest first, page after page.",
      intents: ["what is on the list", "all of our entries", "read the list"],
      input: {
        type: "object",
        additionalProperties: false,
        properties: {
          page: { type: "integer", minimum: 1, description: "Number of the page, from 1." },
          size: { type: "integer", description: "Entries on a page." },
        },
      },
      output: {
        type: "object",
        properties: { entries: { type: "array", items: { type: "object", properties: { id: { type: "string" } } } } },
      },
      request: { method: "GET", path: "/entries", query: { page: "{{params.page}}", size: "{{params.size}}" } },
      ...(paging && { paging }),
    },
  },
});

test("a job reads on by the paging that it was pinned with, whatever the definition says by now", async () => {
  const publish = (definition: object) =>
    server.call("svc.v1.CatalogService/PublishToolkit", { definitionJson: JSON.stringify(definition) });
  expect((await publish(ownToolkit({ arg: "page", start: 1, size: "size" }))).code).toBe("ok");
  await connect(server, "own_list", { entityId: entity, apiKey: "k" });
  const rows = { from: "entries[]", keep: ["id"], page: { max: 20 } };
  const list = { id: "entries", call: "own_list.list_entries", entity, args: { size: pageSize }, rows };
  const point = { question: "Go on?", continuations: ["proceed"], escalation: [{ principal: "owner" }] };
  const steps = [{ id: "gate", judge: "go" }, list];
  const id = await submit(server, { steps, points: { go: point }, result: { entries: { $ref: "rows.entries" } } });
  await reach(server, id, isAsked);
  expect((await publish(ownToolkit())).code).toBe("ok");
  await answer(server, id);
  const job = await reach(server, id, hasEnded);
  expect([job.lastError, JSON.parse(job.receipt.resultJson)]).toEqual(["", { entries: pages * pageSize }]);
  const refused = await trySubmit(server, { steps: [list] });
  expect(JSON.stringify(refused.json)).toContain("own_list.list_entries declares no paging");
});

test("a private toolkit whose paging is wrong is refused with file, path and cure", async () => {
  const definitionJson = JSON.stringify(ownToolkit({ arg: "seite", start: 1, size: "size" }));
  const { code, json } = await server.call("svc.v1.CatalogService/PublishToolkit", { definitionJson });
  expect(code).toBe("invalid_argument");
  expect(json.message).toContain(
    'tools.list_entries paging.arg: "seite" is not an argument; name one of input.properties: page, size',
  );
});
