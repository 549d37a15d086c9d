import fc from "fast-check";
import { expect, test } from "vitest";
import { addExactly, isBelow, wholeNumber } from "./exact-arithmetic.ts";
import { rawJson } from "./raw-json.ts";

test("whole numbers are added and compared exactly", () => {
  const json = fc.oneof(fc.maxSafeInteger().map(BigInt), fc.bigInt());
  fc.assert(
    fc.property(json, json, (a, b) => {
      expect(JSON.stringify(addExactly(wholeNumber(a), wholeNumber(b)))).toBe(String(a + b));
      expect(isBelow(wholeNumber(a), wholeNumber(b))).toBe(a < b);
    }),
  );
  expect(isBelow(0.5, rawJson("1e400"))).toBe(true);
});

test.each([
  ["0.1234567890123456789", "0.1", "0.2234567890123456789"],
  ["0.5", "9007199254740993", "9007199254740993.5"],
  ["-0.1234567890123456789", "0.1234567890123456789", "0"],
  ["0.1234567890123456789", "0.8765432109876543211", "1"],
  ["1e-400", "0", `0.${"0".repeat(399)}1`],
  ["-9007199254740993.25", "0.25", "-9007199254740993"],
])("the sum of %s and %s has all its digits", (a, b, sum) => {
  expect(JSON.stringify(addExactly(rawJson(a), rawJson(b)))).toBe(sum);
});

test("numbers that differ in distant digits are distinguished, and doubles are added as doubles", () => {
  const [less, more] = [rawJson("0.1234567890123456788"), rawJson("0.1234567890123456789")];
  expect([isBelow(less, more), isBelow(more, less), isBelow(less, less)]).toEqual([true, false, false]);
  expect(isBelow(0.1, rawJson("0.10000000000000001"))).toBe(true);
  expect(addExactly(0.1, 0.2)).toBe(0.1 + 0.2);
  expect(addExactly(rawJson("1e999"), 1)).toBe(Number.POSITIVE_INFINITY);
});
