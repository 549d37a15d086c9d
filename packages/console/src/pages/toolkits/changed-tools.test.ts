import { create } from "@bufbuild/protobuf";
import { ToolkitChangesSchema } from "@svc/gen/catalog";
import { expect, test } from "vitest";
import { changedTools, classAfter, classOverrides, originParts } from "./changed-tools.ts";

test("changes are grouped by tool: suspicious ones first, then those that may break calls", () => {
  const changes = create(ToolkitChangesSchema, {
    added: [{ name: "refund" }],
    gone: ["cancel"],
    altered: [
      { tool: "list", field: "input.required", breaking: true },
      { tool: "get", field: "description", flagged: true },
      { tool: "list", field: "description" },
      { tool: "", field: "name" },
    ],
  });
  const shown = changedTools(changes).map((tool) => [tool.name, tool.parts.length, tool.isFlagged, tool.isBreaking]);
  expect(shown).toEqual([
    ["get", 1, true, false],
    ["cancel", 0, false, true],
    ["list", 2, false, true],
    ["refund", 0, false, false],
    ["", 1, false, false],
  ]);
});

test("of an origin, only the parts that differ are shown", () => {
  const originBefore = JSON.stringify({ baseUrl: "https://a.example.com", auth: [{ type: "none" }], account: [{}] });
  const originAfter = JSON.stringify({ baseUrl: "https://b.example.com", auth: [{ type: "none" }] });
  expect(originParts(create(ToolkitChangesSchema, { originBefore, originAfter }))).toEqual([
    { field: "baseUrl", before: "https://a.example.com", after: "https://b.example.com" },
    { field: "account", before: "[\n  {}\n]", after: "" },
  ]);
});

test("a class is sent only for an accepted tool that would get another one", () => {
  const changes = create(ToolkitChangesSchema, {
    added: [{ name: "refund", class: "destructive" }],
    gone: ["cancel"],
    altered: [
      { tool: "get", field: "class", before: "read", after: "write" },
      { tool: "list", field: "description" },
    ],
  });
  const tools = changedTools(changes);
  const now = new Map([
    ["get", "read"],
    ["list", "read"],
    ["cancel", "write"],
  ]);
  const after = Object.fromEntries(tools.map((tool) => [tool.name, classAfter(tool, now)]));
  expect(after).toEqual({ refund: "destructive", cancel: undefined, get: "write", list: "read" });
  const chosen = new Map([
    ["refund", "write"],
    ["get", "read"],
    ["list", "read"],
  ]);
  const accepted = tools.filter(({ name }) => name !== "get");
  expect(classOverrides(accepted, { now, chosen })).toEqual([{ match: "refund", class: "write" }]);
});
