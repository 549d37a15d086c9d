import type { JsonSchema } from "@svc/catalog";
import type { Bounds } from "../limits.ts";

/** The required and optional fields of an object in a document, each with its JSON Schema. Any other field is reported as unknown. */
export type FieldForms = {
  readonly required: Readonly<Record<string, JsonSchema>>;
  readonly optional: Readonly<Record<string, JsonSchema>>;
};

/**
 * Describes an object in a document: the fields that it may have, and texts for its author. Both the reader of the object and its JSON
 * Schema are made from this description. `rules`: additional keywords of the JSON Schema.
 */
export type ObjectForm = FieldForms & {
  readonly description: string;
  readonly examples: readonly unknown[];
  readonly rules?: JsonSchema;
};

/** Returns the JSON Schema of an object from its form (the list of its fields). */
export function schemaOf({ description, required, optional, rules, examples }: ObjectForm): JsonSchema {
  const names = Object.keys(required);
  return {
    description,
    type: "object",
    additionalProperties: false,
    ...(names.length > 0 && { required: names }),
    properties: { ...required, ...optional },
    ...rules,
    examples,
  };
}

/** Returns a JSON Schema that only refers (`$ref`) to one of the named definitions in the JSON Schema of programs. */
export function ref(definition: string): JsonSchema {
  return { $ref: `#/$defs/${definition}` };
}

/** Returns the JSON Schema of a whole number within bounds. */
export function wholeSchema(description: string, { min, max }: Bounds, example: number): JsonSchema {
  return { description, type: "integer", minimum: min, maximum: max, examples: [example] };
}

/** Returns the JSON Schema of a number within bounds. */
export function numberSchema(description: string, bounds: Bounds, example: number): JsonSchema {
  return { ...wholeSchema(description, bounds, example), type: "number" };
}

/** Returns the JSON Schema of a duration. A pattern cannot express the minimum and maximum, so the description states them. */
export function durationSchema(description: string, example: string): JsonSchema {
  const pattern = String.raw`^(\d+(ms|s|m|h|d)|P(?=.)(\d+W)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+S)?)?)$`;
  const form = "A whole number with its unit, or ISO 8601.";
  return { description: `${description} ${form}`, type: "string", pattern, examples: [example] };
}
