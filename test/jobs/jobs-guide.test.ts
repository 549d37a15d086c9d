import { createValidator, type JsonSchema } from "@svc/catalog";
import { programSchema } from "@svc/program";
import { describe, expect, test } from "vitest";
import { codeBlocksOf } from "../markdown.ts";
import { listFiles, readText } from "../source.ts";

const schema: JsonSchema = programSchema;
const isProgram = createValidator(schema);
const isStep = createValidator({ $defs: schema["$defs"], $ref: "#/$defs/step" });

describe.each(["docs/jobs.md", "docs/asks.md", "docs/coming-from.md"])("%s", (page) => {
  const blocks = codeBlocksOf(readText(page))
    .filter(({ language }) => language === "json")
    .map(({ text }) => JSON.parse(text) as Record<string, unknown>);

  test("every program and every step it shows has the form of one", () => {
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) {
      expect(("version" in block ? isProgram : isStep)(block), JSON.stringify(block)).toEqual([]);
    }
  });
});

test("docs/jobs.md shows a step of each kind", () => {
  const shown = codeBlocksOf(readText("docs/jobs.md"))
    .filter(({ language }) => language === "json")
    .flatMap(({ text }) => Object.keys(JSON.parse(text) as object));
  for (const kind of [
    "call",
    "filter",
    "map",
    "reduce",
    "sort",
    "limit",
    "distinct",
    "join",
    "group",
    "compute",
    "flatten",
    "take",
    "judge",
    "fail",
    "if",
    "parallel",
    "until",
    "wait",
    "run",
    "http",
  ])
    expect(shown).toContain(kind);
});

test("docs/jobs.md names every example program", () => {
  const programs = listFiles("docs/examples").filter((path) => !path.startsWith("docs/examples/standing/"));
  for (const path of programs) expect(readText("docs/jobs.md")).toContain(path.slice("docs/".length));
});
