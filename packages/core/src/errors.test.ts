import fc from "fast-check";
import { expect, test } from "vitest";
import { assertExhaustive, Fault, fault, faults, formatValue, withWait, withWaitTold } from "./errors.ts";

test("a fault carries its code, its message and one detail", () => {
  const error = fault({
    code: "invalid_argument",
    reason: "NAME_EMPTY",
    field: "name",
    message: "name is empty",
    help: "Send 1 to 64 characters.",
  });
  expect(error).toBeInstanceOf(Fault);
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: "Fault", code: "invalid_argument", message: "name is empty" });
  expect(error.details).toEqual([{ reason: "NAME_EMPTY", field: "name", help: "Send 1 to 64 characters." }]);
});

test.each([
  ["Send it again after the time of Retry-After, or make a job.", "5", "Send it again after 5 s, or make a job."],
  ["Send it again after the time in Retry-After.", "1", "Send it again after 1 s."],
  ["Send calls more slowly.", "1", "Send calls more slowly. Retry after 1 s."],
  ["", "7", "Retry after 7 s."],
  ["Send it again after the time of Retry-After.", undefined, "Send it again after the time of Retry-After."],
])("the advice %j with a wait of %s s reads %j", (help, seconds, told) => {
  expect(withWait(help, seconds)).toBe(told);
});

test("a fault whose wait is told is the same in all but its advice", () => {
  const given = { code: "resource_exhausted", reason: "FULL", field: "f", message: "full" } as const;
  expect(withWaitTold(fault({ ...given, help: "Wait.", retryAfterMs: 1_200 }))).toEqual(
    fault({ ...given, help: "Wait. Retry after 2 s.", retryAfterMs: 1_200 }),
  );
});

test("several faults of one request are several details, in order", () => {
  const error = faults({
    code: "invalid_argument",
    message: "2 faults",
    details: [{ reason: "NAME_EMPTY", field: "name" }, { reason: "PLAN_EMPTY" }],
  });
  expect(error.details).toEqual([
    { reason: "NAME_EMPTY", field: "name", help: "" },
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
