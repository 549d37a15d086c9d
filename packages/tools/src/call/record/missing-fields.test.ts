import { expect, test } from "vitest";
import { warnOfMissingFields } from "./missing-fields.ts";

const result = {
  items: [
    { id: "1", title: "a" },
    { id: "2", due: null, owner: { name: "Ana" } },
  ],
  next: null,
  none: [],
};

test("fields that match at least one item give no warning", () => {
  const met = ["items", "items.id", "items.due", "items.owner.name", "next", "next.page", "none.id"];
  expect(warnOfMissingFields(result, met)).toEqual([]);
});

test("a field without a match gives a warning with a similar name, or the existing ones", () => {
  expect(warnOfMissingFields(result, ["items.titel"])).toEqual([
    'fields: "items.titel" matches nothing in this result: "title" is near',
  ]);
  expect(warnOfMissingFields(result, ["rows.id"])).toEqual([
    'fields: "rows.id" matches nothing in this result: the result has "items", "next", "none"',
  ]);
  expect(warnOfMissingFields(result, ["items.id.x"])).toEqual([
    'fields: "items.id.x" matches nothing in this result: "items.id" has no fields',
  ]);
});

test("names of Object.prototype match nothing, and only a few of many wrong fields give warnings", () => {
  expect(warnOfMissingFields({ a: 1 }, ["constructor"])).toHaveLength(1);
  const wrong = Array.from({ length: 100 }, (_, index) => `wrong${index}`);
  expect(warnOfMissingFields({ a: 1 }, wrong)).toHaveLength(5);
  expect(warnOfMissingFields({ ["a".repeat(9_000)]: 1 }, ["b".repeat(9_000)])[0]?.length).toBeLessThan(400);
});
