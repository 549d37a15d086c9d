import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonValue } from "../json.ts";
import { parseTemplate } from "../read/reference.ts";
import { computeExpressions, type RunScope, resolveResult, resolveValue, valueAt } from "./resolve.ts";

const scope: RunScope = {
  input: { chat: "@team", list: [{ id: 1 }, { id: 2 }] },
  params: { least: 2 },
  steps: { me: { id: 7, name: null } },
  row: { id: "r1", nested: { a: [true] } },
  calls: { write: { message_id: 9 } },
  output: { ok: true },
  rows: { open: 3 },
};

function parse(value: JsonValue) {
  return parseTemplate(value, [], (_path, _kind, message) => {
    throw new Error(message);
  });
}

const resolve = (value: JsonValue) => resolveValue(parse(value), scope);

test("every root gives its values, whole and in part", () => {
  const template = {
    a: { $ref: "input.list[1].id" },
    b: [{ $ref: "params.least" }, { $ref: "steps.me.id" }],
    c: { d: { $ref: "row.nested" } },
    e: { $ref: "calls.write.message_id" },
    f: { $ref: "output.ok" },
    g: { $ref: "rows.open" },
    h: "plain",
  };
  expect(resolve(template)).toEqual({
    value: { a: 2, b: [2, 7], c: { d: { a: [true] } }, e: 9, f: true, g: 3, h: "plain" },
  });
});

test("a text that grows beyond a mebibyte is a fault, before it is as long as no text can be", () => {
  const long = { ...scope, row: { text: "x".repeat(1_000_000) } };
  const message = "with row.text the text has more than 1,048,576 characters";
  expect(resolveValue(parse({ $text: "{row.text}".repeat(1_000), else: "" }), long)).toMatchObject({
    fault: { code: "REFERENCE_UNFIT", message },
  });
  expect(resolveValue(parse({ $text: "{row.text}!" }), long)).toHaveProperty("value");
});

test("text joins scalars, and doubled braces are braces", () => {
  expect(resolve({ $text: "{{x}: {row.id} of {rows.open}, {output.ok}} {{{params.least}" })).toEqual({
    value: "{x}: r1 of 3, true} {2",
  });
});

test("else stands in for a whole text of which one source is absent or null, and for nothing else", () => {
  expect(resolve({ $text: "{row.id} by {steps.me.name}", else: "nobody" })).toEqual({ value: "nobody" });
  expect(resolve({ $text: "{row.id} by {steps.gone.id}", else: null })).toEqual({ value: null });
  expect(resolve({ $text: "{row.id} by {steps.me.id}", else: "nobody" })).toEqual({ value: "r1 by 7" });
  expect(resolve({ $text: "{row.nested}", else: "nobody" })).toHaveProperty("fault.code", "REFERENCE_UNFIT");
  expect(() => parse({ $text: "{row.id}", else: { $ref: "row.id" } })).toThrow("contains a reference");
});

test("what is absent or null needs an else", () => {
  expect(resolve({ $ref: "steps.gone.id", else: 0 })).toEqual({ value: 0 });
  expect(resolve({ $ref: "steps.me.name", else: null })).toEqual({ value: null });
  for (const path of [
    "steps.gone.id",
    "steps.me.name",
    "row.nope",
    "input.list[5].id",
    "rows.none",
    "input.list.length",
  ]) {
    expect(resolve({ $ref: path })).toHaveProperty("fault.code", "REFERENCE_ABSENT");
    expect(resolve([{ $text: `{${path}}` }])).toHaveProperty("fault.code", "REFERENCE_ABSENT");
  }
});

test("a text takes no object, and the fault says where without the data", () => {
  const resolved = resolve({ args: { $text: "{row.nested}" } });
  expect(resolved).toEqual({
    fault: {
      code: "REFERENCE_UNFIT",
      pointer: "/args/$text",
      message: "row.nested is an object, which cannot be part of a text",
    },
  });
});

test("a result is made of scalars; what is absent is null", () => {
  const result = (template: JsonValue) => resolveResult([["x", parse(template)]], scope);
  expect(result({ $ref: "steps.me.id" })).toEqual({ value: { x: 7 } });
  expect(result({ $ref: "row.none" })).toEqual({ value: { x: null } });
  expect(result({ $ref: "row.nested" })).toHaveProperty("fault.code", "REFERENCE_UNFIT");
});

test("only a value's own fields are found", () => {
  for (const name of ["constructor", "__proto__", "toString", "length"]) {
    expect(valueAt({ a: [1] }, [name])).toBeUndefined();
    expect(valueAt([1], [name])).toBeUndefined();
  }
  expect(valueAt({ "0": "x" }, [0])).toBeUndefined();
  expect(valueAt({ "0": "x" }, ["0"])).toBe("x");
});

test("a value without references is itself", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      fc.pre(!JSON.stringify(value).includes('"$'));
      expect(resolve(value as JsonValue)).toEqual({ value });
    }),
  );
});

test("an expression that has no value is named by its place", async () => {
  const template = parse({ to: [{ $cel: "timestamp(input.chat)" }] });
  const found = await computeExpressions([template], async () => ({ error: "converts a value" }));
  expect(found).toHaveProperty("fault.message", "$cel converts a value, at /to/0/$cel");
});
