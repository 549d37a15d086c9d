import { createValidator, type JsonSchema } from "@svc/catalog";
import { sampleProgram } from "@svc/testing/sample-program";
import { expect, test } from "vitest";
import { programSchema } from "./program-schema.ts";
import { languageOf, stepKinds } from "./steps/index.ts";

const validate = createValidator(programSchema);
const definitions = programSchema.$defs as Record<string, JsonSchema>;

test("the sample program satisfies the schema", () => {
  expect(validate(sampleProgram())).toEqual([]);
});

test("every construct of the schema has a description and an example", () => {
  const bare: string[] = [];
  const look = (node: unknown, at: string, isNamed: boolean) => {
    if (typeof node !== "object" || node === null) return;
    const { description, examples, $ref, properties, $defs, items, additionalProperties } = node as Record<
      string,
      unknown
    >;
    if (isNamed && $ref === undefined && (typeof description !== "string" || !Array.isArray(examples))) bare.push(at);
    for (const group of [properties, $defs]) {
      for (const [name, child] of Object.entries((group as object | undefined) ?? {}))
        look(child, `${at}/${name}`, true);
    }
    look(items, `${at}/items`, true);
    if (typeof additionalProperties === "object") look(additionalProperties, `${at}/*`, true);
  };
  look(programSchema, "", true);
  expect(bare).toEqual([]);
});

test("every example of the schema satisfies what it stands at", () => {
  for (const [name, definition] of Object.entries(definitions)) {
    const check = createValidator({ $defs: definitions, $ref: `#/$defs/${name}` });
    for (const example of definition.examples as unknown[]) expect(check(example), name).toEqual([]);
  }
  for (const example of programSchema.examples as unknown[]) expect(validate(example)).toEqual([]);
});

test("every name that the schema refers to is defined, every definition is referred to, and none is made twice", () => {
  const referred = [...JSON.stringify(programSchema).matchAll(/"#\/\$defs\/(\w+)"/g)].map(([, name]) => name ?? "");
  expect([...new Set(referred)].sort()).toEqual(Object.keys(definitions).sort());
  const made = stepKinds.flatMap((kind) => [kind, ...Object.keys(languageOf(kind).definitions)]);
  expect(new Set(made).size).toBe(made.length);
});

test("the schema says what answers do, which functions there are, and what is absent or skipped", () => {
  const text = JSON.stringify(programSchema);
  for (const word of [
    "abort: everywhere",
    "skip: at a judge",
    "upperAscii",
    "math.round",
    "its set is empty",
    "WAIT_BEYOND_DEADLINE",
  ]) {
    expect(text).toContain(word);
  }
  expect(text).toMatch(/null, absent or skipped, .{0,10}else/);
});
