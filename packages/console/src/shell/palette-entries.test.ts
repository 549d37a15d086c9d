import { expect, test } from "vitest";
import { paletteEntries } from "./palette-entries.ts";

const offered = (typed: string, projectId = "prj_1") => paletteEntries(typed, projectId).map(({ words }) => words);

test("an id opens its page, words find pages and things to do, and anything is a search of the tools", () => {
  const id = "evt_01h455vb4pex5vsknk084sn02q";
  expect(offered(id)).toEqual([`Open event ${id}`]);
  // Only the service can find an id by its beginning.
  expect(offered(id.slice(0, -1))).toEqual([`Tools for “${id.slice(0, -1)}”`]);
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
