import { createValidator, type JsonSchema } from "@svc/catalog";
import { everyConstruct, testContext } from "@svc/testing/programs";
import { sampleProgram } from "@svc/testing/sample-program";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { checkProgram } from "./check/program.ts";
import type { ProgramFault } from "./faults.ts";
import { pathOf } from "./json.ts";
import schemaOfVersion01 from "./program-schema.0.1.json" with { type: "json" };
import { programSchema } from "./program-schema.ts";
import { readProgram } from "./read/program.ts";
import { stepKinds } from "./steps/index.ts";

vi.setConfig({ testTimeout: 600_000 });

/** Returns the number of runs of a property: a sixth in `npm test`, and ten times `count` in `npm run test:crash`. */
const runs = (count: number) => (process.env["SVC_CRASH_ROUNDS"] === undefined ? Math.ceil(count / 6) : count * 10);

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e21,
    "",
    "x",
    "steps.nope",
    "rows.fetch",
    "24h",
    [],
    {},
    [[]],
    { $ref: "x" },
  ),
  fc.constantFrom<unknown>(
    { $ref: "row.id" },
    { $text: "{" },
    { $text: "{input.calendar}" },
    "proceed",
    "fetch",
    "\u0000",
    "\ud800",
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Generates copies of a program in which one to four values at any place were replaced, removed, duplicated or renamed. */
function mutationsOf(program: unknown): fc.Arbitrary<unknown> {
  const edit = fc.record({
    seed: fc.nat(),
    kind: fc.constantFrom("replace", "remove", "double", "rename"),
    value: odd,
  });
  return fc.array(edit, { minLength: 1, maxLength: 4 }).map((edits) => {
    return edits.reduce((document, { seed, kind, value }) => mutate(document, seed, kind, value), program);
  });
}

type Slot = { readonly holder: Record<string, unknown> | unknown[]; readonly name: string };

function mutate(document: unknown, seed: number, kind: string, value: unknown): unknown {
  const copy: unknown = structuredClone(document);
  const slots = slotsOf(copy);
  const slot = slots[seed % Math.max(1, slots.length)];
  if (slot === undefined) return value;
  const { holder, name } = slot;
  if (Array.isArray(holder)) {
    if (kind === "remove") holder.splice(Number(name), 1);
    else if (kind === "double") holder.push(structuredClone(holder[Number(name)]));
    else holder[Number(name)] = value;
    return copy;
  }
  if (kind === "rename") holder[`${name}s`] = holder[name];
  if (kind === "remove" || kind === "rename") delete holder[name];
  else holder[name] = value;
  return copy;
}

function slotsOf(value: unknown): Slot[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Slot["holder"];
  return Object.entries(value).flatMap(([name, child]) => [{ holder, name }, ...slotsOf(child)]);
}

/** True if the pointer of a fault leads to a value of the document. */
function resolves(document: unknown, { pointer }: ProgramFault): boolean {
  let value = document;
  for (const step of pathOf(pointer)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return false;
    value = (value as Record<string, unknown>)[step];
  }
  return true;
}

const context = await testContext();
const programs = fc.oneof(mutationsOf(sampleProgram()), mutationsOf(everyConstruct()));

test("whatever became of a program, its check answers: faults once each, with pointers that resolve, or a runnable program", async () => {
  await fc.assert(
    fc.asyncProperty(programs, async (program) => {
      const text = JSON.stringify(program);
      const checked = await checkProgram(text, context);
      if (!("faults" in checked)) return;
      expect(checked.faults.length).toBeGreaterThan(0);
      expect(checked.faults.filter((fault) => !resolves(JSON.parse(text), fault))).toEqual([]);
      expect(new Set(checked.faults.map((fault) => JSON.stringify(fault))).size).toBe(checked.faults.length);
    }),
    { numRuns: runs(250) },
  );
});

test("no text makes the check throw", async () => {
  const texts = fc.oneof(fc.string(), fc.json(), fc.string({ unit: "binary" }));
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      expect(await checkProgram(text, context)).toHaveProperty("faults");
    }),
    { numRuns: runs(300) },
  );
});

const beyondSchemas =
  /surrogate|U\+0000|__proto__|twice|as \/.* is|is nested|is not a time|is not a valid schema|not a keyword|not the path|not a path|contains no schemas|neither true nor false|only \$ref|only \$text|is (?:an? |null|true or false|nothing).*, not (?:a text|the text of a path|a CEL expression)|contains a reference|not a scalar|is (?:not allowed )?next to|no such number|is not the name of a secret|only \$secret|of at most 100 characters|but (?:GET|HEAD) has none|svc sets|requests another method|already a header|is not a header name|white space|does not write|absolute https|carries credentials|has a fragment|is http, which|no name system|the end of its host|begin with https|longer than/;

/** Returns the faults of a program's form that a JSON Schema can express. */
function formFaultsOf(program: unknown): readonly ProgramFault[] {
  const { faults } = readProgram(JSON.stringify(program));
  return faults.list().filter(({ code, pointer, message }) => {
    return code === "PROGRAM_MALFORMED" && !/Schema/.test(pointer) && !beyondSchemas.test(message);
  });
}

test("a program that is read without a fault satisfies the schema, and a malformed one does not, as far as schemas go", () => {
  const validate = createValidator(programSchema);
  fc.assert(
    fc.property(programs, (program) => {
      const { faults } = readProgram(JSON.stringify(program));
      const found = formFaultsOf(program);
      const misses = validate(program);
      if (faults.count === 0) expect(misses).toEqual([]);
      if (found.length > 0) expect(misses, JSON.stringify(found)).not.toEqual([]);
    }),
    { numRuns: runs(200) },
  );
});

test("whatever the schema of version 0.1 accepts, today's accepts", () => {
  const ofVersion01 = createValidator(schemaOfVersion01 as JsonSchema);
  const ofToday = createValidator(programSchema);
  let accepted = 0;
  fc.assert(
    fc.property(programs, (program) => {
      if (ofVersion01(program).length > 0) return;
      accepted++;
      expect(ofToday(program)).toEqual([]);
    }),
    { numRuns: 1_000 },
  );
  expect(accepted).toBeGreaterThan(20);
});

test.each(stepKinds)(
  "what is read as a step of kind %s satisfies its part of the schema, and nothing else does",
  (kind) => {
    const definitions = programSchema.$defs as Record<string, JsonSchema>;
    const validate = createValidator({ $defs: definitions, $ref: `#/$defs/${kind}` });
    const programOf = (step: unknown) => ({ version: 1, title: "x", steps: [step] });
    const examples = definitions[kind]?.examples as unknown[];
    for (const example of examples) expect(readProgram(JSON.stringify(programOf(example))).faults.list()).toEqual([]);
    fc.assert(
      fc.property(fc.constantFrom(...examples).chain(mutationsOf), (step) => {
        const { faults } = readProgram(JSON.stringify(programOf(step)));
        const found = formFaultsOf(programOf(step));
        const misses = validate(step);
        if (faults.count === 0) expect(misses).toEqual([]);
        if (found.length > 0) expect(misses, JSON.stringify(found)).not.toEqual([]);
      }),
      { numRuns: runs(60) },
    );
  },
);
