import { expect, test } from "vitest";
import { cellOf, numberOf } from "./value.ts";

test.each([
  ...[
    "0.1234567890123456789",
    "4503599627370497.5",
    "1e-400",
    "1e400",
    "9007199254740993",
    "0x10",
    "0b1",
    "1_000",
    "1,5",
  ],
  ...["NaN", "Infinity", "12 kg", "--1", "e5", "."],
])("%s is no number that a form could send, and stays what was typed", (typed) => {
  expect(numberOf(typed)).toBe(typed);
});

test.each([
  ["0.1", 0.1],
  [" 12 ", 12],
  ["-1.50", -1.5],
  ["1E2", 100],
  [".5", 0.5],
  ["+7", 7],
])("%s is a number", (typed, number) => {
  expect(numberOf(typed)).toBe(number);
  expect(numberOf("")).toBeUndefined();
});

test("a cell of JSON keeps the digits that were typed", () => {
  const text = '{"a":0.1234567890123456789,"b":[1e-400,9007199254740993],"c":0.5}';
  expect(JSON.stringify(cellOf(text))).toBe(text);
});
