import { expect, test } from "vitest";
import { areFilters } from "./last-filters.ts";

test("a list is called filtered where something is left out of it: a tab leaves nothing out", () => {
  expect(areFilters({})).toBe(false);
  expect(areFilters({ tab: "secrets", live: "off" })).toBe(false);
  expect(areFilters({ state: "dead_letter" })).toBe(true);
});
