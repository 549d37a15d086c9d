import { expect, test } from "vitest";
import { fillInput, fitInput } from "./fit-input.ts";
import { createTenantValidators, createValidator } from "./json-schema.ts";

const text = { type: "string" };
const object = (properties: object, rest: object = {}) => ({ type: "object", properties, ...rest });
const nested = object({ to: text, cc: { type: ["string", "null"] } }, { required: ["to"] });

test.each<[string, Record<string, unknown>, unknown, unknown]>([
  ["an optional property", object({ a: text, b: text }), { a: null, b: "x" }, { b: "x" }],
  ["one with a default", object({ a: { type: "integer", default: 5 } }), { a: null }, { a: 5 }],
  ["one of a closed set", object({ a: { enum: ["x", "y"] } }), { a: null }, {}],
  ["one in an object", object({ o: object({ a: text }) }), { o: { a: null } }, { o: {} }],
  [
    "one in the items of a list",
    object({ l: { type: "array", items: object({ a: text }) } }),
    { l: [{ a: null }] },
    { l: [{}] },
  ],
  [
    "one in the values of an open object",
    object({}, { additionalProperties: object({ a: text }) }),
    { x: { a: null } },
    { x: {} },
  ],
  [
    "one behind a reference",
    { ...object({ o: { $ref: "#/$defs/o" } }), $defs: { o: object({ a: text }) } },
    { o: { a: null } },
    { o: {} },
  ],
  ["one of a rule that always holds", { type: "object", allOf: [object({ a: text })] }, { a: null }, {}],
  [
    "one that only a choice names",
    { type: "object", anyOf: [object({ a: text }), object({ b: text })] },
    { a: null, b: "x" },
    { b: "x" },
  ],
  [
    "one that only a choice requires",
    object({ a: text, b: text }, { oneOf: [{ required: ["a"] }, { required: ["b"] }] }),
    { a: null, b: "x" },
    { b: "x" },
  ],
  ["one of a name that every object has", object({ constructor: text, toString: text }), { constructor: null }, {}],
])("a null is absent: %s", (_what, schema, given, filled) => {
  expect(fillInput(schema, given)).toEqual(filled);
  expect(fitInput(schema, createValidator(schema), given)).toEqual({ value: filled, faults: [] });
});

test.each<[string, Record<string, unknown>, unknown]>([
  ["a required property", object({ a: text }, { required: ["a"] }), { a: null }],
  ["a required one inside", object({ o: nested }), { o: { to: null } }],
  ["one that takes null", object({ a: { type: ["string", "null"] } }), { a: null }],
  ["one that may be anything", object({ a: { description: "Any value." } }), { a: null }],
  ["one whose choice takes null", object({ a: { anyOf: [text, { type: "null" }] } }), { a: null }],
  ["one whose values name null", object({ a: { enum: ["x", null] } }), { a: null }],
  ["one that the schema does not name", object({ a: text }), { b: null }],
  ["an item of a list", object({ a: { type: "array", items: text } }), { a: ["x", null] }],
  ["what is in an object without a schema", object({ a: { type: "object" } }), { a: { b: null } }],
])("a null stays: %s", (_what, schema, given) => {
  expect(fillInput(schema, given)).toEqual(given);
});

test("a value without nulls is the same one, and a schema that refers to itself ends", () => {
  const tree = { ...object({ next: { $ref: "#" }, name: text }) };
  const deep = Array.from({ length: 300 }).reduce<object>((next) => ({ next, name: null }), {});
  expect(JSON.stringify(fillInput(tree, deep))).not.toContain("null");
});

const kinds = {
  oneOf: [
    object({ kind: { const: "plain" } }, { required: ["kind"] }),
    object({ kind: { const: "rich" } }, { required: ["kind", "html"] }),
  ],
};

test.each([createValidator, createTenantValidators()])(
  "a rule is about what is left at its default, too",
  (validators) => {
    const schema = object({ kind: { ...text, default: "plain" }, html: text }, kinds);
    const fit = (given: object) => fitInput(schema, validators(schema), given);
    expect(fit({})).toEqual({ value: { kind: "plain" }, faults: [] });
    expect(fit({ kind: null })).toEqual({ value: { kind: "plain" }, faults: [] });
    expect(fit({ kind: "rich", html: "x" })).toEqual({ value: { kind: "rich", html: "x" }, faults: [] });
    expect(fit({ kind: "rich" }).faults).not.toEqual([]);
    expect(fit({ kind: 5 }).faults).not.toEqual([]);
  },
);

test("a default that contradicts a given value is left out", () => {
  const schema = object(
    { a: { ...text, default: "x" }, b: text },
    { oneOf: [{ required: ["a"] }, { required: ["b"] }] },
  );
  const fit = (given: object) => fitInput(schema, createValidator(schema), given);
  expect(fit({})).toEqual({ value: { a: "x" }, faults: [] });
  expect(fit({ b: "y" })).toEqual({ value: { b: "y" }, faults: [] });
  expect(fit({ a: "x", b: "y" }).faults).not.toEqual([]);
});

test("an inherited property does not count as given", () => {
  const names = Object.getOwnPropertyNames(Object.prototype);
  const schema = object(Object.fromEntries(names.map((name) => [name, text])), { required: names });
  for (const validators of [createValidator, createTenantValidators()]) {
    expect(validators(schema)({}).map(({ missing }) => missing)).toEqual(names);
    expect(validators(object(schema.properties))({})).toEqual([]);
  }
});
