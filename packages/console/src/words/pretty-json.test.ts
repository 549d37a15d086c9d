import fc from "fast-check";
import { expect, test } from "vitest";
import { prettyJson } from "./pretty-json.ts";

test("any JSON is laid out as JSON.stringify lays it out", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const value: unknown = JSON.parse(text);
      expect(prettyJson(JSON.stringify(value))).toBe(JSON.stringify(value, undefined, 2));
    }),
  );
});

test("numbers keep all their digits", () => {
  expect(prettyJson('{"id":12345678901234567890.10}')).toBe('{\n  "id": 12345678901234567890.10\n}');
});
