import { createTenantValidators, type JsonSchema } from "@svc/catalog";
import fc from "fast-check";
import { expect, test } from "vitest";
import { inputDifferences } from "./promote.ts";

const object = (properties: Record<string, JsonSchema>, more: JsonSchema = {}): JsonSchema => {
  return { type: "object", additionalProperties: false, properties, ...more };
};
const text = { type: "string" };

test.each<[string, JsonSchema, JsonSchema, string[]]>([
  ["the same", object({ a: text }, { required: ["a"] }), object({ a: text }, { required: ["a"] }), []],
  ["a field more, that may be left out", object({ a: text }), object({ a: text, b: text }), []],
  ["a field that need not be given any more", object({ a: text }, { required: ["a"] }), object({ a: text }), []],
  [
    "a field that is required, with a default",
    object({ a: text }),
    object({ a: text, b: { type: "string", default: "x" } }, { required: ["b"] }),
    [],
  ],
  [
    "a field that became required",
    object({ a: text }),
    object({ a: text }, { required: ["a"] }),
    ["input.a is now required"],
  ],
  ["a field less", object({ a: text }), object({}), ["input.a is no longer taken"]],
  ["another type", object({ a: text }), object({ a: { type: "number" } }), ["input.a was string and is number"]],
  ["a wider type", object({ a: { type: "integer" } }), object({ a: { type: ["number", "null"] } }), []],
  ["a bound", object({ a: text }), object({ a: { type: "string", maxLength: 5 } }), ["input.a has a maxLength of 5"]],
  [
    "a wider bound",
    object({ a: { type: "string", maxLength: 5, minLength: 2 } }),
    object({ a: { type: "string", maxLength: 6, minLength: 1 } }),
    [],
  ],
  [
    "fewer values",
    object({ a: { enum: ["x", "y"] } }),
    object({ a: { enum: ["x"] } }),
    ['input.a no longer takes "y"'],
  ],
  [
    "items of another type",
    object({ a: { type: "array", items: text } }),
    object({ a: { type: "array", items: { type: "boolean" } } }),
    ["input.a[] was string and is boolean"],
  ],
  [
    "a pattern",
    object({ a: text }),
    object({ a: { type: "string", pattern: "^a" } }),
    ["input.a has a different pattern"],
  ],
  [
    "a mark that is gone",
    object({ a: { type: "string", "x-sensitive": true } }),
    object({ a: text }),
    ["input.a is no longer marked x-sensitive"],
  ],
  [
    "no other fields",
    { type: "object" },
    object({ a: text }),
    ["input no longer takes other fields", "input.a was anything and is string"],
  ],
])("%s", (_what, before, after, differences) => {
  expect(inputDifferences(before, after)).toEqual(differences);
});

const field = fc.record(
  {
    type: fc.constantFrom("string", "integer", "number", "boolean", ["string", "null"]),
    enum: fc.constantFrom(["a"], ["a", "b"], [1], [1, 2]),
    minLength: fc.nat({ max: 2 }),
    maxLength: fc.nat({ max: 3 }),
    minimum: fc.nat({ max: 3 }),
    maximum: fc.nat({ max: 3 }),
  },
  { requiredKeys: [] },
);
const schemas = fc.record(
  {
    type: fc.constant("object"),
    additionalProperties: fc.boolean(),
    required: fc.uniqueArray(fc.constantFrom("a", "b"), { maxLength: 2 }),
    properties: fc.record({ a: field, b: field }, { requiredKeys: [] }),
  },
  { requiredKeys: ["type"] },
) as fc.Arbitrary<JsonSchema>;
const values = fc.constantFrom("", "a", "b", "abcd", 0, 1, 2.5, null, true);
const inputs = fc.record({ a: values, b: values }, { requiredKeys: [] });

test("where there is no difference, whatever the one takes the other takes", () => {
  let compared = 0;
  fc.assert(
    fc.property(schemas, schemas, fc.array(inputs, { minLength: 20, maxLength: 20 }), (before, after, tried) => {
      if (inputDifferences(before, after).length > 0) return;
      compared++;
      const [was, is] = [createTenantValidators()(before), createTenantValidators()(after)];
      for (const input of tried) if (was(input).length === 0) expect(is(input), JSON.stringify(input)).toEqual([]);
    }),
    { numRuns: 600 },
  );
  expect(compared).toBeGreaterThan(20);
});
