import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { JsonSchema } from "./documents.ts";

/** One way a value misses its schema: a JSON Pointer to the value and what is wrong there. */
export type SchemaFault = { readonly pointer: string; readonly message: string };

/** Lists every fault of a value; empty when it satisfies the schema. */
export type SchemaValidator = (value: unknown) => readonly SchemaFault[];

const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  // Rules between arguments repeat neither types nor properties, which these three would demand of them.
  strictTypes: false,
  strictRequired: false,
  strictTuples: false,
  // Schemas are checked once, at load.
  validateSchema: false,
  // One instance compiles many schemas; keeping each of them apart by identity is enough.
  addUsedSchema: false,
});
formats.default(ajv);
ajv.addKeyword({ keyword: "x-sensitive", schemaType: "boolean" });
ajv.addKeyword({ keyword: "x-host", schemaType: "boolean" });

/** Whether `format` may stand in a schema. */
export function isKnownFormat(format: string): boolean {
  return Object.hasOwn(ajv.formats, format);
}

/** What is wrong with a schema as JSON Schema 2020-12; empty when nothing is. */
export function faultsOfSchema(schema: JsonSchema): readonly SchemaFault[] {
  return ajv.validateSchema(schema) === true ? [] : toFaults(ajv.errors);
}

/** A validator of a checked schema. Compiling takes about a millisecond and is put off until the first value. */
export function createValidator(schema: JsonSchema): SchemaValidator {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= ajv.compile(schema);
    return validate(value) ? [] : toFaults(validate.errors);
  };
}

/**
 * The same schema with null allowed for every value below the root, as results of apps are judged: an app may answer null for
 * any field.
 */
export function withNulls(schema: JsonSchema): JsonSchema {
  const properties = isJsonObject(schema.properties) ? schema.properties : undefined;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, orNull(child)])),
    }),
    ...(isJsonObject(schema.items) && { items: orNull(schema.items) }),
  };
}

function orNull(schema: unknown): unknown {
  return isJsonObject(schema) ? { anyOf: [{ type: "null" }, withNulls(schema)] } : schema;
}

function toFaults(errors: readonly ErrorObject[] | null | undefined): SchemaFault[] {
  return (errors ?? []).map((error) => ({ pointer: error.instancePath, message: messageOf(error) }));
}

function messageOf({ keyword, params, message = keyword }: ErrorObject): string {
  if (keyword === "additionalProperties") return `must not have the property "${params.additionalProperty}"`;
  if (keyword === "enum") return `must be one of ${(params.allowedValues as unknown[]).map(String).join(", ")}`;
  if (keyword === "const") return `must be ${JSON.stringify(params.allowedValue)}`;
  return message;
}

/** Whether a value is a JSON object, as every schema but true and false is. */
export function isJsonObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
