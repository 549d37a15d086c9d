import { fillInput, renderRequest } from "@svc/catalog";
import { withPlainNumbers } from "@svc/core";
import { catalogOf } from "@svc/testing/catalog";
import fc from "fast-check";
import { expect, test } from "vitest";
import { matchRequest } from "./match-request.ts";

type Body = Record<string, unknown>;

/** Returns the tool of a test toolkit. Its request uses every form of the template language. */
function toolOf(request: object, properties: Record<string, object>, required: string[] = []) {
  const described = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, { description: `The ${name}.`, ...schema }]),
  );
  const catalog = catalogOf({
    toolkits: [
      {
        toolkit: {
          slug: "forms",
          name: "Forms",
          description: "Every form of a request template, for tests of reading requests back.",
          version: "0.1.0",
          category: "knowledge",
          baseUrl: "https://forms.example.com/{{account.tenant}}/v1",
          auth: [{ type: "none" }],
          account: [{ name: "tenant", description: "Name of the tenant", example: "acme" }],
          always: { headers: { "X-Version": "2" }, query: { locale: "en" }, body: {} },
        },
        tools: {
          send_form: {
            kind: "action",
            class: "write",
            description: "Sends one form with all that it holds, for tests of reading requests back.",
            intents: ["fill in the form", "hand in an application", "post an entry"],
            input: { type: "object", additionalProperties: false, required, properties: described },
            output: { type: "object", properties: { id: { type: "string" } } },
            request: request as never,
          },
        },
      },
    ],
  });
  const toolkit = catalog.toolkits.get("forms");
  const action = catalog.tools.get("forms.send_form");
  if (toolkit === undefined || action?.kind !== "action") throw new Error("not loaded");
  return { toolkit, action };
}

type Tool = ReturnType<typeof toolOf>;
type Change = { url?: string; body?: string | undefined; headers?: Record<string, string> };

function read({ toolkit, action }: Tool, args: Body, change: Change = {}) {
  const params = fillInput(action.inputSchema, args) as Body;
  const rendered = renderRequest(toolkit, action, { params, account: { tenant: "acme" } });
  const query = new URLSearchParams(rendered.query.map(([name, value]): [string, string] => [name, value]));
  const request = {
    method: rendered.method,
    url: `https://forms.example.com/acme/v1${rendered.path}?${query}`,
    headers: { "content-type": "application/json", ...rendered.headers },
    body: rendered.body === undefined ? undefined : JSON.stringify(rendered.body),
    ...change,
  };
  return matchRequest(toolkit, action, request, { credentialQuery: [] });
}

const everyForm = toolOf(
  {
    method: "POST",
    path: "/forms/{{params.id}}/v{{params.version}}:send",
    query: { tag: "{{params.tags}}", ids: "{{params.ids | csv}}", q: "is:{{params.state}} in:{{params.place}}" },
    headers: { "X-Count": "{{params.count}}", "X-Who": "user {{params.who}}" },
    body: {
      fixed: { kind: "form", parts: [1, 2] },
      payload: "{{params.payload | json}}",
      people: "{{params.people | each(email)}}",
      number: "{{params.number | int}}",
      list: ["{{params.first}}", { deep: "{{params.deep.inner}}" }],
      any: "{{params.any}}",
    },
  },
  {
    id: { type: "string" },
    version: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
    ids: { type: "array", items: { type: "integer" } },
    state: { enum: ["open", "closed"], type: "string" },
    place: { type: "string" },
    count: { type: "integer" },
    who: { type: "string" },
    payload: { type: "object" },
    people: { type: "array", items: { type: "string" } },
    number: { type: "string", pattern: "^[1-9][0-9]{0,5}$" },
    first: { type: "integer" },
    deep: { type: "object", properties: { inner: { type: "boolean", description: "The inner one." } } },
    any: { type: ["object", "array", "string", "number", "boolean"] },
  },
  ["id", "version"],
);

const word = fc.stringMatching(/^[a-z][a-z0-9/?&=+% ]{0,8}[a-z]$/);

test("arguments are read back from every form of a template as they were given", () => {
  const json = fc.json({ maxDepth: 2 }).map((text) => JSON.parse(text) as unknown);
  const args = fc.record(
    {
      id: word,
      version: fc.nat(),
      tags: fc.array(word, { minLength: 1, maxLength: 3 }),
      ids: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
      count: fc.nat(),
      who: word,
      payload: fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.jsonValue({ maxDepth: 1 })),
      people: fc.array(word, { maxLength: 3 }),
      first: fc.nat(),
      deep: fc.record({ inner: fc.boolean() }),
      any: json.filter(
        (value) => value !== null && JSON.stringify(value) === JSON.stringify(JSON.parse(JSON.stringify(value))),
      ),
    },
    { requiredKeys: ["id", "version", "first"] },
  );
  fc.assert(
    fc.property(args, (given) => {
      const expected = JSON.parse(JSON.stringify(given));
      expect(withPlainNumbers(read(everyForm, given))).toMatchObject({ args: expected });
    }),
    { numRuns: 200 },
  );
});

test("several arguments in one text are told apart by what stands between them", () => {
  const given = { id: "a", version: 1, state: "open", place: "the office", number: "17", first: 1 };
  expect(read(everyForm, given)).toMatchObject({ args: { ...given, number: 17 } });
});

const small = toolOf(
  { method: "POST", path: "/forms", query: { n: "{{params.n}}" }, body: { title: "{{params.title}}", kind: "form" } },
  { title: { type: "string" }, n: { type: "integer" } },
  ["title"],
);

test.each<[string, Change, string]>([
  ["a body that is no JSON", { body: "{" }, "body is not JSON"],
  ["no body", { body: undefined }, "body.title is required"],
  ["a list for a body", { body: "[]" }, "body must be an object"],
  ["another constant", { body: '{"title":"x","kind":"letter"}' }, 'body.kind must be "form"'],
  ["a missing constant", { body: '{"title":"x"}' }, "body.kind is required"],
  ["another type", { body: '{"title":5,"kind":"form"}' }, "title must be string"],
  [
    "a header of the toolkit missing",
    { headers: { "content-type": "application/json" } },
    "header X-Version is required",
  ],
  [
    "another version",
    { headers: { "content-type": "application/json", "x-version": "3" } },
    "header X-Version must be 2",
  ],
  [
    "a parameter twice",
    { url: "https://forms.example.com/acme/v1/forms?locale=en&n=1&n=2" },
    "query parameter n may be given only once",
  ],
  [
    "a parameter of the toolkit missing",
    { url: "https://forms.example.com/acme/v1/forms" },
    "query parameter locale is required",
  ],
])("%s is refused by name", (_what, change, fault) => {
  const refused = read(small, { title: "x" }, change);
  if (!("status" in refused)) throw new Error("accepted");
  expect(refused.status).toBe(400);
  expect(refused.faults).toContain(fault);
});

test("a name that objects are born with is an argument like any other", () => {
  const tool = toolOf({ method: "POST", path: "/forms/{{params.constructor}}" }, { constructor: { type: "string" } }, [
    "constructor",
  ]);
  expect(read(tool, { constructor: "x" })).toMatchObject({ args: { constructor: "x" } });
});

test("forms and deep parameters are read back with the types of the schema", () => {
  const described = (schema: object) => ({ description: "A member.", ...schema });
  const a = {
    type: "object",
    properties: {
      n: described({ type: "integer" }),
      on: described({ type: "boolean" }),
      tags: described({ type: "array", items: { type: "string" } }),
    },
  };
  const request = {
    method: "POST",
    path: "/forms",
    encoding: "form",
    query: { filter: "{{params.q | deep}}" },
    body: { a: "{{params.a}}", kind: "x", bins: "{{params.bins | repeat}}" },
  };
  const bins = { type: "array", items: { type: "integer" } };
  const tool = toolOf(request, { a, q: a, bins });
  const args = { a: { n: 3, on: true, tags: ["x", "y"] }, q: { n: 4, tags: ["z"] }, bins: [7] };
  const { query, headers, body } = renderRequest(tool.toolkit, tool.action, {
    params: args,
    account: { tenant: "acme" },
  });
  expect(query).toEqual([
    ["locale", "en"],
    ["filter[n]", "4"],
    ["filter[tags][0]", "z"],
  ]);
  const search = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value]));
  const sent = {
    method: "POST",
    url: `https://forms.example.com/acme/v1/forms?${search}`,
    headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
    body: "a%5Bn%5D=3&a%5Bon%5D=true&a%5Btags%5D%5B0%5D=x&a%5Btags%5D%5B1%5D=y&kind=x&bins=7",
  };
  expect(body).toEqual({ a: args.a, kind: "x", bins: [7] });
  expect(matchRequest(tool.toolkit, tool.action, sent, { credentialQuery: [] })).toMatchObject({ args });
  const wrong = { ...sent, body: "a%5Bn%5D=3&kind=y&more=1" };
  expect(matchRequest(tool.toolkit, tool.action, wrong, { credentialQuery: [] })).toMatchObject({
    status: 400,
    faults: ["body.more is not known here", 'body.kind must be "x"'],
  });
});
