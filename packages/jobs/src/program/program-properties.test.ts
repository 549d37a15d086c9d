import { createValidator, type JsonSchema } from "@svc/catalog";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalHash } from "./canonical.ts";
import { checkProgram } from "./check-program.ts";
import { pathOf } from "./faults.ts";
import schema from "./program.schema.json" with { type: "json" };
import type { ProgramFault } from "./program.ts";
import { readProgram } from "./read-program.ts";
import { sampleProgram } from "./sample-program.ts";
import { everyConstruct, testContext } from "./test-programs.ts";

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

/** A program in which one to four values, wherever they stand, were replaced, removed, doubled or renamed. */
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

/** Whether a pointer names a value of a document. */
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
    { numRuns: 500 },
  );
});

test("no text makes the check throw", async () => {
  const texts = fc.oneof(fc.string(), fc.json(), fc.string({ unit: "binary" }));
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      expect(await checkProgram(text, context)).toHaveProperty("faults");
    }),
    { numRuns: 300 },
  );
});

test("a program that is read without a fault satisfies the schema, and a malformed one does not, as far as schemas go", () => {
  const beyondSchemas =
    /surrogate|U\+0000|__proto__|twice|as \/.* is|is nested|is no time|is not a schema that can be used|not a keyword|not the path|not a path|holds no schemas|neither true nor false|only \$ref|only \$text|is not a text|holds a reference|not a scalar|stands beside|no such number/;
  fc.assert(
    fc.property(programs, (program) => {
      const { faults } = readProgram(JSON.stringify(program));
      const shape = faults.list().filter(({ code, pointer, message }) => {
        return code === "PROGRAM_MALFORMED" && !/Schema/.test(pointer) && !beyondSchemas.test(message);
      });
      const misses = createdValidator(program);
      if (faults.count === 0) expect(misses).toEqual([]);
      if (shape.length > 0) expect(misses, JSON.stringify(shape)).not.toEqual([]);
    }),
    { numRuns: 400 },
  );
});

const createdValidator = createValidator(schema as JsonSchema);

function shuffled(value: unknown, order: readonly number[]): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => shuffled(item, order));
  const entries = Object.entries(value).map(([name, item], index) => ({
    name,
    item,
    rank: order[index % order.length] ?? 0,
  }));
  entries.sort((a, b) => a.rank - b.rank);
  return Object.fromEntries(entries.map(({ name, item }) => [name, shuffled(item, order)]));
}

test("the hash is that of the value, whatever the order of names and the whitespace", () => {
  const orders = fc.array(fc.integer(), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(fc.jsonValue(), orders, fc.nat(8), (value, order, indent) => {
      const other = JSON.stringify(shuffled(value, order), undefined, indent);
      expect(canonicalHash(JSON.parse(other))).toBe(canonicalHash(JSON.parse(JSON.stringify(value))));
    }),
  );
});
