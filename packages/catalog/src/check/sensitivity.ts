import { isObject } from "@svc/core";
import type { JsonSchema } from "../read/documents.ts";

/**
 * A position in a value that a JSON Schema describes. `schemas`: all schemas that may apply at the position: the declared schema, the
 * targets of its `$ref`, and every branch of its `oneOf`, `anyOf` and similar rules. `isUnknown`: true if a `$ref` cannot be resolved.
 */
export type SchemaPlace = {
  readonly root: JsonSchema;
  readonly schemas: readonly JsonSchema[];
  readonly isUnknown: boolean;
};

/** Returns the position of the value that the schema `part` describes. `part`: a schema inside `root`; by default `root` itself. */
export function schemaPlace(root: JsonSchema, part: JsonSchema = root): SchemaPlace {
  return placeOf(root, [part]);
}

/** Returns the position of a property (by name) or a list item (by index), one level below. */
export function placeAt({ root, schemas }: SchemaPlace, step: string | number): SchemaPlace {
  return placeOf(root, typeof step === "number" ? schemas.flatMap(itemAt(step)) : schemas.flatMap(propertyAt(step)));
}

/** True if the whole value at a position is sensitive: it is marked `x-sensitive`, or the schema does not describe it. */
export function isSensitivePlace({ schemas, isUnknown }: SchemaPlace): boolean {
  return isUnknown || schemas.some((schema) => schema["x-sensitive"] === true);
}

/**
 * Returns the position in a schema that a path leads to. The path starts at the root of the value that the schema describes. A path is a
 * list of property names and list indexes.
 */
export function placeAlong(schema: JsonSchema, path: readonly (string | number)[]): SchemaPlace {
  return path.reduce<SchemaPlace>(placeAt, schemaPlace(schema));
}

/** True if the value at a path is sensitive, or part of a sensitive value. */
export function isSensitiveAt(schema: JsonSchema, path: readonly (string | number)[]): boolean {
  return [...path, ""].some((_, length) => isSensitivePlace(placeAlong(schema, path.slice(0, length))));
}

/** True if the value at a position, or any value inside it, is sensitive. */
export function holdsSensitivePlace({ root, schemas, isUnknown }: SchemaPlace): boolean {
  const seen = new Set<unknown>();
  return isUnknown || schemas.some((schema) => holdsMark(root, schema, seen));
}

/** True if a schema marks any of its values as sensitive. */
export function marksSensitive(schema: JsonSchema): boolean {
  let known = marks.get(schema);
  if (known === undefined) {
    known = holdsMark(schema, schema, new Set());
    marks.set(schema, known);
  }
  return known;
}

const marks = new WeakMap<JsonSchema, boolean>();

/** Returns the schema that a reference (`#/$defs/name`) points to; undefined if there is none. */
export function referencedSchema(root: JsonSchema, reference: string): JsonSchema | undefined {
  let node: unknown = root;
  for (const step of reference.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    node =
      typeof node === "object" && node !== null && Object.hasOwn(node, name) ? (node as JsonSchema)[name] : undefined;
  }
  return reference.startsWith("#") && isObject(node) ? node : undefined;
}

/** Returns the position of a value. `first`: schemas that describe this value. The result also contains all schemas to which they refer. */
function placeOf(root: JsonSchema, first: readonly unknown[]): SchemaPlace {
  const schemas = new Set<JsonSchema>();
  let isUnknown = false;
  const waiting = [...first];
  for (const schema of waiting) {
    if (!isObject(schema) || schemas.has(schema)) continue;
    schemas.add(schema);
    waiting.push(...rulesOf(schema));
    if (typeof schema.$ref !== "string") continue;
    const target = referencedSchema(root, schema.$ref);
    if (target === undefined) isUnknown = true;
    else waiting.push(target);
  }
  return { root, schemas: [...schemas], isUnknown };
}

/** Returns the schemas that a schema combines (such as the branches of `anyOf`). All of them describe the same value. */
export function rulesOf(schema: JsonSchema): unknown[] {
  const lists = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => {
    const rules = schema[keyword];
    return Array.isArray(rules) ? (rules as unknown[]) : [];
  });
  const dependent = isObject(schema.dependentSchemas) ? Object.values(schema.dependentSchemas) : [];
  return [...lists, ...dependent, schema.if, schema.then, schema.else, schema.not];
}

/**
 * Returns a function that finds the schemas which may apply to the property `name`. All schemas of `patternProperties` are included,
 * without comparing their patterns with the name. Masking of sensitive values uses the same rule.
 */
function propertyAt(name: string): (schema: JsonSchema) => unknown[] {
  return ({ properties, patternProperties, additionalProperties, unevaluatedProperties }) => {
    const own = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    return [own, ...(isObject(patternProperties) ? Object.values(patternProperties) : []), unevaluatedProperties];
  };
}

function itemAt(index: number): (schema: JsonSchema) => unknown[] {
  return ({ prefixItems, items, contains, unevaluatedItems }) => {
    const first: unknown = Array.isArray(prefixItems) ? prefixItems[index] : undefined;
    return [first, items, contains, unevaluatedItems];
  };
}

function holdsMark(root: JsonSchema, part: unknown, seen: Set<unknown>): boolean {
  if (typeof part !== "object" || part === null || seen.has(part)) return false;
  seen.add(part);
  const { "x-sensitive": mark, $ref: reference } = part as JsonSchema;
  if (mark === true) return true;
  if (typeof reference === "string" && !Array.isArray(part)) {
    const target = referencedSchema(root, reference);
    if (target === undefined || holdsMark(root, target, seen)) return true;
  }
  return Object.values(part).some((child) => holdsMark(root, child, seen));
}
