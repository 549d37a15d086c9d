import { expect, test } from "vitest";
import { clockWords, durationWords, relativeWords, withClockTimes } from "./time.ts";

const now = 1_800_000_000_000;

test("a time is relative within a day, and itself beyond", () => {
  expect(relativeWords(now - 3_000, now)).toBe("3 s ago");
  expect(relativeWords(now + 5 * 60_000, now)).toBe("in 5 min");
  expect(relativeWords(now + 239 * 60_000, now)).toBe("in 3 h 59 min");
  expect(relativeWords(now - 239 * 60_000, now)).toBe("3 h ago");
  expect(relativeWords(now - 400, now)).toBe("now");
  expect(relativeWords(now - 86_400_000, now)).toBeUndefined();
});

test("a duration has at most two units", () => {
  expect(durationWords(340)).toBe("340 ms");
  expect(durationWords(2_449)).toBe("2.4 s");
  expect(durationWords(185_000)).toBe("3 min 5 s");
  expect(durationWords(7_800_000)).toBe("2 h 10 min");
  expect(durationWords(4 * 86_400_000)).toBe("4 d");
});

test("UTC is UTC wherever the browser is", () => {
  expect(clockWords(Date.UTC(2026, 2, 4, 15, 6, 7), "utc")).toBe("2026-03-04 15:06:07");
});

test("times in a sentence of the service become times of the zone, with the date only if they are not of today", () => {
  const now = Date.UTC(2026, 2, 4, 16);
  const text = "fails since 2026-03-04T15:06:07.123Z, last well at 2026-03-02T01:00:00Z";
  expect(withClockTimes(text, "utc", now)).toBe("fails since 15:06:07, last well at 2026-03-02 01:00:00");
  expect(withClockTimes("no time", "utc", now)).toBe("no time");
});
