import { createValidator, type JsonSchema } from "@svc/catalog";
import { expect, test } from "vitest";
import schema from "./program.schema.json" with { type: "json" };
import { sampleProgram } from "./sample-program.ts";

const validate = createValidator(schema as JsonSchema);

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
  look(schema, "", true);
  expect(bare).toEqual([]);
});

test("every example of the schema satisfies what it stands at", () => {
  const definitions = schema.$defs as Record<string, JsonSchema>;
  for (const [name, definition] of Object.entries(definitions)) {
    const check = createValidator({ $defs: definitions, $ref: `#/$defs/${name}` });
    for (const example of definition.examples as unknown[]) expect(check(example), name).toEqual([]);
  }
  for (const example of schema.examples) expect(validate(example)).toEqual([]);
});
