import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "@svc/gen/errors";
import fc from "fast-check";
import { expect, test } from "vitest";
import { assertNever, fault, faults, formatValue } from "./errors.ts";

// What a client would decode is on the wire form; outgoing details carry the same init values.
function detailsOf(error: ConnectError) {
  return error.details.map((detail) => {
    if (!("desc" in detail)) throw new Error("expected an outgoing detail");
    expect(detail.desc).toBe(ErrorDetailSchema);
    return detail.value;
  });
}

test("a fault carries its code, its message and one detail", () => {
  const error = fault({
    code: Code.InvalidArgument,
    reason: "NAME_EMPTY",
    field: "name",
    message: "name is empty",
    help: "Send 1 to 64 characters.",
  });
  expect(error).toBeInstanceOf(ConnectError);
  expect(error).toMatchObject({ code: Code.InvalidArgument, rawMessage: "name is empty" });
  expect(detailsOf(error)).toEqual([{ reason: "NAME_EMPTY", field: "name", help: "Send 1 to 64 characters." }]);
});

test("several faults of one request are several details, in order", () => {
  const error = faults({
    code: Code.InvalidArgument,
    message: "2 faults",
    details: [{ reason: "NAME_EMPTY", field: "name" }, { reason: "PLAN_EMPTY" }],
  });
  expect(detailsOf(error)).toEqual([
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
  expect(() => assertNever("surprise" as never)).toThrow('unhandled case "surprise"');
});
