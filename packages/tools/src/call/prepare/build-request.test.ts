import type { Toolkit } from "@svc/catalog";
import { createId } from "@svc/core";
import { catalogOf, type ToolkitSource } from "@svc/testing/catalog";
import { expect, test } from "vitest";
import { deskToolkit, hostedToolkit, unplacedToolkit } from "../test-toolkits.ts";
import { buildRequest } from "./build-request.ts";

function built(
  source: ToolkitSource,
  tool: string,
  params: Record<string, unknown>,
  {
    variables = {},
    deployment,
    isSandbox = false,
  }: { variables?: Record<string, string>; deployment?: object; isSandbox?: boolean } = {},
) {
  const catalog = catalogOf({ toolkits: [source], ...(deployment && { deployment }) });
  const toolkit = catalog.toolkits.get(source.toolkit.slug) as Toolkit;
  const action = catalog.tools.get(`${toolkit.slug}.${tool}`);
  if (action?.kind !== "action") throw new Error(`no action ${tool}`);
  const account = { id: createId("acc", 1), entityId: "e", scheme: "api_key", variables, grantedScopes: [] };
  return buildRequest({ toolkit, action, params, account }, { isSandbox });
}

/** Returns the toolkit of the test app, with the request of one tool changed. */
function changed(tool: string, request: object): ToolkitSource {
  const own = deskToolkit.tools[tool];
  return { ...deskToolkit, tools: { [tool]: { ...own, request } as typeof own & object } };
}

test("a request carries path, query and body as the definition places them", () => {
  expect(built(deskToolkit, "add_note", { id: "a b/c", text: "hi" })).toEqual({
    method: "POST",
    url: "https://desk.example.com/api/tickets/a%20b%2Fc/notes",
    headers: { accept: "application/json", "content-type": "application/json", "user-agent": "svc/0.1" },
    body: '{"text":"hi"}',
  });
});

test("spaces of the query are %20, lists repeat their name, and a request without body has no content type", () => {
  expect(built(deskToolkit, "find_tickets", { q: "a b+c&d=é", labels: ["x y", "z"] })).toEqual({
    method: "GET",
    url: "https://desk.example.com/api/tickets?q=a%20b%2Bc%26d%3D%C3%A9&label=x%20y&label=z",
    headers: { accept: "application/json", "user-agent": "svc/0.1" },
    body: undefined,
  });
  expect(built(deskToolkit, "find_tickets", {})).toHaveProperty("url", "https://desk.example.com/api/tickets");
});

test("a call that leaves out the body of its tool has no content type, not even that of the definition", () => {
  const body = { text: "{{params.text}}" };
  const headers = { "Content-Type": "application/vnd.x+json", "X-Pin": "{{params.pin}}" };
  const request = { method: "POST", path: "/t/{{params.id}}", headers, body, emptyBody: "none" };
  const source = changed("add_note", request);
  const common = { accept: "application/json", "user-agent": "svc/0.1", "x-pin": "p" };
  expect(built(source, "add_note", { id: "1", pin: "p" })).toMatchObject({ headers: common, body: undefined });
  expect(built(source, "add_note", { id: "1", pin: "p" })).not.toHaveProperty("headers.content-type");
  const given = { "content-type": "application/vnd.x+json", ...common };
  expect(built(source, "add_note", { id: "1", text: "a", pin: "p" })).toMatchObject({
    headers: given,
    body: '{"text":"a"}',
  });
});

test("no definition or argument replaces the user agent; media types may be set", () => {
  const headers = {
    "User-Agent": "{{params.text}}",
    Accept: "application/vnd.desk+json",
    "Content-Type": "application/vnd.x+json",
    "X-Pin": "{{params.pin}}",
  };
  const source = changed("add_note", { method: "POST", path: "/t/{{params.id}}", headers, body: {} });
  expect(built(source, "add_note", { id: "1", text: "evil", pin: "p" })).toHaveProperty("headers", {
    accept: "application/vnd.desk+json",
    "content-type": "application/vnd.x+json",
    "user-agent": "svc/0.1",
    "x-pin": "p",
  });
});

test.each([
  ["read_ticket", { id: ".." }],
  ["read_ticket", { id: "%2e%2E" }],
  ["read_ticket", { id: "" }],
  ["read_ticket", { id: "\ud800" }],
  ["find_tickets", { q: "\udc00" }],
])("%s with %j cannot be built", (tool, params) => {
  expect(built(deskToolkit, tool, params)).toMatchObject({ outcome: "invalid_arguments", message: expect.any(String) });
});

test("a header that would begin another is refused", () => {
  const source = changed("add_note", {
    method: "POST",
    path: "/t/{{params.id}}",
    headers: { "X-Text": "{{params.text}}" },
    body: { pin: "{{params.pin}}" },
  });
  expect(built(source, "add_note", { id: "1", text: "a\r\nX-Evil: 1" })).toHaveProperty("outcome", "invalid_arguments");
});

test("a toolkit without an address in the deployment is not_bound, with the missing key's name", () => {
  expect(built(unplacedToolkit, "read_ticket", { id: "1" })).toMatchObject({
    outcome: "not_bound",
    message: expect.stringContaining("toolkits.unplaced.provider_base_url"),
  });
  const deployment = { toolkits: { unplaced: { provider_base_url: "https://desk.example.org" } } };
  expect(built(unplacedToolkit, "read_ticket", { id: "1" }, { deployment })).toHaveProperty(
    "url",
    "https://desk.example.org/v1/tickets/1",
  );
});

test.each(["evil.example/#", "x@evil.example/", "", "a b", "evil.example:1"])(
  "the account variable %j makes no host",
  (site) => {
    expect(built(hostedToolkit, "read_ticket", { id: "1" }, { variables: { site } })).toHaveProperty(
      "outcome",
      "account_unusable",
    );
  },
);

test("an account's variable makes the host; in the sandbox every host leads nowhere", () => {
  const variables = { site: "acme" };
  expect(built(hostedToolkit, "read_ticket", { id: "1" }, { variables })).toHaveProperty(
    "url",
    "https://acme.example.com/tickets/1",
  );
  expect(built(unplacedToolkit, "read_ticket", { id: "1" }, { isSandbox: true })).toHaveProperty(
    "url",
    "https://unplaced.sandbox.invalid/tickets/1",
  );
});

const object = { type: "object", description: "An object." };

/** Returns the toolkit of the test app, in which `add_note` takes objects and sends them with this request. */
function withObjects(request: object, response?: object): ToolkitSource {
  const own = deskToolkit.tools["add_note"];
  const input = { type: "object", additionalProperties: false, properties: { a: object, b: object } };
  return {
    ...deskToolkit,
    tools: { add_note: { ...own, input, request, ...(response && { response }) } as typeof own & object },
  };
}

test("a form body writes nested values as a[b][0], and null as an empty value", () => {
  const source = withObjects({
    method: "POST",
    path: "/t",
    encoding: "form",
    body: { data: "{{params.a}}", other: { b: "{{params.b}}" }, kind: "x" },
  });
  const a = { "b c": [1, { d: true }], e: null, f: "&=é", g: [], big: JSON.parse("12") };
  expect(built(source, "add_note", { a })).toEqual({
    method: "POST",
    url: "https://desk.example.com/api/t",
    headers: {
      accept: "application/json",
      "content-type": "application/x-www-form-urlencoded",
      "user-agent": "svc/0.1",
    },
    body: "data%5Bb%20c%5D%5B0%5D=1&data%5Bb%20c%5D%5B1%5D%5Bd%5D=true&data%5Be%5D=&data%5Bf%5D=%26%3D%C3%A9&data%5Bbig%5D=12&kind=x",
  });
  expect(built(source, "add_note", { b: { x: "\ud800" } })).toEqual({
    outcome: "invalid_arguments",
    message: expect.stringMatching(/^form field other\[b\]\[x\] is .*not well-formed Unicode$/),
  });
  expect(built(source, "add_note", { b: { "x\ud800": 1 } })).toMatchObject({ outcome: "invalid_arguments" });
});

test("| deep writes an object of the query as one parameter for each member", () => {
  const source = withObjects({
    method: "POST",
    path: "/t",
    query: { filter: "{{params.a | deep}}", sort: "{{params.b | json}}" },
    body: {},
  });
  const url = (params: Record<string, unknown>) => (built(source, "add_note", params) as { url: string }).url;
  expect(url({ a: { state: "open", tags: ["x", "y"], made: { gte: 7 } } })).toBe(
    "https://desk.example.com/api/t?filter%5Bstate%5D=open&filter%5Btags%5D%5B0%5D=x&filter%5Btags%5D%5B1%5D=y&filter%5Bmade%5D%5Bgte%5D=7",
  );
  expect(url({ b: { a: 1 } })).toBe("https://desk.example.com/api/t?sort=%7B%22a%22%3A1%7D");
});

test("a tool whose answer is a text accepts every media type", () => {
  const source = withObjects(
    { method: "POST", path: "/t", body: { a: "{{params.a}}", b: "{{params.b}}" } },
    { as: "text" },
  );
  expect(built(source, "add_note", {})).toHaveProperty("headers.accept", "*/*");
});
