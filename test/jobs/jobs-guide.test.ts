import { createValidator, type JsonSchema } from "@svc/catalog";
import { programSchema } from "@svc/program";
import { describe, expect, test } from "vitest";
import { codeBlocksOf, tableRowsOf } from "../markdown.ts";
import { listFiles, readText } from "../source.ts";
import { jobPages } from "./pages.ts";

const jsonOf = (page: string) =>
  codeBlocksOf(readText(page))
    .filter(({ language }) => language === "json")
    .map(({ text }) => JSON.parse(text) as Record<string, unknown>);

const schema: JsonSchema = programSchema;
const isProgram = createValidator(schema);
const isStep = createValidator({ $defs: schema["$defs"], $ref: "#/$defs/step" });

/** JSON blocks are programs, steps, or schedule definitions and their parts. test/jobs/guides.test.ts covers those of schedules. */
const isOfSchedule = (block: Record<string, unknown>) =>
  ["source", "schedule", "trigger", "poll"].some((name) => name in block);
const ofProgramsIn = (page: string) => jsonOf(page).filter((block) => !isOfSchedule(block));

describe.each(jobPages.filter((page) => ofProgramsIn(page).length > 0))("%s", (page) => {
  test("every program and every step it shows has the form of one", () => {
    for (const block of ofProgramsIn(page)) {
      expect(("steps" in block ? isProgram : isStep)(block), JSON.stringify(block)).toEqual([]);
    }
  });
});

test("each page about jobs has at most 250 lines", () => {
  expect(jobPages.length).toBeGreaterThan(40);
  expect(jobPages.filter((page) => readText(page).split("\n").length > 251)).toEqual([]);
});

test("docs/reference/program shows a step of each kind", () => {
  const shown = jobPages.flatMap((page) => jsonOf(page).flatMap((block) => Object.keys(block)));
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

test("docs/reference/program/examples.md names every example program", () => {
  const programs = listFiles("docs/examples").filter(
    (path) => !/^docs\/examples\/(openapi|standing|webhooks)\//.test(path),
  );
  const page = readText("docs/reference/program/examples.md");
  for (const path of programs) expect(page).toContain(path.slice("docs/".length));
});

test("docs/reference/program/step-errors.md has every code that onError takes", () => {
  const source = readText("packages/program/src/read/on-error.ts");
  const lists = [...source.matchAll(/^const (?:callOutcomes|stepCodes): readonly string\[\] = \[([^\]]*)\]/gm)];
  const codes = lists.flatMap(([, list = ""]) => [...list.matchAll(/"(\w+)"/g)].map(([, code = ""]) => code));
  expect(codes.length).toBeGreaterThan(35);
  const rows = tableRowsOf(readText("docs/reference/program/step-errors.md")).map(([code = ""]) => code);
  expect(codes.filter((code) => !rows.includes(`\`${code}\``))).toEqual([]);
});

test("docs/guides/schedules/pause-or-update-a-schedule.md has every reason for which svc pauses a schedule", () => {
  const [, list = ""] = /standingPauseReasons = \[([^\]]*)\]/.exec(readText("packages/db/src/schema/words.ts")) ?? [];
  const reasons = [...list.matchAll(/"(\w+)"/g)]
    .map(([, reason]) => `\`${reason}\``)
    .filter((r) => r !== "`requested`");
  const rows = tableRowsOf(readText("docs/guides/schedules/pause-or-update-a-schedule.md")).map(([reason]) => reason);
  expect(rows).toEqual(expect.arrayContaining(reasons));
});
