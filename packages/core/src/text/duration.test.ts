import fc from "fast-check";
import { expect, test } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

test.each([
  ["0s", 0],
  ["250ms", 250],
  ["5s", 5_000],
  ["2m", 120_000],
  ["2h", 7_200_000],
  ["5d", 432_000_000],
  ["P30D", 2_592_000_000],
  ["P7D", 604_800_000],
  ["P2W", 1_209_600_000],
  ["PT1H", 3_600_000],
  ["PT1H30M", 5_400_000],
  ["P1DT12H", 129_600_000],
  ["PT90S", 90_000],
])("%s is %i ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  "",
  "5",
  "s",
  "5 s",
  "-5s",
  "+5s",
  "1.5s",
  "5S",
  "5sec",
  "1h30m",
  "P",
  "PT",
  "P1DT",
  "P1Y",
  "P1M",
  "PT1D",
  "P1H",
  "PT1S1M",
  "p7d",
  "5s\n",
  "٥s",
])("%j is refused with examples", (text) => {
  expect(() => parseDuration(text)).toThrow(
    `duration ${JSON.stringify(text)} is not understood; expected a form like "250ms"`,
  );
});

test("a duration beyond exact milliseconds is refused", () => {
  expect(() => parseDuration("9007199254741s")).toThrow("is too long");
  expect(() => parseDuration(`${"9".repeat(400)}d`)).toThrow("is too long");
});

test("every written duration is read back", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (ms) => {
      expect(parseDuration(formatDuration(ms))).toBe(ms);
    }),
  );
});

test.each([
  [0, "0s"],
  [250, "250ms"],
  [90_000, "90s"],
  [120_000, "2m"],
  [86_400_000, "1d"],
])("%i ms is written %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])("%d ms cannot be written", (ms) => {
  expect(() => formatDuration(ms)).toThrow("not a whole number of milliseconds");
});
