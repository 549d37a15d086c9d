import { expect, test } from "vitest";
import { scopesOf } from "./scopes.ts";

test("what tools need stands beside what was granted, what is missing first", () => {
  const tools = [{ requiredScopes: ["read"] }, { requiredScopes: ["read", "write"] }, { requiredScopes: [] }];
  expect(scopesOf(["read", "profile"], tools)).toEqual({
    needed: [
      { scope: "write", tools: 1, isGranted: false },
      { scope: "read", tools: 2, isGranted: true },
    ],
    others: ["profile"],
  });
});

test("a scope covers what refines it, and an app that named none keeps none back", () => {
  const tools = [{ requiredScopes: ["calendar.read"] }];
  expect(scopesOf(["calendar"], tools).needed).toMatchObject([{ isGranted: true }]);
  expect(scopesOf(["cal"], tools).needed).toMatchObject([{ isGranted: false }]);
  expect(scopesOf([], tools).needed).toMatchObject([{ isGranted: true }]);
});
