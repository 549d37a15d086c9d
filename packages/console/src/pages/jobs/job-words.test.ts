import { expect, test } from "vitest";
import { rowWords } from "./job-words.ts";

const step = { rowsDone: 0, rowsPerSecond: 0, state: "completed", simulatedWrites: 0 };

test("a step under way tells how many of its rows are done, and its pace", () => {
  expect(rowWords({ ...step, state: "running", rowsDone: 12, rowsRemaining: 28, rowsPerSecond: 3.04 }, undefined)).toBe(
    "12/40, 3.0/s",
  );
});

test("a step that ended tells which rows did not end well", () => {
  const rows = { in: 10, ok: 7, failed: 1, skipped: 0, unknown: 2 } as never;
  expect(rowWords({ ...step, rowsDone: 10 }, { rows })).toBe("7/10, 1 failed, 2 unknown");
});

test("a step without rows says nothing of them", () => {
  expect(rowWords(step, undefined)).toBe("");
});
