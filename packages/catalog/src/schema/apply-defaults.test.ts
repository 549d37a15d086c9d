import fc from "fast-check";
import { expect, test } from "vitest";
import { applyDefaults } from "./formats.ts";

const schema = {
  type: "object",
  properties: {
    limit: { type: "integer", default: 20 },
    order: { enum: ["up", "down"], default: "up" },
    cursor: { type: "string" },
    filter: { type: "object", properties: { isOpen: { type: "boolean", default: false } } },
    page: { type: "object", default: { size: 1 }, properties: { number: { type: "integer", default: 0 } } },
    lines: { type: "array", items: { type: "object", properties: { count: { type: "integer", default: 1 } } } },
  },
};

test("an absent argument that declares a default has it, and no other is made up", () => {
  expect(applyDefaults(schema, {})).toEqual({ limit: 20, order: "up", page: { size: 1, number: 0 } });
});

test("defaults reach into objects and lists that are given", () => {
  expect(applyDefaults(schema, { filter: {}, lines: [{}, { count: 3 }], page: {} })).toEqual({
    limit: 20,
    order: "up",
    filter: { isOpen: false },
    page: { number: 0 },
    lines: [{ count: 1 }, { count: 3 }],
  });
});

test("false, 0, empty and null are given values", () => {
  const given = { limit: 0, order: null, cursor: "", filter: { isOpen: null }, page: null, lines: [] };
  expect(applyDefaults(schema, given)).toEqual(given);
});

test("malformed values are left for validation to report", () => {
  for (const value of [null, 1, "a", [1]]) expect(applyDefaults(schema, value)).toEqual(value);
  expect(applyDefaults(schema, { filter: "x", lines: { a: 1 } })).toMatchObject({ filter: "x", lines: { a: 1 } });
  expect(applyDefaults({ type: "array" }, [1])).toEqual([1]);
});

test("the arguments and the schema's defaults are not changed", () => {
  const given = Object.freeze({ filter: Object.freeze({}), lines: Object.freeze([Object.freeze({})]) });
  const before = JSON.stringify(schema);
  applyDefaults(schema, given);
  expect(JSON.stringify(schema)).toBe(before);
});

test("a property may be called __proto__", () => {
  const odd = { properties: JSON.parse('{"__proto__": {"default": {"a": 1}}}') };
  const filled = applyDefaults(odd, {}) as object;
  expect(Object.getPrototypeOf(filled)).toBe(Object.prototype);
  expect(JSON.stringify(filled)).toBe('{"__proto__":{"a":1}}');
});

const name = fc.constantFrom("a", "b", "c");
const { node: anySchema } = fc.letrec<{ node: Record<string, unknown>; object: Record<string, unknown> }>((tie) => ({
  object: fc.record(
    { properties: fc.dictionary(name, tie("node")), default: fc.jsonValue() },
    { requiredKeys: ["properties"] },
  ),
  node: fc.oneof(
    { maxDepth: 3 },
    fc.record({ default: fc.jsonValue() }, { requiredKeys: [] }),
    tie("object"),
    fc.record({ items: tie("object") }),
  ),
}));
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, 0, false, "", "x"),
    fc.dictionary(name, tie("value")),
    fc.array(tie("value")),
  ),
})).value;

test("property: applying defaults twice is applying them once", () => {
  fc.assert(
    fc.property(anySchema, anyValue, (node, value) => {
      const once = applyDefaults(node, value);
      expect(applyDefaults(node, once)).toEqual(once);
    }),
  );
});

test("property: every value that was given is there unchanged", () => {
  const expectWithin = (given: unknown, filled: unknown): void => {
    if (Array.isArray(given)) {
      expect(filled).toHaveLength(given.length);
      for (const [index, item] of given.entries()) expectWithin(item, (filled as unknown[])[index]);
    } else if (typeof given === "object" && given !== null) {
      for (const [key, item] of Object.entries(given)) expectWithin(item, (filled as Record<string, unknown>)[key]);
    } else expect(filled).toBe(given);
  };
  fc.assert(fc.property(anySchema, anyValue, (node, value) => expectWithin(value, applyDefaults(node, value))));
});
