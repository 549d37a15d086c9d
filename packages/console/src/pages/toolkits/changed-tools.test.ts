import { create } from "@bufbuild/protobuf";
import { ToolkitChangesSchema } from "@svc/gen/catalog";
import { expect, test } from "vitest";
import { changedTools, originParts } from "./changed-tools.ts";

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
