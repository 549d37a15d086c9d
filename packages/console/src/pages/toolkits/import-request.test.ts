import { create } from "@bufbuild/protobuf";
import { AddedToolSchema } from "@svc/gen/catalog";
import { expect, test } from "vitest";
import { emptySource, importRequest, overridesOf } from "./import-request.ts";

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
