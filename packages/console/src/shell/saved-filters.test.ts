import { expect, test } from "vitest";
import { deleteFilter, isSameSearch, keptSearch, nameFault, savedFilters, saveFilter } from "./saved-filters.ts";

const failed = { page: "deliveries", name: "Failed today", search: { state: "dead_letter", range: "today" } };

test("a filter is saved, renamed and deleted, in its own project", () => {
  saveFilter("prj_kept", failed);
  saveFilter("prj_kept", { ...failed, name: "All of Ada", search: { range: "7d" } });
  expect(savedFilters("prj_kept").map(({ name }) => name)).toEqual(["All of Ada", "Failed today"]);
  expect(savedFilters("prj_empty")).toEqual([]);
  saveFilter("prj_kept", { ...failed, name: "Zero" }, "Failed today");
  expect(savedFilters("prj_kept").map(({ name }) => name)).toEqual(["All of Ada", "Zero"]);
  deleteFilter("prj_kept", { ...failed, name: "Zero" });
  expect(savedFilters("prj_kept").map(({ name }) => name)).toEqual(["All of Ada"]);
});

test("a name is short and not taken on its list, and a project has at most 100", () => {
  saveFilter("prj_full", failed);
  expect(nameFault("prj_full", "deliveries", " ")).toBe("Enter a name.");
  expect(nameFault("prj_full", "deliveries", "x".repeat(61))).toContain("61 characters");
  expect(nameFault("prj_full", "deliveries", "Failed today ")).toContain("has this name");
  expect(nameFault("prj_full", "deliveries", "Failed today", "Failed today")).toBeUndefined();
  expect(nameFault("prj_full", "jobs", "Failed today")).toBeUndefined();
  for (let n = 1; n < 100; n++) saveFilter("prj_full", { ...failed, name: `Number ${n}` });
  expect(nameFault("prj_full", "jobs", "One more")).toContain("100 saved filters");
});

test("a filter keeps its range, and not the open row", () => {
  const search = keptSearch({ state: "failed", since: "2026-03-04T15:06:07Z", open: "dlv_1", until: undefined });
  expect(search).toEqual({ state: "failed", since: "2026-03-04T15:06:07Z" });
  expect(isSameSearch(search, { since: "2026-03-04T15:06:07Z", state: "failed" })).toBe(true);
  expect([isSameSearch(search, {}), isSameSearch({ a: "1" }, { a: "2" })]).toEqual([false, false]);
});
