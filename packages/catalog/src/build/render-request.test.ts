import { parseTemplateTree } from "@svc/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fieldsText, RequestValueError, renderRequest } from "./render-request.ts";

type Part = { path?: string; query?: object; headers?: object; body?: unknown; encoding?: "form"; emptyBody?: "none" };
type Always = { query?: object; headers?: object; body?: object };

/** Renders a part of a request from a template, as definitions contain it. */
function renderForm(body: object, params: Record<string, unknown>) {
  return fieldsText(render({ body, encoding: "form" }, params).form ?? []);
}

function render(part: Part, params: Record<string, unknown> = {}, always: Always = {}) {
  const { path = "/", query = {}, headers = {}, body, ...others } = part;
  const toolkit = {
    always: {
      query: parseTemplateTree(always.query ?? {}),
      headers: parseTemplateTree(always.headers ?? {}),
      body: parseTemplateTree(always.body ?? {}),
    },
  };
  const request = {
    method: "POST" as const,
    path: parseTemplateTree(path),
    query: parseTemplateTree(query),
    headers: parseTemplateTree(headers),
    body: body === undefined ? undefined : parseTemplateTree(body),
    ...others,
  };
  return renderRequest(toolkit, { request }, { params, account: { space: "acme" } });
}

test("a path argument is one encoded segment, or a part of one", () => {
  const path = (id: unknown) => render({ path: "/a/{{params.id}}/b" }, { id }).path;
  expect(path("x")).toBe("/a/x/b");
  expect(path(7)).toBe("/a/7/b");
  expect(path("a/b?c#d e%2f")).toBe("/a/a%2Fb%3Fc%23d%20e%252f/b");
  expect(path("\u{e4}\u{1f600}")).toBe("/a/%C3%A4%F0%9F%98%80/b");
  expect(path("../../admin")).toBe("/a/..%2F..%2Fadmin/b");
  expect(path("...")).toBe("/a/.../b");
  expect(render({ path: "/{{account.space}}/{{params.a}}:{{params.b}}.json" }, { a: "x", b: "y" }).path).toBe(
    "/acme/x:y.json",
  );
});

test.each([".", "..", "%2e", "%2E%2e", ".%2e", "%2e.", "%252e%252E", "%25252e.", ""])(
  "%j as a path argument is refused",
  (id) => {
    expect(() => render({ path: "/a/{{params.id}}/b" }, { id })).toThrow(RequestValueError);
  },
);

test.each(["\ud800", "a\udc00", null, undefined, true, {}, ["a"]])("%j is no path segment", (id) => {
  expect(() => render({ path: "/a/{{params.id}}" }, { id })).toThrow(RequestValueError);
});

test("property: a path keeps its segments, whatever the argument", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(..."./%2eE\\?#5") })), (id) => {
      let path: string;
      try {
        ({ path } = render({ path: "/a/{{params.id}}/b" }, { id }));
      } catch (error) {
        expect(error).toBeInstanceOf(RequestValueError);
        return;
      }
      const url = new URL(`https://example.com${path}`);
      expect(url.pathname.split("/")).toHaveLength(4);
      expect(decodeURIComponent(url.pathname.split("/")[2] ?? "")).toBe(id);
      expect(url.search + url.hash).toBe("");
    }),
  );
});

test("lists in a query repeat their name unless csv joins them, in the declared order", () => {
  const query = {
    ids: "{{params.ids}}",
    joined: "{{params.ids | csv}}",
    n: "{{params.n}}",
    fixed: ["a", 1],
    last: true,
  };
  expect(render({ query }, { ids: ["x", "y&z"], n: 0 }).query).toEqual([
    ["ids", "x"],
    ["ids", "y&z"],
    ["joined", "x,y&z", ["x", "y&z"]],
    ["n", "0"],
    ["fixed", "a"],
    ["fixed", "1"],
    ["last", "true"],
  ]);
});

test("a comma in an item of a joined list is escaped, and the commas between the items are not", () => {
  const joined = render({ query: { tags: "{{params.tags | csv}}" } }, { tags: ["a,b", "c"] });
  expect(fieldsText(joined.query)).toBe("tags=a%2Cb,c");
});

test("a form repeats a list with repeat, joins one with csv, and nests any other value in brackets", () => {
  const body = {
    bins: "{{params.bins | repeat}}",
    tags: "{{params.bins | csv}}",
    lines: "{{params.lines}}",
    kind: "x",
  };
  const sent = renderForm(body, { bins: ["A1", "B,2"], lines: [{ sku: "s" }] });
  expect(sent).toBe("bins=A1&bins=B%2C2&tags=A1,B%2C2&lines%5B0%5D%5Bsku%5D=s&kind=x");
});

test("a body without any given field is {}, or none if the tool says so", () => {
  const body = { a: "{{params.a}}" };
  expect([render({ body }).body, render({ body, emptyBody: "none" }).body]).toEqual([{}, undefined]);
  expect(render({ body, emptyBody: "none" }, { a: 1 }).body).toEqual({ a: 1 });
});

test("absent and null arguments omit a query and headers, and so does a text that contains them", () => {
  const fields = { a: "{{params.a}}", b: "x-{{params.a}}", c: "{{params.list}}", d: "{{params.none}}" };
  const rendered = render(
    { query: fields, headers: { a: fields.a, b: fields.b, d: fields.d } },
    { list: [null], none: null },
  );
  expect(rendered).toMatchObject({ query: [], headers: {} });
});

test("objects in a query or header are refused, and json writes them", () => {
  const params = { filter: { a: [1] }, list: [{ a: 1 }] };
  expect(() => render({ query: { f: "{{params.filter}}" } }, params)).toThrow("query parameter f");
  expect(() => render({ query: { f: "{{params.list}}" } }, params)).toThrow(RequestValueError);
  expect(() => render({ headers: { f: "{{params.filter}}" } }, params)).toThrow("header f");
  expect(() => render({ query: { f: "x{{params.filter}}" } }, params)).toThrow(RequestValueError);
  expect(render({ query: { f: "{{params.filter | json}}" } }, params).query).toEqual([["f", '{"a":[1]}']]);
});

test.each(["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "\u{e4}", "a\u{2028}b", "\x7f"])(
  "%j as a header is refused",
  (value) => {
    expect(() => render({ headers: { "X-A": "{{params.a}}" } }, { a: value })).toThrow("printable ASCII only");
    expect(() => render({ headers: { "X-A": "{{params.a}}" } }, { a: ["ok", value] })).toThrow(RequestValueError);
  },
);

test.each([
  "_method",
  "_METHOD",
  "X-HTTP-Method-Override",
  "x_http_method_override",
  "X-Method-Override",
  "_HttpMethod",
])("an argument that is sent as it is may not carry %s, by which some servers do another method", (name) => {
  for (const part of [
    { query: "{{params.all}}" },
    { headers: "{{params.all}}" },
    { body: "{{params.all}}" },
  ] as Part[]) {
    expect(() => render(part, { all: { [name]: "DELETE" } }), JSON.stringify(part)).toThrow(RequestValueError);
  }
  expect(() => render({}, {}, { body: { [name]: "DELETE" } })).toThrow("would change the method of the call");
  // Names inside nested objects, and names used as values, are ordinary data.
  const data = { method: "card", nested: { [name]: "DELETE" }, list: [name] };
  expect(render({ body: "{{params.all}}" }, { all: data }).body).toEqual(data);
});

test("a header takes printable text, and a list as one line", () => {
  const headers = { "X-A": "Bearer {{params.a}}", "X-B": "{{params.b}}", "X-C": 1 };
  expect(render({ headers }, { a: "t\t~", b: ["x", 2] }).headers).toEqual({
    "X-A": "Bearer t\t~",
    "X-B": "x, 2",
    "X-C": "1",
  });
});

test("the tool's own values win over what every call carries, headers whatever their case", () => {
  const always = {
    query: { v: "1", keep: "{{account.space}}" },
    headers: { "X-Version": "1", "X-Keep": "k" },
    body: { v: 1, keep: true },
  };
  const own = { query: { v: "2" }, headers: { "x-version": "2" }, body: { v: 2, a: "{{params.a}}" } };
  expect(render(own, { a: 1 }, always)).toMatchObject({
    query: [
      ["v", "2"],
      ["keep", "acme"],
    ],
    headers: { "x-version": "2", "X-Keep": "k" },
    body: { v: 2, keep: true, a: 1 },
  });
  expect(Object.keys(render(own, {}, always).headers)).toHaveLength(2);
});

test("an absent value of the tool's own leaves what every call carries", () => {
  const always = { query: { v: "1" }, headers: { "X-V": "1" }, body: { v: 1 } };
  const own = { query: { v: "{{params.v}}" }, headers: { "X-V": "{{params.v}}" }, body: { v: "{{params.v}}" } };
  expect(render(own, {}, always)).toMatchObject({ query: [["v", "1"]], headers: { "X-V": "1" }, body: { v: 1 } });
  const joined = { query: { v: "{{params.v | csv}}" } };
  expect(render(joined, {}, always).query).toEqual([["v", "1"]]);
  expect(render(joined, { v: [2, 3] }, always).query).toEqual([["v", "2,3", ["2", "3"]]]);
  const form = { body: { v: "{{params.v | csv}}" }, encoding: "form" } as const;
  expect(render(form, {}, always).form).toEqual([["v", "1"]]);
});

test("a declared body without content is an empty object or list", () => {
  expect(render({ body: { a: "{{params.a}}", b: { c: "{{params.c}}" } } }).body).toEqual({});
  expect(render({ body: ["{{params.a}}"] }).body).toEqual([]);
  expect(render({ body: {} }).body).toEqual({});
  expect(render({}).body).toBeUndefined();
  expect(render({}, {}, { body: { v: 1 } }).body).toEqual({ v: 1 });
});

test("a body may be a list or one placeholder, and keeps types and nulls", () => {
  expect(render({ body: "{{params.records}}" }, { records: [1, { a: null }] }).body).toEqual([1, { a: null }]);
  expect(render({ body: "{{params.records}}" }).body).toBeUndefined();
  expect(render({ body: [{ id: "{{params.id}}" }] }, { id: 7 }).body).toEqual([{ id: 7 }]);
  expect(render({ body: [{ id: "{{params.id}}" }] }, { id: 7 }, { body: { v: 1 } }).body).toEqual([{ id: 7 }]);
  expect(render({ body: { a: "{{params.a}}", b: "x{{params.a}}" } }, { a: null }).body).toEqual({ a: null });
});

test("each, json and literal braces shape a body", () => {
  const body = { to: "{{params.to | each(email)}}", data: "{{params.data | json}}", text: "{{{{name}}" };
  expect(render({ body }, { to: ["a", "b"], data: { a: 1 } }).body).toEqual({
    to: [{ email: "a" }, { email: "b" }],
    data: '{"a":1}',
    text: "{{name}}",
  });
});

test("property: a JSON argument that is a whole field arrives unchanged", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(render({ body: { deep: [{ value: "{{params.value}}" }] } }, { value }).body).toEqual({
        deep: [{ value }],
      });
    }),
  );
});
