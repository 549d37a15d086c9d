import { parseExactJson } from "@svc/core";
import { expect, test } from "vitest";
import { kindText } from "./name.ts";

test.each([
  [undefined, "nothing"],
  [null, "null"],
  [[1], "a list"],
  ["x", "a text"],
  [false, "true or false"],
  [1.5, "a number"],
  [parseExactJson("9007199254740993"), "a number"],
  [{}, "an empty object"],
  [{ secret: "word" }, 'an object with "secret"'],
] as const)("%j is told as %s", (value, text) => {
  expect(kindText(value as never)).toBe(text);
});
