import { parseExactJson } from "@svc/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { mask, maskArguments, maskedTexts, maskNames, sensitiveNames } from "./mask.ts";

const marker = "planted-marker";

type Sample = { schema: Record<string, unknown>; value: unknown };

/** Generates schemas with matching values, in which every sensitive part is the marker text. */
const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 5 },
    fc.constant({ schema: { type: "string" }, value: "open" }),
    fc.constantFrom<Sample>(
      { schema: { type: "string", "x-sensitive": true }, value: marker },
      { schema: { "x-sensitive": true }, value: { deep: [marker, { er: marker }] } },
    ),
    fc.dictionary(fc.constantFrom("a", "b", "c"), tie("sample"), { minKeys: 1, maxKeys: 3 }).map(ofObject),
    fc.dictionary(fc.constantFrom("a", "b", "c"), tie("sample"), { minKeys: 1, maxKeys: 3 }).map(ofMap),
    fc.array(tie("sample"), { minLength: 1, maxLength: 3 }).map(ofTuple),
    tie("sample").map(({ schema, value }) => ({ schema: { type: "array", items: schema }, value: [value, value] })),
    fc.record({ inner: tie("sample"), rule: fc.constantFrom("anyOf", "oneOf", "allOf") }).map(({ inner, rule }) => ({
      schema: { [rule]: [{ type: "integer" }, inner.schema] },
      value: inner.value,
    })),
    fc.record({ inner: tie("sample"), rule: fc.constantFrom("if", "then", "else", "not") }).map(({ inner, rule }) => ({
      schema: { [rule]: inner.schema },
      value: inner.value,
    })),
    tie("sample").map(({ schema, value }) => ({ schema: { dependentSchemas: { a: schema } }, value })),
  ),
}));

function ofObject(samples: Record<string, Sample>): Sample {
  const entries = Object.entries(samples);
  return {
    schema: { type: "object", properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])) },
    value: Object.fromEntries(entries.map(([name, { value }]) => [name, value])),
  };
}

function ofMap(samples: Record<string, Sample>): Sample {
  const [first] = Object.values(samples);
  return {
    schema: { type: "object", additionalProperties: first?.schema },
    value: Object.fromEntries(Object.keys(samples).map((name) => [`x-${name}`, first?.value])),
  };
}

function ofTuple(samples: Sample[]): Sample {
  return { schema: { prefixItems: samples.map(({ schema }) => schema) }, value: samples.map(({ value }) => value) };
}

test("no sensitive value survives, at any depth and in any branch of a rule", () => {
  fc.assert(
    fc.property(sample, ({ schema, value }) => {
      expect(JSON.stringify(mask(schema, value))).not.toContain(marker);
    }),
    { numRuns: 500 },
  );
});

test("a value of another form than declared is masked whole where the declared form holds something sensitive", () => {
  const schema = {
    properties: { auth: { type: "object", properties: { key: { "x-sensitive": true } } }, plain: { items: {} } },
  };
  const shown = (auth: unknown) => mask(schema, { auth, plain: { a: 1 } });
  for (const auth of [`{"key":"${marker}"}`, [{ key: marker }], 12]) {
    expect(shown(auth)).toEqual({ auth: "***", plain: { a: 1 } });
  }
  expect(shown(null)).toEqual({ auth: null, plain: { a: 1 } });
  expect(mask({ items: { properties: { key: { "x-sensitive": true } } } }, { key: marker })).toBe("***");
});

test("references are followed inside the schema; one that leads nowhere masks", () => {
  const schema = {
    $defs: {
      key: { "x-sensitive": true },
      tree: { properties: { key: { $ref: "#/$defs/key" }, next: { $ref: "#/$defs/tree" } } },
    },
  };
  const value = { key: marker, name: "open", next: { key: marker, next: { name: "open" } } };
  expect(mask({ ...schema, $ref: "#/$defs/tree" }, value)).toEqual({
    key: "***",
    name: "open",
    next: { key: "***", next: { name: "open" } },
  });
  expect(mask({ properties: { a: { $ref: "#" } }, $ref: "#/nowhere" }, value)).toBe("***");
  expect(mask({ $ref: "#" }, value)).toBe("***");
});

test("patterns are not matched: their schemas apply to every name", () => {
  expect(mask({ patternProperties: { "^s": { "x-sensitive": true } } }, { secret: marker, other: 1 })).toEqual({
    secret: "***",
    other: "***",
  });
});

test("a schema without sensitive parts returns the same value", () => {
  const value = parseExactJson('{"id":12345678901234567890}');
  expect(mask({ properties: { id: { type: "integer" } } }, value)).toBe(value);
});

test("masked texts are what masking took out, numbers and names among them", () => {
  const value = parseExactJson('{"a":"one","b":{"c":["two",12345678901234567890,true,3]}}');
  const schema = { properties: { b: { "x-sensitive": true } } };
  expect(maskedTexts(value, mask(schema, value))).toEqual(["c", "two", "12345678901234567890", "3"]);
});

test("sensitive names are found at any depth, and masked at any depth", () => {
  const schema = {
    properties: { a: { items: { properties: { key: { "x-sensitive": true } } } } },
    anyOf: [{ properties: { pin: { "x-sensitive": true } } }],
  };
  const names = sensitiveNames(schema);
  expect(names.sort()).toEqual(["key", "pin"]);
  expect(maskNames(new Set(names), { error: [{ pin: marker, said: "no" }] })).toEqual({
    error: [{ pin: "***", said: "no" }],
  });
});

test("a name that refers to a sensitive part is sensitive", () => {
  const schema = {
    properties: { pin: { $ref: "#/$defs/code" }, any: { anyOf: [{ $ref: "#/$defs/code" }] }, open: { type: "string" } },
    $defs: { code: { type: "string", "x-sensitive": true } },
  };
  expect(sensitiveNames(schema)).toEqual(expect.arrayContaining(["pin", "any"]));
  expect(sensitiveNames(schema)).not.toContain("open");
});

test("values under unknown names are masked in a tool's arguments, at any depth", () => {
  const holder = { type: "object", properties: { id: { type: "string" }, next: { $ref: "#/$defs/holder" } } };
  const schema = {
    type: "object",
    properties: {
      id: { type: "string" },
      pin: { "x-sensitive": true },
      free: { type: "object" },
      map: { type: "object", properties: { id: {} }, additionalProperties: { type: "string" } },
      list: { type: "array", prefixItems: [{ properties: { first: {} } }], items: { $ref: "#/$defs/holder" } },
    },
    oneOf: [{ properties: { branch: {} } }],
    $defs: { holder },
  };
  const known = { id: "1", free: { any: { thing: 1 } }, map: { id: 1, other: "x" }, branch: 2 };
  expect(maskArguments(schema, known)).toEqual(known);
  const args: Record<string, unknown> = {
    ...known,
    pin: marker,
    api_key: marker,
    list: [
      { first: 1, other: marker },
      { id: "2", next: { next: { id: "3", key: marker } }, prototype: marker },
    ],
    ["__proto__"]: marker,
  };
  const shown = maskArguments(schema, args);
  expect(JSON.stringify(shown)).not.toContain(marker);
  expect(shown).toMatchObject({
    ...known,
    pin: "***",
    api_key: "***",
    list: [
      { first: 1, other: "***" },
      { id: "2", next: { next: { id: "3", key: "***" } } },
    ],
  });
});
