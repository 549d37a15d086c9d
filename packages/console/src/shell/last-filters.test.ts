import { expect, test } from "vitest";
import { areFilters, keepFilters, lastFilters } from "./last-filters.ts";

test("a list is called filtered where something is left out of it: a tab leaves nothing out", () => {
  expect(areFilters({})).toBe(false);
  expect(areFilters({ tab: "secrets", live: "off" })).toBe(false);
  expect(areFilters({ state: "dead_letter" })).toBe(true);
});

test("filters that a person changes on a list are kept; those that a link opened it with are not", () => {
  keepFilters("/p/prj_1/overview", "");
  keepFilters("/p/prj_1/deliveries", "?subscription=sub_1&state=pending");
  expect(lastFilters("/p/prj_1/deliveries")).toEqual({});
  keepFilters("/p/prj_1/deliveries", "?state=dead_letter");
  keepFilters("/p/prj_1/overview", "");
  expect(lastFilters("/p/prj_1/deliveries")).toEqual({ state: "dead_letter" });
  keepFilters("/p/prj_1/deliveries", "?subscription=sub_1");
  expect(lastFilters("/p/prj_1/deliveries")).toEqual({ state: "dead_letter" });
});
