import { rawJson } from "@svc/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readProviderTime } from "./provider-time.ts";

const newYear = Date.UTC(2026, 0, 2, 3, 4, 5);

test.each([
  ["2026-01-02T03:04:05Z", newYear],
  ["2026-01-02t03:04:05.678z", newYear + 678],
  ["2026-01-02T03:04:05,6789+00:00", newYear + 678],
  ["2026-01-02 03:04:05", newYear],
  ["2026-01-02 03:04:05.5", newYear + 500],
  ["2026-01-02  03:04:05 UTC", newYear],
  ["2026-01-02 05:34:05 +0230", newYear],
  ["2026-01-01T21:04:05-06", newYear],
  ["2026-01-02T03:04Z", newYear - 5_000],
  ["2026-01-02", Date.UTC(2026, 0, 2)],
  ["2026/01/02 03:04:05", newYear],
  ["20260102T030405Z", newYear],
  ["20260102T0304", newYear - 5_000],
  ["20260102030405", newYear],
  ["20260102", Date.UTC(2026, 0, 2)],
  ["2026-01-02T04:04:05+01:00[Europe/Paris]", newYear],
  ["Fri, 02 Jan 2026 03:04:05 +0000", newYear],
  ["Fri, 2 Jan 2026 03:04:05 +0000 (UTC)", newYear],
  ["2 Jan 2026 03:04 GMT", newYear - 5_000],
  ["Thu, 01 Jan 2026 22:04:05 EST", newYear],
  ["02 Jan 26 03:04:05 Z", newYear],
  ["Friday, 02-Jan-26 03:04:05 GMT", newYear],
  ["Fri Jan  2 03:04:05 2026", newYear],
  ["Fri Jan  2 03:04:05 UTC 2026", newYear],
  ["Fri Jan 02 2026 04:04:05 GMT+0100 (Central European Standard Time)", newYear],
  [" 2026-01-02T03:04:05Z\n", newYear],
  // Leap seconds are read as the second after them.
  ["2016-12-31T23:59:60Z", Date.UTC(2017, 0, 1)],
  ["2016-12-31T23:59:60.25Z", Date.UTC(2017, 0, 1) + 250],
  ["Sat, 31 Dec 2016 23:59:60 +0000", Date.UTC(2017, 0, 1)],
  // Times before 1970 are read as negative numbers.
  ["1969-12-31T23:59:59Z", -1_000],
  ["0001-01-01T00:00:00Z", -62_135_596_800_000],
  ["Thu, 04 Oct 1945 00:00:00 +0000", Date.UTC(1945, 9, 4)],
  [-86_400, -86_400_000],
  ["-86400.5", -86_400_500],
  // Numbers are read as Unix time.
  [1_767_323_045, newYear],
  ["1767323045.001", newYear + 1],
  [1_767_323_045.001, newYear + 1],
  [1_767_323_045_678, newYear + 678],
  [1_767_323_045_678_901, newYear + 678],
  [rawJson("1767323045678901234"), newYear + 678],
  ["1767323045678901234", newYear + 678],
  [0, 0],
  [1.7e9, 1_700_000_000_000],
  [20_260_102, 20_260_102_000],
])("%j is a time", (value, expected) => {
  expect(readProviderTime(value)).toBe(expected);
});

test.each([
  ...["", "yesterday", "now", "2026-13-01T00:00:00Z", "2026-02-29", "2026-01-02T25:00:00Z", "2026-01-02T03:60Z"],
  ...["2026-02-30T00:00:00Z", "2025-12-31T24:00:00Z", "2026-01-02T03:04:60Z"],
  ...["2026-01-02T24:00:01Z", "2026-01-02T03:04:61Z", "2026-01-02T03:04:05+24:00", "2026-01-02T03:04:05 ABCD"],
  ...[
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
    "99999-01-01",
    "31 Foo 2026 00:00",
  ],
  ...["1e999", "-", "+", "0x10", "٢٠٢٦-٠١-٠٢", "Infinity", "NaN", "2026-01-02T".padEnd(200, "0"), "9".repeat(90)],
  ...[true, false, null, undefined, {}, [], [1], { seconds: 1 }, 1e300, Number.NaN, rawJson("1e999")],
])("%j is none", (value) => {
  expect(readProviderTime(value)).toBeUndefined();
});

const times = fc.date({
  min: new Date("0001-01-01T00:00:00.000Z"),
  max: new Date("9999-12-31T23:59:59.999Z"),
  noInvalidDate: true,
});

test("property: every time that RFC 3339 can write is read to the millisecond, in any offset", () => {
  fc.assert(
    fc.property(times, fc.integer({ min: -1439, max: 1439 }), (time, offset) => {
      expect(readProviderTime(time.toISOString())).toBe(time.getTime());
      const local = new Date(time.getTime() + offset * 60_000);
      fc.pre(local.getUTCFullYear() >= 1 && local.getUTCFullYear() <= 9999);
      const size = Math.abs(offset);
      const [hours, minutes] = [Math.trunc(size / 60), size % 60].map((part) => String(part).padStart(2, "0"));
      const zone = `${offset < 0 ? "-" : "+"}${hours}:${minutes}`;
      expect(readProviderTime(local.toISOString().replace("Z", zone))).toBe(time.getTime());
    }),
  );
});

test("property: times of HTTP and mail are read to the second, and the unit of Unix time by its size", () => {
  const recent = fc.date({
    min: new Date("1900-01-01T00:00:00Z"),
    max: new Date("2199-12-31T23:59:59Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(recent, (time) => {
      const seconds = Math.floor(time.getTime() / 1000);
      expect(readProviderTime(time.toUTCString())).toBe(seconds * 1000);
      expect(readProviderTime(time.toUTCString().replace("GMT", "+0000"))).toBe(seconds * 1000);
      expect(readProviderTime(seconds)).toBe(seconds * 1000);
      if (Math.abs(time.getTime()) >= 1e11) expect(readProviderTime(time.getTime())).toBe(time.getTime());
    }),
  );
});

test("property: no value makes it throw, and what it reads is a time that RFC 3339 can write", () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^[0-9TZtz:+. ,/()a-zA-Z-]{0,60}$/));
  fc.assert(
    fc.property(fc.oneof(fc.anything(), texts), (value) => {
      const ms = readProviderTime(value);
      if (ms === undefined) return;
      expect(new Date(ms).toISOString()).toMatch(/^\d{4}-/);
      expect(Number.isInteger(ms)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});
