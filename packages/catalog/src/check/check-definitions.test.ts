import { expect, test } from "vitest";
import { createDefinitionFile } from "../read/definition-file.ts";
import type { ToolkitFiles } from "../read/read-definitions.ts";
import { checkExamplePhrases } from "./check-definitions.ts";

function faultsOf(value: unknown): string[] {
  const sayings = createDefinitionFile("sayings.yaml", value);
  const tools: ToolkitFiles["tools"] = new Map([["ring_bell", createDefinitionFile("ring_bell.yaml", {})]]);
  checkExamplePhrases({ folder: "bells", toolkit: createDefinitionFile("toolkit.yaml", {}), tools, sayings });
  return sayings.faults.map(({ path, reason }) => `${path}: ${reason}`);
}

test("accepts example phrases with alternatives, for tools of the toolkit", () => {
  expect(faultsOf({ ring_bell: ["ring the (big|) bell", "sound it"] })).toEqual([]);
});

test("refuses malformed example phrases", () => {
  expect(faultsOf(["ring"])).toEqual([": is not a map of tools"]);
  expect(faultsOf({ ring_gong: ["ring it"] })).toEqual(['ring_gong: "ring_gong" is not a tool of the toolkit']);
  expect(faultsOf({ ring_bell: [] })).toEqual(["ring_bell: is not a list of example phrases"]);
  for (const saying of ["(ring", "ring | sound", "((a|b)|c)", "a".repeat(401), 7]) {
    expect(faultsOf({ ring_bell: [saying] }), String(saying)).toEqual(["ring_bell[0]: is not an example phrase"]);
  }
});
