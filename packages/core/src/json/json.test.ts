import { expect, test } from "vitest";
import { isObject } from "./json.ts";

test("of the JSON values, objects alone are objects: null and lists are none", () => {
  for (const value of [{}, { a: 1 }, Object.create(null)]) expect(isObject(value)).toBe(true);
  for (const value of [null, undefined, [], [{}], "x", 1, true]) expect(isObject(value)).toBe(false);
});
