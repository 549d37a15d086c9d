import fc from "fast-check";
import { expect, test } from "vitest";
import { readHttpDate, readRetryAfter } from "./http-date.ts";

const nowMs = Date.UTC(2026, 10, 28, 12);
const sunday = Date.UTC(1994, 10, 6, 8, 49, 37);

test("the three forms of RFC 9110 are the same time", () => {
  for (const text of [
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
    "Sun Nov 06 08:49:37 1994",
  ])
    expect(readHttpDate(text, nowMs), text).toBe(sunday);
});

test("every date that is written in a form is read as it was written", () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }), (seconds) => {
      const text = new Date(seconds * 1000).toUTCString();
      expect(readHttpDate(text, nowMs)).toBe(seconds * 1000);
      const [day = "", date = "", month, year, time] = text.split(" ");
      const asctime = `${day.slice(0, 3)} ${month} ${date.replace(/^0/, " ")} ${time} ${year}`;
      expect(readHttpDate(asctime, nowMs)).toBe(seconds * 1000);
    }),
  );
});

test("a year of two digits is at most 50 years ahead", () => {
  const year = (digits: string) => new Date(readHttpDate(`Monday, 01-Jun-${digits} 00:00:00 GMT`, nowMs) ?? 0);
  expect(["26", "75", "76", "77", "99", "00"].map((digits) => year(digits).getUTCFullYear())).toEqual([
    2026, 2075, 2076, 1977, 1999, 2000,
  ]);
});

test.each([
  ...["Mon, 30 Feb 2026 10:00:00 GMT", "Mon, 31 Apr 2026 10:00:00 GMT", "Sun, 29 Feb 2026 10:00:00 GMT"],
  ...["Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT"],
  ...["Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49:60 GMT"],
  ...["Sun, 06 Nov 1994 08:49:37 EST", "Sun, 06 Nov 1994 08:49:37 +0100", "Sun, 06 Nov 1994 08:49:37", "06 Nov 1994"],
  ...["Sun, 6 Nov 1994 08:49:37 GMT", "sun, 06 nov 1994 08:49:37 gmt", "Sun,  06 Nov 1994 08:49:37 GMT"],
  ...[
    "Sun Feb 30 08:49:37 2026",
    "Sun Nov 6 08:49:37 1994",
    "Sunday, 31-Feb-26 08:49:37 GMT",
    "Sun, 06-Nov-94 08:49:37 GMT",
  ],
  ...["Sun, 06 Nov 94 08:49:37 GMT", "1994-11-06T08:49:37Z", "-1", "1.5", "", "soon", "Xyz, 06 Nov 1994 08:49:37 GMT"],
])("%j is no HTTP-date", (text) => {
  expect(readHttpDate(text, nowMs)).toBeUndefined();
});

test("Retry-After is seconds or a date, never in the past and never longer than is granted", () => {
  const wait = (text: string | null | undefined) => readRetryAfter(text, nowMs, 3_600_000);
  expect(wait("120")).toBe(120_000);
  expect(wait(" 0 ")).toBe(0);
  expect(wait("99999999999999999999")).toBe(3_600_000);
  expect(wait("9".repeat(400))).toBe(3_600_000);
  expect(wait(new Date(nowMs + 90_000).toUTCString())).toBe(90_000);
  expect(wait("Sat Nov 28 12:01:30 2026")).toBe(90_000);
  expect(wait("Saturday, 28-Nov-26 12:01:30 GMT")).toBe(90_000);
  expect(wait("Sun, 06 Nov 1994 08:49:37 GMT")).toBe(0);
  expect(wait("Fri, 31 Dec 9999 23:59:59 GMT")).toBe(3_600_000);
  for (const text of [undefined, null, "", "-1", "1.5", "+5", "1e3", "0x10", "5 s", "Mon, 30 Feb 2027 10:00:00 GMT"])
    expect(wait(text), String(text)).toBeUndefined();
});
