import { expect, test } from "vitest";
import { dayWords, monthOf, nextClockChange } from "./run-days.ts";

test("the month of the first run has whole weeks from Monday, and counts the runs of its days", () => {
  const month = monthOf(["2026-12-01T09:00:00", "2026-12-01T17:00:00", "2026-12-31T09:00:00", "2027-01-01T09:00:00"]);
  expect([month?.title, month?.runs, month?.weeks.length]).toEqual(["December 2026", 3, 5]);
  expect(month?.weeks[0]?.[0]).toEqual({ date: "2026-11-30", day: 30, isInMonth: false, runs: 0 });
  expect(month?.weeks[0]?.[1]).toEqual({ date: "2026-12-01", day: 1, isInMonth: true, runs: 2 });
  expect(month?.weeks[4]?.map(({ day, runs }) => [day, runs]).slice(3)).toEqual([
    [31, 1],
    [1, 1],
    [2, 0],
    [3, 0],
  ]);
  expect(month?.isWhole).toBe(true);
  expect([monthOf(["2026-12-01T09:00:00"])?.isWhole, monthOf(["2026-12-01T09:00:00"], true)?.isWhole]).toEqual([
    false,
    true,
  ]);
  expect(monthOf([])).toBeUndefined();
});

test("the next change of clocks is the local day of the change", () => {
  expect(nextClockChange("Europe/Berlin", Date.UTC(2026, 10, 30))).toBe("28 March");
  expect(nextClockChange("America/New_York", Date.UTC(2026, 5, 1))).toBe("1 November");
  expect(nextClockChange("Asia/Tokyo", Date.UTC(2026, 10, 30))).toBeUndefined();
  expect(nextClockChange("Mars/Olympus", 0)).toBeUndefined();
});

test("a date is said with its day of the week", () => expect(dayWords("2026-11-30T09:00:00")).toBe("Mon 30 Nov"));
