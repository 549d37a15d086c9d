import { create } from "@bufbuild/protobuf";
import { ToolKind, ToolkitSchema, ToolSchema } from "@svc/gen/catalog";
import { expect, test } from "vitest";
import { matchingTools, toolsSearch } from "./filters.ts";

const tool = (slug: string, accessClass: string, kind: ToolKind = ToolKind.ACTION) =>
  create(ToolSchema, { slug, toolkitSlug: slug.split(".")[0] ?? "", accessClass, kind });
const tools = [
  tool("calendar.list", "read"),
  tool("calendar.changed", "read", ToolKind.TRIGGER),
  tool("bot.send", "write"),
];
const toolkits = [create(ToolkitSchema, { slug: "bot", category: "communication" })];
const matching = (search: Record<string, string>) =>
  matchingTools(tools, toolsSearch.read(search), toolkits).map(({ slug }) => slug);

test("filters combine, and triggers are no tools to call", () => {
  expect(matching({})).toEqual(["calendar.list", "bot.send"]);
  expect(matching({ class: "write" })).toEqual(["bot.send"]);
  expect(matching({ category: "communication", class: "read" })).toEqual([]);
  expect(matching({ category: "communication" })).toEqual(["bot.send"]);
  expect(matching({ toolkit: "calendar" })).toEqual(["calendar.list"]);
});

test("a class that there is not filters nothing", () => {
  expect(toolsSearch.isFiltered(toolsSearch.read({ class: "none" }))).toBe(false);
  expect(toolsSearch.isFiltered(toolsSearch.read({ q: "send" }))).toBe(true);
});
