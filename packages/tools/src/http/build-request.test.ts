import { expect, test } from "vitest";
import { buildHttpRequest } from "./build-request.ts";

const base = "https://api.example.com";
const build = (changes: object) => buildHttpRequest({ method: "POST", url: [`${base}/x`], ...changes });

test.each([
  ["plain", "plain"],
  ["a/b", "a%2Fb"],
  ["../admin", "..%2Fadmin"],
  ["?x=1", "%3Fx%3D1"],
  ["#x", "%23x"],
  ["a\\b", "a%5Cb"],
  ["%2e%2e", "%252e%252e"],
  ["@evil.example", "%40evil.example"],
  ["ü", "%C3%BC"],
  ["\n", "%0A"],
  [7, "7"],
  [true, "true"],
])("the value %j stays in its segment: %s", (value, segment) => {
  expect(build({ url: [`${base}/x/`, value, "/y"] })).toMatchObject({
    request: { url: `${base}/x/${segment}/y` },
    host: "api.example.com",
  });
});

test.each([["."], [".."], [""], [null], [{}], [[]], ["\ud800"], ["x".repeat(9_000)]])(
  "no request is built with %j in its address",
  (value) => {
    expect(build({ url: [`${base}/x/`, value] })).toEqual({ fault: { pointer: "/url", message: expect.any(String) } });
  },
);

test("dots formed by two values, or by a value and its text, are refused too", () => {
  for (const url of [
    [`${base}/`, ".", "", "."],
    [`${base}/.`, "."],
    [`${base}/%2e`, "."],
    [`${base}/a/../`, "b"],
  ]) {
    expect(build({ url })).toEqual({ fault: { pointer: "/url", message: "has a segment that is . or .." } });
  }
});

test.each<[string, object]>([
  ["a header", { headers: { "X-HTTP-Method-Override": "DELETE" } }],
  ["a parameter", { query: { _method: "DELETE" } }],
  ["a parameter that a value completes", { url: [`${base}/x?_me`, "thod", "=DELETE"] }],
  ["an escaped parameter", { url: [`${base}/x?%5Fmethod=DELETE`] }],
  ["a field of JSON", { body: { _method: "DELETE" } }],
  [
    "a field of a form",
    { headers: { "content-type": "application/x-www-form-urlencoded" }, body: { _method: "DELETE" } },
  ],
  [
    "a form as a text",
    { headers: { "Content-Type": "application/x-www-form-urlencoded; charset=utf-8" }, body: "a=1&%5Fmethod=DELETE" },
  ],
  [
    "a part of a form",
    {
      headers: { "content-type": "multipart/form-data; boundary=b" },
      body: '--b\r\ncontent-disposition: form-data; name="_method"\r\n\r\nDELETE\r\n--b--',
    },
  ],
])("a request that asks for another method by %s is not built", (_what, changes) => {
  expect(build(changes)).toMatchObject({ fault: { message: expect.stringContaining("would change the method") } });
});

test("headers are single lines of ASCII, under names in lower case; the service's own stay", () => {
  const headers = { Authorization: "Bearer planted", "X-N": 7, accept: "text/csv" };
  expect(build({ headers, body: {} })).toMatchObject({
    request: {
      headers: {
        authorization: "Bearer planted",
        "x-n": "7",
        accept: "text/csv",
        "content-type": "application/json",
        "user-agent": "svc/0.1",
      },
    },
  });
  for (const value of ["planted\r\nx: y", "planted\n", "plänted", "planted\0", "x".repeat(9_000), {}, null]) {
    const built = build({ headers: { authorization: value } });
    expect(built).toEqual({
      fault: { pointer: "/headers/authorization", message: expect.stringMatching(/is not /) },
    });
    expect(JSON.stringify(built)).not.toMatch(/pl[aä]nted/);
  }
});

test("parameters are added after those of the address", () => {
  const query = { a: "b c&d", list: [1, "x"], none: [] };
  expect(build({ query })).toMatchObject({ request: { url: `${base}/x?a=b%20c%26d&list=1&list=x` } });
  expect(build({ url: [`${base}/x?y=`, "1"], query: { a: true } })).toMatchObject({
    request: { url: `${base}/x?y=1&a=true` },
  });
  expect(build({ query: { a: { b: 1 } } })).toEqual({
    fault: { pointer: "/query/a", message: "has a value that is not a text, number, true or false" },
  });
});

test("a body of a form is written as one", () => {
  const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
  const body = { amount: 7, "a b": ["x&y", "ü +"], on: true };
  expect(build({ headers, body })).toMatchObject({ request: { body: "amount=7&a+b=x%26y&a+b=%C3%BC+%2B&on=true" } });
  expect(build({ headers, body: "as=it&is" })).toMatchObject({ request: { body: "as=it&is" } });
  expect(build({ headers, body: { deep: { a: 1 } } })).toMatchObject({ fault: { pointer: "/body/deep" } });
});

test("a body is JSON unless its content-type says otherwise, and at most 1 MiB", () => {
  const text = { "content-type": "text/plain; charset=utf-8" };
  const json = { "Content-Type": "application/vnd.api+json" };
  expect(build({ body: "x" })).toMatchObject({ request: { body: '"x"' } });
  expect(build({ body: { a: 1 }, headers: json })).toMatchObject({ request: { body: '{"a":1}' } });
  expect(build({ body: "x", headers: text })).toMatchObject({ request: { body: "x" } });
  expect(build({ body: { a: 1 }, headers: text })).toEqual({
    fault: { pointer: "/body", message: "is not a text, and its content-type is not JSON" },
  });
  expect(build({ body: "x".repeat(1_048_577) })).toEqual({
    fault: { pointer: "/body", message: "is longer than 1048576 bytes" },
  });
  expect(build({})).toMatchObject({ request: { body: undefined } });
});
