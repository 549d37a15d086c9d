import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blockProofs } from "./block-proofs.ts";
import { isOfCalls, programFields } from "./program-fields.ts";
import { note } from "./program-proofs.ts";
import { createProgramWorld, type ProgramWorld } from "./program-world.ts";
import { pointProofs, rootProofs } from "./root-proofs.ts";
import { mapProofs, setProofs } from "./set-proofs.ts";
import { stepProofs } from "./step-proofs.ts";
import { testProofs } from "./test-proofs.ts";
import { unheeded } from "./unheeded.ts";

// Proves every field of the schema of programs, except those of calls, for each kind of step that has it. Two programs that differ only in
// that field behave differently.

let world: ProgramWorld;
beforeAll(async () => {
  world = await createProgramWorld();
});
afterAll(() => world.close());

const proofs = { ...rootProofs, ...pointProofs, ...stepProofs, ...setProofs, ...mapProofs, ...blockProofs };
testProofs(
  programFields.filter((field) => !isOfCalls(field)),
  Object.fromEntries(Object.entries(proofs).filter(([field]) => !isOfCalls(field))),
  () => world,
);

test.each(Object.entries(unheeded))("%s is refused", async (_, { program, refused, mended }) => {
  const { faults } = await world.check(program);
  expect(faults.map((fault: string) => fault.split(" ")[1])).toEqual([refused]);
  expect((await world.check(mended)).faults).toEqual([]);
});

/** Codes that only a row can fail with, or that stand for the end of a job. */
const noStepFails = ["CHILD_NOT_RETRYABLE", "DEADLINE_EXCEEDED", "LIMIT_REACHED", "PAGES_LEFT", "ROW_TOO_LARGE"];

test("onError takes every code that the steps of the engine fail with", async () => {
  const sources = ["steps", "drive"].flatMap((folder) => {
    const path = new URL(`../../packages/jobs/src/${folder}/`, import.meta.url);
    const names = readdirSync(path).filter((name) => name.endsWith(".ts") && !/^test-|\.test\.ts$/.test(name));
    return names.map((name) => readFileSync(new URL(name, path), "utf8"));
  });
  const found = sources.join("\n").matchAll(/\bcode\b[^"\n]{0,30}"([A-Z]+(?:_[A-Z]+)+)"/g);
  const codes = [...new Set([...found].map(([, code = ""]) => code))].filter((code) => !noStepFails.includes(code));
  expect(codes.length).toBeGreaterThan(10);
  // biome-ignore lint/suspicious/noThenProperty: a field of programs
  const { faults } = await world.check({ steps: [{ ...note, onError: { codes, then: "continue" } }] });
  expect(faults).toEqual([]);
});
