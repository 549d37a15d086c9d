import { expect, test } from "vitest";
import { scopeWords } from "./scope.ts";

test.each([
  ["{scope_base}/calendar.events", "calendar.events"],
  ["https://scopes.example.com/calendar", "https://scopes.example.com/calendar"],
  ["repo", "repo"],
])("%s is told as %s", (scope, words) => {
  expect(scopeWords(scope)).toBe(words);
});
