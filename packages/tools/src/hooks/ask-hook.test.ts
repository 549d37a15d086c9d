import { expect, test } from "vitest";
import { answerIfTooLarge } from "./ask-hook.ts";

const mebibyte = 1_048_576;

test.each([
  ["a text that fits", "x".repeat(mebibyte - 100), false],
  ["a text that cannot", "x".repeat(mebibyte + 1), true],
  ["as many values as fit", Array.from({ length: mebibyte / 2 - 100 }, () => 1), false],
  ["more values than can", Array.from({ length: mebibyte / 2 + 1 }, () => 1), true],
])("%s is known before it is written", (_, value, isTooLarge) => {
  expect(answerIfTooLarge(value)?.decision).toBe(isTooLarge ? "failed" : undefined);
  // The answer is never `failed` for a value that is small enough.
  expect(Buffer.byteLength(JSON.stringify(value)) > mebibyte).toBe(isTooLarge);
});
