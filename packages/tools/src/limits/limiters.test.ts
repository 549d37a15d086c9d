import { expect, test } from "vitest";
import { Bookings } from "./limiters.ts";

test("a lone job comes back as soon as there may be room, however often it asks", () => {
  const bookings = new Bookings();
  expect(bookings.book("a", { nowMs: 0, earliestMs: 100, stepMs: 1_000, sinceMs: 0 })).toBe(100);
  expect(bookings.book("a", { nowMs: 10, earliestMs: 500, stepMs: 1_000, sinceMs: 0 })).toBe(100);
  expect([bookings.isDue("a", 99), bookings.isDue("a", 100)]).toEqual([false, true]);
  expect(bookings.book("a", { nowMs: 100, earliestMs: 300, stepMs: 1_000, sinceMs: 0 })).toBe(300);
  bookings.end("a");
  expect([bookings.isDue("a", 400), bookings.count(400)]).toEqual([false, 0]);
});

test("jobs try again one after the other, as fast as calls may start", () => {
  const bookings = new Bookings();
  const times = ["a", "b", "c"].map((jobId) =>
    bookings.book(jobId, { nowMs: 0, earliestMs: 100, stepMs: 1_000, sinceMs: 0 }),
  );
  expect(times).toEqual([100, 1_100, 2_100]);
});

test("at most twenty of ten thousand jobs try again per second, and the last one within a quarter of an hour", () => {
  const bookings = new Bookings();
  const times = Array.from({ length: 10_000 }, (_, n) =>
    bookings.book(`job-${n}`, { nowMs: 0, earliestMs: 100, stepMs: 86_400_000 / 100, sinceMs: 0 }),
  );
  for (const [n, at] of times.entries()) if (n > 0) expect(at - (times[n - 1] ?? 0)).toBeGreaterThanOrEqual(50);
  expect(times.at(-1)).toBeLessThan(15 * 60_000);
  expect(bookings.count(0)).toBe(10_000);
  expect(bookings.count(20 * 60_000)).toBe(0);
});
