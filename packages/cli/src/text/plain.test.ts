import { expect, test } from "vitest";
import { plainLines, plainText, shellWord, spanText } from "./plain.ts";

test.each([
  [0, "0.0 s"],
  [449, "0.4 s"],
  [9_999, "10 s"],
  [60_000, "1 min"],
  [185_400, "3 min 5 s"],
  [7_800_000, "2 h 10 min"],
  [273_600_000, "3 d 4 h"],
])("%i ms are told as %s", (ms, text) => {
  expect(spanText(ms)).toBe(text);
});

test("what others wrote cannot command the terminal or begin a line", () => {
  expect(plainText("a\u001b[2Jb\r\nc\u009b1Ad\u202ee")).toBe("a [2Jb c 1Ad e");
});

test("a word reaches the program behind a POSIX shell as it is", () => {
  expect(["lead", "it's", '{"a":1}', ""].map(shellWord)).toEqual(["lead", `'it'\\''s'`, `'{"a":1}'`, "''"]);
});

test("a text keeps its lines, and nothing in them moves the cursor", () => {
  expect(plainLines("Send it?\n\n- to \u001b[2Jlead\r\n- to head\u0007\n")).toEqual([
    "Send it?",
    "- to  [2Jlead",
    "- to head",
  ]);
  expect(plainLines("")).toEqual([""]);
});
