import { systemClock } from "@svc/core";
import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import { parseMoment } from "./options.ts";

test("a moment is a time of RFC 3339, or how long ago it was", () => {
  expect(parseMoment("2026-03-14T09:00:00Z")).toBe(Date.UTC(2026, 2, 14, 9));
  expect(parseMoment("2026-03-14T09:00:00.250+01:00")).toBe(Date.UTC(2026, 2, 14, 8, 0, 0, 250));
  expect(Math.abs(systemClock.now() - 7_200_000 - parseMoment("2h"))).toBeLessThan(60_000);
});

test.each([
  ...["2026-02-30T09:00:00Z", "2026-03-14T24:00:00Z", "2026-03-14T09:00:00", "2026-03-14", "2026", "task 12", ""],
  ...["2026-03-14T09:00:00+24:00", "2026-03-14T09Z", "2026-03-14 09:00:00Z", "yesterday", "-2h"],
])("%j is no moment", (text) => {
  expect(() => parseMoment(text)).toThrow(InvalidArgumentError);
});
