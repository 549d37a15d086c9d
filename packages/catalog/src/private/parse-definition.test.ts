import { createId } from "@svc/core";
import { deskDefinition } from "@svc/testing/private-webhook";
import fc from "fast-check";
import { expect, test } from "vitest";
import { classToConfirm } from "../build/class-to-confirm.ts";
import { DefinitionError, type FileFault } from "../read/definition-file.ts";
import { parseKeptToolkit, parsePrivateToolkit } from "./parse-definition.ts";
import { privateDefinition, privateSource } from "./test-definitions.ts";

const projectId = createId("prj", 1);

async function faultsOf(definitionJson: string): Promise<readonly FileFault[]> {
  try {
    await parsePrivateToolkit(definitionJson, projectId);
    return [];
  } catch (error) {
    if (error instanceof DefinitionError) return error.faults;
    throw error;
  }
}

const placesOf = async (definitionJson: string) =>
  (await faultsOf(definitionJson)).map(({ file, path }) => `${file}:${path}`);

/** Returns an input schema with one optional argument, used in the body. */
const withArgument = (schema: object) => {
  const input = { type: "object", additionalProperties: false, properties: { a: { description: "An a.", ...schema } } };
  const request = { method: "POST", path: "/orders", body: { a: "{{params.a}}" } };
  return { input, tool: { class: "write", request } };
};

async function actionOf(definitionJson: string) {
  const [action] = (await parsePrivateToolkit(definitionJson, projectId)).actions;
  if (action === undefined) throw new Error("the sample has one action");
  return action;
}

test("a definition in the form of the YAML files becomes a toolkit of its project, tools ordered by slug", async () => {
  const source = privateSource();
  const { read_order } = source.tools;
  const find = { ...read_order, description: "Finds the order that a tracking number of a carrier belongs to." };
  const toolkit = await parsePrivateToolkit(
    JSON.stringify({ ...source, tools: { read_order, find_order: find } }),
    projectId,
  );
  expect(toolkit).toMatchObject({ slug: "shop", ownerProjectId: projectId, triggers: [] });
  expect(toolkit.actions.map(({ slug, ownerProjectId }) => [slug, ownerProjectId])).toEqual([
    ["shop.find_order", projectId],
    ["shop.read_order", projectId],
  ]);
});

test.each([
  ["", "is not JSON"],
  ["{", "is not JSON"],
  ["null", "is not an object"],
  ["[]", "is not an object"],
  ['{"toolkit": {}}', "is not an object with toolkit and tools"],
  ['{"toolkit": {}, "tools": []}', "is not an object with toolkit and tools"],
  ['{"toolkit": {}, "tools": {}, "owner": "x"}', "is not known here"],
  [
    '{"toolkit": {"a": 0.1234567890123456789}, "tools": {}}',
    'has the number "0.1234567890123456789", which a double cannot represent',
  ],
  [
    '{"toolkit": {}, "tools": {"a": [9007199254740993]}}',
    'has the number "9007199254740993", which a double cannot represent',
  ],
  ['{"toolkit": {}, "tools": {"a": 1e-400}}', 'has the number "1e-400", which a double cannot represent'],
])("%s is refused as a whole", async (text, reason) => {
  expect(await faultsOf(text)).toEqual([
    expect.objectContaining({ file: "definition", reason: expect.stringContaining(reason) }),
  ]);
});

test("texts above 4 MiB are refused before they are parsed, and more than 1,500 tools are", async () => {
  expect((await faultsOf(`{${" ".repeat(4_194_304)}`))[0]?.reason).toBe("has 4194305 bytes");
  const tools = Object.fromEntries(Array.from({ length: 1_501 }, (_, index) => [`t${index}`, {}]));
  expect(await placesOf(JSON.stringify({ toolkit: {}, tools }))).toEqual(["definition:tools"]);
});

test("a file of more than 64 KiB or 32 levels is refused, however deep it is nested", async () => {
  const large = privateDefinition({ tool: { description: "x".repeat(66_000) } });
  expect(await placesOf(large)).toEqual(["tools.read_order:"]);
  const nested = (depth: number) => {
    const value = `${"[".repeat(depth)}${"]".repeat(depth)}`;
    return privateDefinition().replace('"kind":"action"', `"kind":"action","x":${value}`);
  };
  expect(await faultsOf(nested(33))).toEqual([expect.objectContaining({ file: "tools.read_order", path: "" })]);
  expect((await faultsOf(nested(100_000)))[0]?.reason).toContain("nested deeper than 32");
});

test("a schema nested 100,000 deep is refused without a stack overflow", async () => {
  const deep = `${'{"not":'.repeat(50_000)}{}${"}".repeat(50_000)}`;
  const text = privateDefinition().replace('"input":{', `"input":{"not":${deep},`);
  expect((await faultsOf(text))[0]?.reason).toContain("nested deeper than 32");
});

test("rules of shared definitions hold, and all faults are reported at once with those of tenants", async () => {
  const source = privateSource({
    toolkit: { category: "fun", webhook: { scheme: "slack_v0", secretEnv: "SVC_WEBHOOK_SECRET_X" } },
  });
  const definition = JSON.stringify({ ...source, tools: { ...source.tools, Bad: 1 } });
  expect(await placesOf(definition)).toEqual(["toolkit:category", "toolkit:webhook.secretEnv", "tools.Bad:"]);
});

test.each([
  ["deployment host", { toolkit: { baseUrl: "{{deployment.provider_base_url}}/api" } }, "toolkit:baseUrl"],
  ["deployment scope", { tool: { scopes: ["{{ deployment.scope_base}}/x"] } }, "tools.read_order:scopes[0]"],
  ["http host", { toolkit: { baseUrl: "http://shop.example.com" } }, "toolkit:baseUrl"],
  ["arguments in the host", { toolkit: { baseUrl: "https://{{params.id}}.example.com" } }, "toolkit:baseUrl"],
  ["reserved slug", { slug: "skills" }, "toolkit:slug"],
  ["slug form", { slug: "../shop" }, "toolkit:slug"],
  ["host argument", withArgument({ type: "string", "x-host": true }), "tools.read_order:input.properties.a.x-host"],
  ["look-ahead", withArgument({ type: "string", pattern: "^(?=a)a" }), "tools.read_order:input.properties.a.pattern"],
  [
    "back reference",
    withArgument({ type: "string", pattern: "(a)\\1" }),
    "tools.read_order:input.properties.a.pattern",
  ],
  [
    "look-ahead in a property's name",
    withArgument({ type: "object", patternProperties: { "(?!a)": { type: "string" } } }),
    "tools.read_order:input.properties.a.patternProperties.(?!a)",
  ],
  [
    "look-ahead in a rule",
    withArgument({ type: "string", anyOf: [{ pattern: "(?!a)" }] }),
    "tools.read_order:input.properties.a.anyOf[0].pattern",
  ],
  [
    "unique objects",
    withArgument({ type: "array", uniqueItems: true, maxItems: 10, items: { type: "object" } }),
    "tools.read_order:input.properties.a.uniqueItems",
  ],
  [
    "unique anything",
    withArgument({ type: "array", uniqueItems: true }),
    "tools.read_order:input.properties.a.uniqueItems",
  ],
])("refused: %s", async (_name, changes, place) => {
  expect(await placesOf(privateDefinition(changes))).toContain(place);
});

test("references are refused in every schema, also under properties named like keywords", async () => {
  const recursive = { $ref: "#", description: "It again." };
  const inRule = { type: "object", properties: {}, if: { properties: { b: { $dynamicRef: "#" } } } };
  const named = { type: "object", properties: { properties: recursive, $ref: recursive } };
  expect(await placesOf(privateDefinition(withArgument(recursive)))).toContain(
    "tools.read_order:input.properties.a.$ref",
  );
  expect(await placesOf(privateDefinition(withArgument(inRule)))).toContain(
    "tools.read_order:input.properties.a.if.properties.b.$dynamicRef",
  );
  expect(await placesOf(privateDefinition(withArgument(named)))).toEqual([
    "tools.read_order:input.properties.a.properties.properties.$ref",
    "tools.read_order:input.properties.a.properties.$ref.$ref",
  ]);
  const output = { type: "object", properties: { properties: { type: "string", pattern: "(?!a)" } } };
  expect(await placesOf(privateDefinition({ tool: { output } }))).toEqual([
    "tools.read_order:output.properties.properties.pattern",
  ]);
});

test("plain values may look like keywords", async () => {
  const schema = {
    type: "object",
    properties: { $ref: { type: "string", description: "A pointer." } },
    default: { $ref: "#", pattern: "(?!" },
  };
  expect(await faultsOf(privateDefinition(withArgument(schema)))).toEqual([]);
});

test("a toolkit with a webhook and triggers is compiled, and its triggers name an entity", async () => {
  const { webhook, triggers, actions } = await parsePrivateToolkit(deskDefinition(), projectId);
  expect(actions).toEqual([]);
  expect(webhook).toMatchObject({ scheme: "hmac_sha256", header: "x-desk-signature", secretEnv: "" });
  const [trigger] = triggers;
  expect(trigger).toMatchObject({ slug: "desk.ticket_opened", ownerProjectId: projectId, namesAccount: true });
  const body = { type: "ticket.opened", id: "7", subject: "s", customer: "ada" };
  const normalized = (customer: unknown) => trigger?.normalize({ headers: {}, query: {}, body: { ...body, customer } });
  expect(normalized("ada")).toMatchObject({ entityId: "ada", account: "", dedupe: "7" });
  expect(normalized(undefined)).toMatchObject({ entityId: "" });
  for (const customer of ["a\nb", "x".repeat(201), { id: 1 }]) {
    expect(normalized(customer)).toMatchObject({ fault: expect.stringContaining("entity") });
  }
});

const many = (count: number, make: (n: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, make(n)]));
const hmac = { scheme: "hmac_sha256", header: "x-desk-signature", encoding: "hex" };
const open = { type: "object" };

test.each([
  [
    "a variable for the secret",
    { webhook: { ...hmac, secretEnv: "SVC_WEBHOOK_SECRET_X" } },
    "toolkit:webhook.secretEnv",
  ],
  ["an account", { trigger: { account: "{{body.team}}" } }, "tools.ticket_opened:account"],
  ["a body that is signed twice", { webhook: { ...hmac, signed: "{{body}}.{{body}}" } }, "toolkit:webhook.signed"],
  ["a time of several parts", { webhook: { ...hmac, timestamp: "{{body.a}}{{body.b}}" } }, "toolkit:webhook.timestamp"],
  [
    "21 rules to ignore",
    { webhook: { ...hmac, ignore: Array(21).fill({ body: { a: 1 } }) } },
    "toolkit:webhook.ignore",
  ],
  ["a rule of 51 fields", { trigger: { match: { body: many(51, () => 1) } } }, "tools.ticket_opened:match"],
  [
    "a rule of 101 values",
    { trigger: { match: { body: { a: Array.from({ length: 101 }, (_, n) => n) } } } },
    "tools.ticket_opened:match",
  ],
  [
    "201 placeholders",
    { trigger: { output: open, payload: many(201, (n) => `{{body.f${n}}}`) } },
    "tools.ticket_opened:payload",
  ],
  [
    "six values as JSON text",
    { trigger: { output: open, payload: many(6, () => "{{body | json}}") } },
    "tools.ticket_opened:payload",
  ],
  [
    "the hundredth element of a list",
    { trigger: { output: open, payload: { a: "{{body.list[100]}}" } } },
    "tools.ticket_opened:payload",
  ],
  [
    "a path of 33 steps",
    { trigger: { output: open, payload: { a: `{{body${".a".repeat(33)}}}` } } },
    "tools.ticket_opened:payload",
  ],
  [
    "an answer of 21 placeholders",
    {
      webhook: {
        ...hmac,
        handshakes: [{ method: "POST", when: { body: { a: 1 } }, answer: { json: many(21, () => "{{body.x}}") } }],
      },
    },
    "toolkit:webhook.handshakes[0].answer",
  ],
])("a private webhook may not have %s", async (_what, changes, place) => {
  expect(await placesOf(deskDefinition(changes))).toEqual([place]);
});

test("a private toolkit has at most 50 triggers, and needs a webhook for them", async () => {
  const source = JSON.parse(deskDefinition());
  const copies = many(50, (n) => ({
    ...source.tools.ticket_opened,
    description: `A customer opens a ticket of the kind ${n} in the help desk.`,
    match: { body: { type: `kind-${n}` } },
  }));
  expect(await placesOf(deskDefinition({ triggers: copies }))).toEqual(["toolkit:"]);
  const { webhook: _webhook, ...toolkit } = source.toolkit;
  expect(await placesOf(JSON.stringify({ ...source, toolkit }))).toEqual(["toolkit:webhook"]);
});

test("a pattern that would backtrack for ever answers at once, as each list and each length does", async () => {
  const { validateInput } = await actionOf(privateDefinition(withArgument({ type: "string", pattern: "^(a+)+$" })));
  expect(validateInput({ a: `${"a".repeat(100_000)}!` })).toHaveLength(1);
  expect(validateInput({ a: "aaa" })).toEqual([]);
  const unique = { type: "array", uniqueItems: true, items: { type: "string" } };
  const list = await actionOf(privateDefinition(withArgument(unique)));
  const items = Array.from({ length: 50_000 }, (_, index) => `i${index}`);
  expect(list.validateInput({ a: items })).toEqual([]);
  expect(list.validateInput({ a: [...items, "i7"] })).toHaveLength(1);
});

test.each([
  ["a{1000}".repeat(100), false],
  ["\\pL{1000}".repeat(4), false],
  ["(\\pL{30}){30}".repeat(10), false],
  ["((a{10}){10}){10}".repeat(10), false],
  ["\\pL?".repeat(15_001), false],
  ["^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", true],
  ["^[A-Za-z0-9_.-]{1,255}$", true],
])("a pattern that takes long to compile is refused before it is compiled: %.30s", async (pattern, accepted) => {
  const account = [{ name: "space", description: "Name of your space", pattern }];
  const places = accepted ? [[], []] : [["tools.read_order:"], ["toolkit:"]];
  expect(await placesOf(privateDefinition(withArgument({ type: "string", pattern })))).toEqual(places[0]);
  expect(await placesOf(privateDefinition({ toolkit: { account } }))).toEqual(places[1]);
});

test("patterns that differ are counted together, also those of property names and of rules; equal ones once", async () => {
  const patterns = Array.from({ length: 25 }, (_, n) => `^[a-z]{1,${200 + n}}$`);
  const rules = (all: string[]) =>
    all.map((pattern) => ({ pattern, patternProperties: { [pattern]: { type: "string" } } }));
  const place = (all: string[]) =>
    placesOf(privateDefinition(withArgument({ type: ["string", "object"], anyOf: rules(all) })));
  expect(await place(patterns)).toEqual(["tools.read_order:"]);
  expect(await place(patterns.slice(0, 20))).toEqual([]);
  expect(await place(patterns.map(() => "^[a-z]{1,200}$"))).toEqual([]);
});

test.each([
  ["a long example", { pattern: "^a+$", example: "a".repeat(501) }, "toolkit:account[0].example"],
  ["a long pattern", { pattern: "a".repeat(501) }, "toolkit:"],
  [
    "a pattern that takes long over its example",
    { pattern: "(?:[ab]{0,30}a){29}[^ab]$", example: "ab".repeat(200) },
    "toolkit:account[0].pattern",
  ],
])("refused: %s", async (_name, variable, place) => {
  const account = [{ name: "space", description: "Name of your space", ...variable }];
  const before = process.cpuUsage();
  expect(await placesOf(privateDefinition({ toolkit: { account } }))).toEqual([place]);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(1000);
});

test("more than twenty account variables are refused", async () => {
  const account = Array.from({ length: 21 }, (_, n) => ({ name: `v${n}`, description: "Name of your space" }));
  expect(await placesOf(privateDefinition({ toolkit: { account } }))).toEqual(["toolkit:account"]);
});

test.each([
  '{"if":{"type":"string"}}',
  '{"minContains":2}',
  '{"enum":[]}',
  '{"properties":{"b":{"description":"A b."}},"patternProperties":{"^b":{}}}',
])("a schema that only its compiler refuses is refused when it is published: %s", async (schema) => {
  const faults = await faultsOf(privateDefinition(withArgument(JSON.parse(schema) as object)));
  expect(faults).toMatchObject([{ file: "tools.read_order", path: "input" }]);
  expect(faults[0]?.reason).toContain("is not a schema that can be used");
});

test("a schema that takes long to compile is refused, as input, as output and in a rule", async () => {
  const allOf = Array.from({ length: 2000 }, () => ({ type: "string" }));
  const oneOf = Array.from({ length: 200 }, () => ({ type: "string" }));
  expect(await placesOf(privateDefinition(withArgument({ allOf })))).toEqual(["tools.read_order:input"]);
  expect(await placesOf(privateDefinition(withArgument({ oneOf })))).toEqual(["tools.read_order:input"]);
  expect(
    await placesOf(privateDefinition({ tool: { output: { type: "object", properties: { id: { allOf } } } } })),
  ).toEqual(["tools.read_order:output"]);
  const properties = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`p${n}`, { type: "string" }]));
  expect(await faultsOf(privateDefinition({ tool: { output: { type: "object", properties } } }))).toEqual([]);
});

test.each([
  ["a lone surrogate", "a\ud800"],
  ["NUL", "a\0"],
  ["an escape", "a\u001b[2J"],
  ["a C1 control", "a\u0085"],
])("%s is refused in any text and any name, and a fault's place can be sent", async (_name, text) => {
  const places = [
    privateDefinition({ toolkit: { name: text } }),
    privateDefinition({ toolkit: { always: { query: { [text]: "1" } } } }),
    privateDefinition({ tool: { request: { method: "GET", path: `/orders/{{params.id}}/${text}` } } }),
    privateDefinition(withArgument({ type: "string", enum: [text] })),
    privateDefinition(
      withArgument({ type: "object", properties: { [text]: { type: "string", description: "An a." } } }),
    ),
    JSON.stringify({ ...privateSource(), tools: { ...privateSource().tools, [text]: {} } }),
  ];
  for (const definition of places) {
    const faults = await faultsOf(definition);
    expect(faults.length).toBeGreaterThan(0);
    for (const { file, path } of faults) expect(`${file}${path}`.isWellFormed()).toBe(true);
  }
});

test("line breaks are allowed in texts, not in names", async () => {
  const description = "Reads one order of the shop\nwith its lines\tand its state of payment.";
  expect(await faultsOf(privateDefinition({ tool: { description } }))).toEqual([]);
  expect(await placesOf(privateDefinition({ toolkit: { always: { query: { "a\nb": "1" } } } }))).toHaveLength(1);
});

test.each([
  "/..",
  "/a/../b",
  "/a/.",
  "/a\\..\\b",
  "//evil.example/x",
  "/a//b",
  "/%2e%2E/a",
  "/a/%252e",
  "/a%2",
  "/a?b",
  "/a#b",
  "a",
])("the path %j is refused", async (start) => {
  const request = { method: "POST", path: start, body: { a: "{{params.a}}" } };
  const { input } = withArgument({ type: "string" });
  expect(await placesOf(privateDefinition({ input, tool: { class: "write", request } }))).toContain(
    "tools.read_order:request.path",
  );
});

test("a path of thousands of placeholders is judged at once", async () => {
  const before = process.cpuUsage();
  const request = { method: "GET", path: `/${"{{a}}".repeat(10_000)}?` };
  expect(await placesOf(privateDefinition({ tool: { request } }))).toContain("tools.read_order:request.path");
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(2000);
});

test.each(["a b", "a&b", "a=b", "a#b", "a%41", "\u{e4}", "x".repeat(101)])(
  "%j is no name for a key in the query",
  async (name) => {
    const auth = [{ type: "api_key", placement: "query", name, value: "{{credential.key}}" }];
    expect(await placesOf(privateDefinition({ toolkit: { auth } }))).toContain("toolkit:auth[0].name");
  },
);

test("a key in the path has its segment in the base URL, no name, and no scheme next to it", async () => {
  const inPath = { type: "api_key", placement: "path" };
  const baseUrl = "https://api.example.com/{{credential.key}}";
  const faultsOf = (toolkit: object) => placesOf(privateDefinition({ toolkit }));
  expect(await faultsOf({ baseUrl, auth: [inPath] })).toEqual([]);
  expect(await faultsOf({ auth: [inPath] })).toEqual(["toolkit:auth[0].placement"]);
  expect(await faultsOf({ baseUrl })).toEqual(["toolkit:baseUrl"]);
  expect(await faultsOf({ baseUrl: `${baseUrl}x`, auth: [inPath] })).toContain("toolkit:baseUrl");
  expect(await faultsOf({ baseUrl, auth: [inPath, { type: "none" }] })).toEqual(["toolkit:auth"]);
  const named = { ...inPath, name: "key", value: "{{credential.key}}" };
  expect(await faultsOf({ baseUrl, auth: [named] })).toEqual(["toolkit:auth[0].name", "toolkit:auth[0].value"]);
  const nameless = { type: "api_key", placement: "header" };
  expect(await faultsOf({ auth: [nameless] })).toEqual(["toolkit:auth[0].name", "toolkit:auth[0].value"]);
  const mcp = { url: "https://mcp.example.com/mcp" };
  expect(await faultsOf({ baseUrl: undefined, mcp, auth: [inPath] })).toContain("toolkit:auth[0].placement");
});

test.each("Proxy-Authorization Accept-Encoding X-HTTP-Method-Override x-method-override X-Http-Method".split(" "))(
  "the header %s is refused, whoever writes it",
  async (name) => {
    const auth = [{ type: "api_key", placement: "header", name, value: "{{credential.key}}" }];
    const always = { headers: { [name]: "x" } };
    expect(await placesOf(privateDefinition({ toolkit: { auth, always } }))).toEqual([
      "toolkit:auth[0].name",
      `toolkit:always.headers.${name}`,
    ]);
  },
);

test.each("_method _Method X_HTTP_Method_Override method-override _httpMethod X-HTTP-Method".split(" "))(
  "the field %s, which some servers take for the method, is refused wherever a definition sends it",
  async (name) => {
    const auth = [{ type: "api_key", placement: "query", name, value: "{{credential.key}}" }];
    const always = { query: { [name]: "DELETE" }, body: { [name]: "DELETE" } };
    const request = { method: "POST", path: "/orders", query: { [name]: "DELETE" }, body: { [name]: "DELETE" } };
    const places = await placesOf(privateDefinition({ toolkit: { auth, always }, tool: { class: "write", request } }));
    expect(places).toEqual(
      expect.arrayContaining([
        "toolkit:auth[0].name",
        `toolkit:always.query.${name}`,
        `toolkit:always.body.${name}`,
        expect.stringMatching(new RegExp(`request\\.query\\.${name}$`)),
        expect.stringMatching(new RegExp(`request\\.body\\.${name}$`)),
      ]),
    );
  },
);

test("property: any JSON in any place is a toolkit or a DefinitionError, nothing else", async () => {
  const names = "toolkit tools read_order input output properties id request path auth intents kind class value";
  const place = fc.constantFrom(...names.split(" "));
  await fc.assert(
    fc.asyncProperty(place, fc.jsonValue({ maxDepth: 6 }), fc.string(), async (key, value, name) => {
      const source: Record<string, unknown> = privateSource();
      const damaged = JSON.stringify(source, (at, item: unknown) => {
        return at === key ? (name.length % 2 === 0 ? value : { ...(item as object), [name]: value }) : item;
      });
      expect(Array.isArray(await faultsOf(damaged))).toBe(true);
    }),
    { numRuns: 150 },
  );
});

test("a private tool needs no intents, and may change something by a GET", async () => {
  const source = privateSource({
    tool: { class: "destructive", request: { method: "GET", path: "/cancel" }, input: emptyInput },
  });
  const { intents: _, ...bare } = source.tools.read_order as Record<string, unknown>;
  const toolkit = await parsePrivateToolkit(JSON.stringify({ ...source, tools: { read_order: bare } }), projectId);
  expect(toolkit.actions).toMatchObject([{ intents: [], class: "destructive" }]);
  expect(toolkit.actions.map(classToConfirm)).toEqual(["destructive"]);
});

const emptyInput = { type: "object", additionalProperties: false, properties: {} };

test.each([
  ["a form without a body", { method: "POST", path: "/x", encoding: "form" }, "request.encoding"],
  ["a form of a list", { method: "POST", path: "/x", encoding: "form", body: [1] }, "request.encoding"],
  ["deep in a body", { method: "POST", path: "/x", body: { a: "{{params.a | deep}}" } }, "request.body.a"],
  ["repeat in JSON", { method: "POST", path: "/x", body: { a: "{{params.a | repeat}}" } }, "request.body.a"],
  ["deep inside a text", { method: "POST", path: "/x", query: { a: "x{{params.a | deep}}" } }, "request.query.a"],
])("%s is refused", async (_what, request, path) => {
  const input = { ...emptyInput, properties: { a: { type: "object", description: "An object." } } };
  const faults = await placesOf(privateDefinition({ tool: { input, request } }));
  expect(faults).toContain(`tools.read_order:${path}`);
});

test("deep, form and text are parts of a private definition", async () => {
  const input = { ...emptyInput, properties: { a: { type: "object", description: "An object." } } };
  const request = { method: "POST", path: "/x", query: { a: "{{params.a | deep}}" }, body: { b: 1 }, encoding: "form" };
  const output = { type: "object", properties: { text: { type: "string" } } };
  const definition = privateDefinition({ tool: { class: "write", input, output, request, response: { as: "text" } } });
  expect(await placesOf(definition)).toEqual([]);
  const unwrapped = privateDefinition({
    tool: { class: "write", input, output, request, response: { as: "text", unwrap: "a" } },
  });
  expect(await placesOf(unwrapped)).toEqual(["tools.read_order:response.unwrap"]);
});

test("a stored toolkit with 1,500 tools is checked and compiled tool by tool, with a pause between any two", async () => {
  const { toolkit, tools } = JSON.parse(privateDefinition()) as { toolkit: object; tools: Record<string, object> };
  const [tool] = Object.values(tools);
  const names = Array.from({ length: 1_500 }, (_, at) => [`tool_${at}`, tool] as const);
  let pauses = 0;
  const definition = JSON.stringify({ toolkit, tools: Object.fromEntries(names) });
  const kept = parseKeptToolkit(
    definition,
    { ownerProjectId: projectId, isImported: false },
    {
      async rest() {
        pauses++;
      },
    },
  );
  expect((await kept).actions).toHaveLength(1_500);
  // One for each part of the definition in each of the four passes: numbers and sizes, patterns, form, compilation.
  expect(pauses).toBeGreaterThanOrEqual(4 * 1_500);
});

test.each([
  ["one secret only", [{ in: "header", name: "X-A", value: "{{credential.username}}" }], "auth[0].place"],
  [
    "the same place twice",
    [
      { in: "header", name: "X-A", value: "{{credential.username}}" },
      { in: "header", name: "x-a", value: "{{credential.password}}" },
    ],
    "auth[0].place",
  ],
  [
    "a header of the transport",
    [
      { in: "header", name: "Host", value: "{{credential.username}}" },
      { in: "query", name: "k", value: "{{credential.password}}" },
    ],
    "auth[0].place[0].name",
  ],
  [
    "another value",
    [
      { in: "header", name: "X-A", value: "{{credential.username}}{{credential.key}}" },
      { in: "query", name: "k", value: "{{credential.password}}" },
    ],
    "auth[0].place[0].value",
  ],
])("places of two secrets with %s are refused", async (_what, place, path) => {
  const definition = privateDefinition({ toolkit: { auth: [{ type: "basic", place }] } });
  expect(await placesOf(definition)).toEqual([`toolkit:${path}`]);
});
