import { isObject } from "@svc/core";
import type { JsonSchema } from "../read/documents.ts";

/**
 * One place in the values of a schema: every schema that speaks of what stands there, which are the declared one, what it refers to
 * (`$ref`) and the branches of its rules, whether or not they apply. `isUnknown`: a reference there leads nowhere.
 */
export type SchemaPlace = {
  readonly root: JsonSchema;
  readonly schemas: readonly JsonSchema[];
  readonly isUnknown: boolean;
};

/** The place of the values of a schema themselves, or of those that a part of it speaks of. */
export function schemaPlace(root: JsonSchema, part: JsonSchema = root): SchemaPlace {
  return placeOf(root, [part]);
}

/** The place at one step into the values of a place: a property's name, or the index of an item. */
export function placeAt({ root, schemas }: SchemaPlace, step: string | number): SchemaPlace {
  return placeOf(root, typeof step === "number" ? schemas.flatMap(itemAt(step)) : schemas.flatMap(propertyAt(step)));
}

/** Whether what stands at a place is sensitive as a whole: marked `x-sensitive`, or beyond what the schema tells. */
export function isSensitivePlace({ schemas, isUnknown }: SchemaPlace): boolean {
  return isUnknown || schemas.some((schema) => schema["x-sensitive"] === true);
}

/** The place at a path into the values of a schema. */
export function placeAlong(schema: JsonSchema, path: readonly (string | number)[]): SchemaPlace {
  return path.reduce<SchemaPlace>(placeAt, schemaPlace(schema));
}

/** Whether what stands at a path of a schema's values is sensitive, or a part of something that is. */
export function isSensitiveAt(schema: JsonSchema, path: readonly (string | number)[]): boolean {
  return [...path, ""].some((_, length) => isSensitivePlace(placeAlong(schema, path.slice(0, length))));
}

/** Whether anything at a place or below it is sensitive. */
export function holdsSensitivePlace({ root, schemas, isUnknown }: SchemaPlace): boolean {
  const seen = new Set<unknown>();
  return isUnknown || schemas.some((schema) => holdsMark(root, schema, seen));
}

/** Whether a schema marks anything of its values as sensitive. */
export function marksSensitive(schema: JsonSchema): boolean {
  let known = marks.get(schema);
  if (known === undefined) {
    known = holdsMark(schema, schema, new Set());
    marks.set(schema, known);
  }
  return known;
}

const marks = new WeakMap<JsonSchema, boolean>();

/** What a reference inside a schema (`#/$defs/name`) points to; undefined when that is no schema there. */
export function referencedSchema(root: JsonSchema, reference: string): JsonSchema | undefined {
  let node: unknown = root;
  for (const step of reference.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    node =
      typeof node === "object" && node !== null && Object.hasOwn(node, name) ? (node as JsonSchema)[name] : undefined;
  }
  return reference.startsWith("#") && isObject(node) ? node : undefined;
}

/** A schema is looked at once, so that references in a circle end. */
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

/** The schemas that a schema combines, each of which speaks of the same value. */
export function rulesOf(schema: JsonSchema): unknown[] {
  const lists = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => {
    const rules = schema[keyword];
    return Array.isArray(rules) ? (rules as unknown[]) : [];
  });
  const dependent = isObject(schema.dependentSchemas) ? Object.values(schema.dependentSchemas) : [];
  return [...lists, ...dependent, schema.if, schema.then, schema.else, schema.not];
}

/** Patterns are not matched, as masking does not: what is behind one counts for every name. */
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
