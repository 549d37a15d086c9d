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

test("basic authentication without places is one header", () => {
  const credential = { scheme: "basic" as const, username: "ada", password: "pw" };
  expect(placeCredential({ type: "basic" }, credential, {}, request)).toHaveProperty(
    "headers.authorization",
    "Basic YWRhOnB3",
  );
  expect(placeMask({ type: "basic" }, {}, request)).toHaveProperty("headers.authorization", "Basic ***");
});
