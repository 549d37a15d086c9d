import type { JsonSchema } from "@svc/catalog";
import { listed } from "./limits.ts";
import { ref, schemaOf } from "./read/form.ts";
import { nameSchema } from "./read/name.ts";
import { onErrorForm } from "./read/on-error.ts";
import { pointDefinitions } from "./read/points.ts";
import { programForm } from "./read/program.ts";
import { formOf, languageOf, type Step, stepKinds } from "./steps/index.ts";
import { functionNames } from "./types/cel-kinds.ts";

/** The definition `value` in the JSON Schema of programs: a JSON value that may contain references. */
const valueDefinition: JsonSchema = {
  description:
    'A JSON value. {"$ref": path} takes a value, with "else" if its source may be skipped or absent; {"$text": "… {path} …"} joins text, {{ is a brace; if a source is null, absent or skipped, "else" next to it replaces the whole text, and without "else" the step or the row fails. Paths start with input, params, steps.<id>, row, output, calls.<id> or rows.<set>. {"$cel": expression} computes a value from them and from now, the time at which the step began, with the functions that $defs/expression names; {"$literal": value} is the value unchanged; {"$secret": name} is a secret of the project, with "prefix" before it, in an http step and at arguments that a tool marks x-sensitive.',
  examples: [
    { $ref: "steps.sum.sent", else: 0 },
    { $text: "{rows.open} open" },
    { $cel: "now - duration('168h')" },
    { $literal: "Hello {{name}}" },
    250,
  ],
};

/** Describes a JSON Schema that an author writes inside a program. The schema of programs refers to this description as `schema`. */
const schemaDefinition: JsonSchema = {
  description:
    "A JSON Schema of an object. Keywords: type, title, description, default, examples, enum, const, required, properties, additionalProperties (true or false), items, anyOf, oneOf, allOf, dependentRequired and the bounds of numbers, texts, lists and objects.",
  type: "object",
  required: ["type"],
  properties: { type: { description: "Always object.", const: "object", examples: ["object"] } },
  examples: [{ type: "object", required: ["calendar"], properties: { calendar: { type: "string" } } }],
};

/** The definition `expression` in the JSON Schema of programs: a CEL expression. */
const expressionDefinition: JsonSchema = {
  description: `A CEL expression that is true or false: at most 1,024 characters, 200 nodes, 24 levels, one comprehension. JSON numbers are doubles: write 1.0. It may name now, the time at which the step began. An absent field makes it fail: check has(row.field) first. Functions, besides has, all, exists, exists_one, map and filter: ${functionNames.join(", ")}.`,
  type: "string",
  minLength: 1,
  examples: ["size(row.attendees) > params.minGuests"],
};

/** The JSON Schema of a program, served at /schemas/program.v1.json. It is put together from the schemas of the parts of a program. */
export const programSchema: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Program of a job, version 1",
  ...schemaOf(programForm),
  $defs: {
    id: nameSchema(
      "Id of the step: letters, digits and _, a letter first. Unique in the program, including branches and calls of maps.",
      "fetch",
    ),
    value: valueDefinition,
    expression: expressionDefinition,
    ...Object.fromEntries(stepKinds.flatMap((kind) => Object.entries(languageOf(kind).definitions))),
    ...Object.fromEntries(stepKinds.map((kind) => [kind, schemaOf(formOf(kind, "program"))])),
    mapCall: schemaInMap(),
    step: {
      description: `One step. Its kind is the one of these fields that it has: ${listed(stepKinds, "or")}.`,
      ...oneOf(stepKinds),
      examples: languageOf("call").form.examples,
    },
    onError: schemaOf(onErrorForm),
    schema: schemaDefinition,
    ...pointDefinitions,
  },
};

function oneOf(kinds: readonly Step["kind"][]): JsonSchema {
  return { type: "object", oneOf: kinds.map((kind) => ({ allOf: [{ required: [kind] }, ref(kind)] })) };
}

/** Returns the JSON Schema of the calls inside a `map` step. */
function schemaInMap(): JsonSchema {
  const [first, ...others] = stepKinds.flatMap((kind) => {
    return languageOf(kind).formInMap === undefined ? [] : [schemaOf(formOf(kind, "map"))];
  });
  if (first !== undefined && others.length === 0) return first;
  return {
    description: "A call for each row of a map. Its kind is the one of these fields that it has.",
    oneOf: [first, ...others],
    examples: [first, ...others].flatMap((schema) => schema?.examples ?? []),
  };
}
