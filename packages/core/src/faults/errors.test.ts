import fc from "fast-check";
import { expect, test } from "vitest";
import { assertExhaustive, Fault, formatValue } from "./errors.ts";

test("a fault carries its code, its message and its details in order", () => {
  const error = new Fault("invalid_argument", "name is empty", [
    { reason: "NAME_EMPTY", field: "name", help: "Send 1 to 64 characters." },
    { reason: "PLAN_EMPTY" },
  ]);
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: "Fault", code: "invalid_argument", message: "name is empty" });
  expect(error.details).toEqual([
    { reason: "NAME_EMPTY", field: "name", help: "Send 1 to 64 characters." },
    { reason: "PLAN_EMPTY", field: "", help: "" },
  ]);
});

test.each([
  ['"plain"', "plain"],
  ['"quo\\"te\\n"', 'quo"te\n'],
  ["5", 5],
  ["5", 5n],
  ["null", null],
  ["undefined", undefined],
  ["true", true],
  ["3 bytes", new Uint8Array(3)],
  ["TypeError: bad", new TypeError("bad")],
  ['{"a":[1]}', { a: [1] }],
  ["an object", { a: 1n }],
])("a value is written for people: %s", (text, value) => {
  expect(formatValue(value)).toBe(text);
});

test("a written value never exceeds its limit, and is well-formed text", () => {
  const anything = fc.oneof(fc.anything(), fc.string({ unit: "binary", maxLength: 300 }));
  fc.assert(
    fc.property(anything, fc.integer({ min: 10, max: 100 }), (value, maxLength) => {
      const text = formatValue(value, maxLength);
      expect(text.length).toBeLessThanOrEqual(maxLength);
      expect(text.isWellFormed()).toBe(true);
    }),
  );
});

test("a cut value ends in dots", () => {
  expect(formatValue("x".repeat(100), 10)).toBe('"xxxxxx...');
});

test("a case that no branch handles is named", () => {
  expect(() => assertExhaustive("surprise" as never)).toThrow('unhandled case "surprise"');
});
