import type { JsonSchema } from "@svc/catalog";
import { listed } from "./listed.ts";
import { expressionDefinition } from "./read/expression.ts";
import { ref, schemaOf } from "./read/form.ts";
import { nameSchema } from "./read/name.ts";
import { onErrorForm } from "./read/on-error.ts";
import { pointDefinitions } from "./read/points.ts";
import { programForm } from "./read/program.ts";
import { schemaDefinition } from "./read/schema-document.ts";
import { valueDefinition } from "./read/value.ts";
import { formOf, languageOf, type Step, stepKinds } from "./steps/index.ts";

/** The JSON Schema of a program, as it is served at /schemas/program.v1.json: the parts that its readers have, put together. */
export const programSchema: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Program of a job, version 1",
  ...schemaOf(programForm),
  $defs: {
    id: nameSchema(
      "Id of the step: letters, digits and _, a letter first. Unique in the program, branches and calls of maps included.",
      "fetch",
    ),
    value: valueDefinition,
    expression: expressionDefinition,
    ...Object.fromEntries(stepKinds.flatMap((kind) => Object.entries(languageOf(kind).definitions))),
    ...Object.fromEntries(stepKinds.map((kind) => [kind, schemaOf(formOf(kind, "program"))])),
    mapCall: schemaInMap(),
    step: {
      description: `One step, told by the one of these fields it has: ${listed(stepKinds, "or")}.`,
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

/** What stands among the calls of a map. */
function schemaInMap(): JsonSchema {
  const [first, ...others] = stepKinds.flatMap((kind) => {
    return languageOf(kind).formInMap === undefined ? [] : [schemaOf(formOf(kind, "map"))];
  });
  if (first !== undefined && others.length === 0) return first;
  return {
    description: "What is done for each row of a map, told by the one of these fields it has.",
    oneOf: [first, ...others],
    examples: [first, ...others].flatMap((schema) => schema?.examples ?? []),
  };
}
