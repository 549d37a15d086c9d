import { parseTemplateTree } from "@svc/core";
import { expect, test } from "vitest";
import { placeCredential, placeMask } from "./place-credential.ts";

const request = { method: "GET", url: "https://desk.example.com/a?x=1", headers: { accept: "*/*" }, body: undefined };
const scheme = {
  type: "basic" as const,
  place: [
    { in: "header" as const, name: "X-App-Id", value: parseTemplateTree("{{credential.username}}") },
    { in: "query" as const, name: "key", value: parseTemplateTree("v1-{{credential.password}}") },
  ],
};

test("two secrets are sent in the two declared places, and not as basic authentication", () => {
  const credential = { scheme: "basic" as const, username: "ada", password: "p&w" };
  expect(placeCredential(scheme, credential, {}, request)).toEqual({
    ...request,
    url: "https://desk.example.com/a?x=1&key=v1-p%26w",
    headers: { accept: "*/*", "X-App-Id": "ada" },
  });
  expect(placeMask(scheme, {}, request)).toMatchObject({
    url: "https://desk.example.com/a?x=1&key=v1-***",
    headers: { "X-App-Id": "***" },
  });
});

test("a secret that would begin another header is not sent", () => {
  const credential = { scheme: "basic" as const, username: "ada\r\nX: 1", password: "p" };
  expect(placeCredential(scheme, credential, {}, request)).toEqual({
    fault: expect.stringContaining("a header cannot"),
  });
});

test("a key in the path fills its segment of the base URL only, and is masked there", () => {
  const inPath = { type: "api_key" as const, placement: "path" as const };
  const from = { ...request, url: "https://desk.example.com/{{credential.key}}/a%7B%7Bcredential.key%7D%7D?x=1" };
  const urlOf = (key: string) => {
    const placed = placeCredential(inPath, { scheme: "api_key", key }, {}, from);
    return "url" in placed ? placed.url : placed.fault;
  };
  const whole = (segment: string) => `https://desk.example.com/${segment}/a%7B%7Bcredential.key%7D%7D?x=1`;
  expect(urlOf("bot12:A_b-c")).toBe(whole("bot12:A_b-c"));
  expect(urlOf("a b?c#d$&%41")).toBe(whole("a%20b%3Fc%23d$&%2541"));
  expect(placeMask(inPath, {}, from).url).toBe(whole("***"));
  for (const key of ["..", ".", "%2e%2E", "a/b", "a\\b", "a\nb", "", "\ud800"]) {
    expect(urlOf(key)).toContain("a path cannot carry");
  }
});

test("basic authentication without places is one header", () => {
  const credential = { scheme: "basic" as const, username: "ada", password: "pw" };
  expect(placeCredential({ type: "basic" }, credential, {}, request)).toHaveProperty(
    "headers.authorization",
    "Basic YWRhOnB3",
  );
  expect(placeMask({ type: "basic" }, {}, request)).toHaveProperty("headers.authorization", "Basic ***");
});
