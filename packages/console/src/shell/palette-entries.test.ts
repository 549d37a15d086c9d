import { expect, test } from "vitest";
import { paletteEntries } from "./palette-entries.ts";

const offered = (typed: string, projectId = "prj_1") => paletteEntries(typed, projectId).map(({ words }) => words);

test("an id opens its page, words find pages and things to do, and anything is a search of the tools", () => {
  expect(offered("evt_01m8")).toEqual(["Open event evt_01m8"]);
  expect(offered("deliv")).toEqual(["Deliveries", "Tools for “deliv”"]);
  expect(paletteEntries("post a message", "prj_1")).toMatchObject([
    { to: "/p/$projectId/tools", params: { projectId: "prj_1" }, search: { q: "post a message" } },
  ]);
  expect(offered("")).toContain("Dark theme");
  expect(offered("")).not.toContain("Tools for “”");
  expect(offered("post a message", "admin")).toEqual([]);
});

test("a page of the administration is found from a project, too, also by what is on it", () => {
  expect(offered("quaran")).toEqual(["Quarantine", "Administration: Quarantine", "Tools for “quaran”"]);
  expect(offered("usage")).toEqual(["Administration: Projects", "Tools for “usage”"]);
  expect(offered("quaran", "admin")).toEqual(["Quarantine"]);
  expect(offered("")).not.toContain("Administration: Quarantine");
});
