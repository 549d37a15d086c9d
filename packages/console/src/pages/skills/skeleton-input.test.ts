import { expect, test } from "vitest";
import { skeletonInput } from "./skeleton-input.ts";

test("what a skill requires is there to be filled in", () => {
  const schema = {
    required: ["text", "n"],
    properties: { text: { type: "string" }, n: { type: "integer", default: 3 }, more: {} },
  };
  expect(JSON.parse(skeletonInput(JSON.stringify(schema)))).toEqual({ text: "", n: 3 });
  expect(skeletonInput("[")).toBe("{}");
});
