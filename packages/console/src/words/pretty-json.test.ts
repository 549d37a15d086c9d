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

test("what is nested deeper than 32 levels stays on its line, so that a small text does not become a large one", () => {
  const deep = `${"[".repeat(20_000)}1,2${"]".repeat(20_000)}`;
  const pretty = prettyJson(deep);
  expect(pretty.length).toBeLessThan(deep.length + 5_000);
  expect(pretty.replaceAll(/\s/g, "")).toBe(deep);
});
