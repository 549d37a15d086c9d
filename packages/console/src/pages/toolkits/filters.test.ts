import { create } from "@bufbuild/protobuf";
import { ToolkitSchema } from "@svc/gen/catalog";
import { expect, test } from "vitest";
import { matchingToolkits } from "./filters.ts";

const toolkits = [
  create(ToolkitSchema, { slug: "calendar", name: "Calendar" }),
  create(ToolkitSchema, { slug: "shop", name: "Corner Shop", sourceKind: "openapi" }),
  create(ToolkitSchema, { slug: "tracker", name: "Tracker", sourceKind: "mcp", changesWaiting: 2 }),
];
const found = (search: object) => matchingToolkits(toolkits, search).map(({ slug }) => slug);

test("toolkits with changes come first, then those of the project, and each filter narrows the list", () => {
  expect(found({})).toEqual(["tracker", "shop", "calendar"]);
  expect(found({ q: "corner" })).toEqual(["shop"]);
  expect(found({ source: "svc" })).toEqual(["calendar"]);
  expect(found({ changes: "waiting" })).toEqual(["tracker"]);
});
