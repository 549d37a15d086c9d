import { expect, test } from "vitest";
import { Rate } from "./rate.ts";

test("a rate lets a second's worth through at once, then one at a time, and says when the next may go", () => {
  const rate = new Rate();
  for (let n = 0; n < 10; n++) expect(rate.take(10, 1_000)).toBeUndefined();
  expect(rate.take(10, 1_000)).toBe(100);
  expect(rate.take(10, 1_050)).toBe(50);
  expect(rate.take(10, 1_100)).toBeUndefined();
  expect(rate.take(10, 1_100)).toBe(100);
});

test("an idle second saves up no more than a second's worth", () => {
  const rate = new Rate();
  for (let n = 0; n < 5; n++) rate.take(5, 0);
  let taken = 0;
  while (rate.take(5, 60_000) === undefined) taken++;
  expect(taken).toBe(5);
});

test("what is charged beyond the rate is owed, and never more than a second's worth", () => {
  const rate = new Rate();
  for (let n = 0; n < 1_000; n++) rate.charge(10, 0);
  expect(rate.hasRoom(10, 1_050)).toBe(false);
  expect(rate.hasRoom(10, 1_100)).toBe(true);
});

test("without a bound everything goes through, and is counted", () => {
  const rate = new Rate();
  for (let n = 0; n < 7; n++) expect(rate.take(Number.POSITIVE_INFINITY, 500)).toBeUndefined();
  expect([rate.used(500), rate.used(1_500), rate.used(2_500)]).toEqual([0, 7, 0]);
});

test("a clock that is set back takes nothing away and adds nothing", () => {
  const rate = new Rate();
  for (let n = 0; n < 3; n++) rate.take(3, 10_000);
  expect(rate.take(3, 5_000)).toBeDefined();
  expect(rate.take(3, 5_334)).toBeUndefined();
});
