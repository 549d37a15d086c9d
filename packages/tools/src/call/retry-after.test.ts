import { expect, test } from "vitest";
import { parseRetryAfter } from "./retry-after.ts";

const nowMs = Date.UTC(2026, 0, 5, 9, 0, 0);

test.each([
  ["7", 7_000],
  [" 0 ", 0],
  ["Mon, 05 Jan 2026 09:00:30 GMT", 30_000],
  ["Mon, 05 Jan 2026 08:00:00 GMT", 0],
  ["999999", 3_600_000],
  ["Tue, 05 Jan 2027 09:00:00 GMT", 3_600_000],
])("Retry-After %j is %d ms", (text, ms) => {
  expect(parseRetryAfter(text, nowMs)).toBe(ms);
});

test.each([undefined, "", "-1", "1.5", "soon", "1e3", "12345678901234567890"])(
  "Retry-After %j says nothing",
  (text) => {
    expect(parseRetryAfter(text, nowMs)).toBeUndefined();
  },
);
