import { expect, test } from "vitest";
import { createRedactor, credentialsOf, redactTexts } from "./redact.ts";

const request = {
  method: "GET",
  url: "https://a.example/x?q=1",
  headers: { accept: "application/json" },
  body: undefined,
};

test("secrets are taken out as they are, in JSON and in URLs; the longest first", () => {
  const redact = createRedactor(['pa"ss', "pa", "abc", "abcdef", "a b"]);
  expect(redact('said pa"ss, {"p":"pa\\"ss"}, ?p=pa%22ss&q=a%20b, abcdef abc pa')).toBe(
    'said ***, {"p":"***"}, ?p=***&q=***, *** *** pa',
  );
});

test("a credential is what authorizing added, in every form an app may quote", () => {
  const basic = Buffer.from("user:pass:word").toString("base64");
  const authorized = {
    ...request,
    url: `${request.url}&key=k%20ey`,
    headers: { ...request.headers, Authorization: `Basic ${basic}`, "X-Key": "plain", Other: "Bearer tok" },
  };
  expect(credentialsOf(request, authorized)).toEqual([
    `Basic ${basic}`,
    basic,
    "user:pass:word",
    "pass:word",
    "plain",
    "Bearer tok",
    "tok",
    "k ey",
  ]);
  expect(credentialsOf(request, request)).toEqual([]);
});

test("a secret is found in every way that URLs, forms and HTML write it", () => {
  const redact = createRedactor(["sk/live+a b&c"]);
  for (const form of ["sk%2flive%2ba%20b%26c", "sk%2Flive%2Ba+b%26c", "sk/live+a b&amp;c"]) {
    expect(redact(`key ${form}.`)).toBe("key ***.");
  }
});

test("texts of a result are redacted at any depth, and a result without secrets is the same value", () => {
  const redact = createRedactor(["secret-key"]);
  const clean = { a: [1, "x", null, { b: "plain" }] };
  expect(redactTexts(clean, redact)).toBe(clean);
  expect(redactTexts({ a: ["Bearer secret-key", { b: 2 }] }, redact)).toEqual({ a: ["Bearer ***", { b: 2 }] });
});
