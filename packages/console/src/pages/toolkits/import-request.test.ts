import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AddedToolSchema, ToolkitSourceSchema } from "@svc/gen/catalog";
import { expect, test } from "vitest";
import { emptySource, importRequest, inputAgain, overridesOf } from "./import-request.ts";

test("a document is sent by its address or as its text, and an MCP server with the header of its key", () => {
  const input = {
    ...emptySource,
    url: " https://api.example.com/openapi.json ",
    slug: " shop ",
    header: "X-Api-Key",
    watch: true,
    trust: true,
  };
  expect(importRequest(input, "openapi")).toMatchObject({
    ...{ slug: "shop", replace: false, watch: true, trust: true, overrides: [] },
    openapi: { url: "https://api.example.com/openapi.json", server: "", auth: "" },
  });
  expect(importRequest({ ...input, file: { name: "a.yaml", text: "openapi: 3.1.0" } }, "openapi")).toMatchObject({
    ...{ watch: false, openapi: { document: "openapi: 3.1.0" } },
  });
  expect(importRequest(input, "mcp")).toMatchObject({
    trust: true,
    mcp: { url: "https://api.example.com/openapi.json", header: "X-Api-Key" },
  });
});

test("a source that is imported again stays watched and trusted", () => {
  const origin = "https://api.example.com/openapi.json";
  const daily = create(ToolkitSourceSchema, {
    kind: "openapi",
    origin,
    nextRefreshAt: timestampFromMs(1),
    trust: true,
  });
  const request = (source: typeof daily) => {
    return importRequest(inputAgain(source, "shop", "X-Api-Key"), source.kind === "mcp" ? "mcp" : "openapi");
  };
  expect(request(daily)).toMatchObject({
    slug: "shop",
    replace: true,
    watch: true,
    trust: true,
    openapi: { url: origin },
  });
  const byHand = create(ToolkitSourceSchema, { kind: "openapi", origin });
  expect(request(byHand)).toMatchObject({ watch: false, trust: false });
  expect(inputAgain(daily, "shop", "X-Api-Key").header).toBe("");
  const server = create(ToolkitSourceSchema, { kind: "mcp", origin, nextRefreshAt: timestampFromMs(1) });
  expect(request(server)).toMatchObject({ replace: true, mcp: { url: origin, header: "X-Api-Key" } });
});

test("only what differs from the proposal is sent as a choice", () => {
  const tools = [
    create(AddedToolSchema, { name: "list", class: "read" }),
    create(AddedToolSchema, { name: "send", class: "destructive" }),
  ];
  const classes = { list: "read", send: "write" };
  expect(overridesOf(tools, { classes, descriptions: { hidden: " Own text. ", other: " " } })).toEqual([
    { match: "send", class: "write" },
    { match: "hidden", description: "Own text." },
  ]);
});
