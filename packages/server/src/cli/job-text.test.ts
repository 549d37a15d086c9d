import { expect, test } from "vitest";
import { plainText, rowsText, shellWord, spanText, statusNames } from "./job-text.ts";

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

test("rows a filter leaves out are no loss, and those of other steps are told by their ends", () => {
  expect(rowsText({ in: 3_000, ok: 1_200, skipped: 1_800 }, "filter")).toBe("1,200 of 3,000 rows");
  expect(rowsText({ in: 1, ok: 0, failed: 1 }, "map")).toBe("1 row, 1 failed");
});

test("a word reaches the program behind a POSIX shell as it is", () => {
  expect(["lead", "it's", '{"a":1}', ""].map(shellWord)).toEqual(["lead", `'it'\\''s'`, `'{"a":1}'`, "''"]);
});

test("statuses are named in the order a job may take them", () => {
  expect(statusNames.slice(0, 3)).toEqual(["simulating", "pending_plan_approval", "queued"]);
  expect(statusNames).toHaveLength(12);
});
