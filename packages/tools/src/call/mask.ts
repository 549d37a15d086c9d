import type { JsonSchema } from "@svc/catalog";
import { isRawJson } from "./raw-json.ts";

/** What stands in the place of a sensitive value. */
export const masked = "***";

/**
 * A copy of a value with `***` for everything that its schema marks `x-sensitive`, at any depth and in any branch of a rule,
 * whether or not the branch applies. A value of another form than declared is masked whole where the declared form holds
 * something sensitive: there is no telling where in it that stands.
 */
export function mask(schema: JsonSchema, value: unknown): unknown {
  return maskNode({ root: schema, references: 0 }, schema, value);
}

type Walk = { readonly root: JsonSchema; readonly references: number };

/** Longer chains of references are taken for endless ones. */
const referencesMax = 32;

function maskNode(walk: Walk, schema: unknown, value: unknown): unknown {
  if (value === null || value === undefined || !isObject(schema) || !holdsSensitive(schema)) return value;
  if (schema["x-sensitive"] === true) return masked;
  const shown = maskReferenced(walk, schema, value);
  const ruled = rulesOf(schema).reduce((part: unknown, rule) => maskNode(walk, rule, part), shown);
  if (Array.isArray(ruled)) return partsOfObject(schema).some(holdsSensitive) ? masked : maskItems(walk, schema, ruled);
  if (isObject(ruled)) return partsOfList(schema).some(holdsSensitive) ? masked : maskProperties(walk, schema, ruled);
  return [...partsOfObject(schema), ...partsOfList(schema)].some(holdsSensitive) ? masked : ruled;
}

function maskItems(walk: Walk, schema: JsonSchema, list: readonly unknown[]): unknown[] {
  const { prefixItems, items, contains, unevaluatedItems } = schema;
  const first = Array.isArray(prefixItems) ? prefixItems : [];
  const below = { root: walk.root, references: 0 };
  return list.map((item, index) =>
    [first[index], items, contains, unevaluatedItems].reduce(
      (part: unknown, child) => maskNode(below, child, part),
      item,
    ),
  );
}

/** Patterns are not matched: one that a tenant wrote may take forever, so what is behind it counts for every name. */
function maskProperties(walk: Walk, schema: JsonSchema, object: JsonSchema): JsonSchema {
  const { additionalProperties, unevaluatedProperties } = schema;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const patterns = isObject(schema.patternProperties) ? Object.values(schema.patternProperties) : [];
  const below = { root: walk.root, references: 0 };
  const maskChild = (name: string, child: unknown) => {
    const own = Object.hasOwn(properties, name) ? [properties[name]] : [additionalProperties];
    return [...own, ...patterns, unevaluatedProperties].reduce((part, next) => maskNode(below, next, part), child);
  };
  return Object.fromEntries(Object.entries(object).map(([name, child]) => [name, maskChild(name, child)]));
}

function maskReferenced({ root, references }: Walk, schema: JsonSchema, value: unknown): unknown {
  if (typeof schema.$ref !== "string") return value;
  const target = references < referencesMax ? targetOf(root, schema.$ref) : undefined;
  return target === undefined ? masked : maskNode({ root, references: references + 1 }, target, value);
}

/** What a reference inside a schema (`#/$defs/name`) points to. */
function targetOf(root: JsonSchema, reference: string): JsonSchema | undefined {
  let node: unknown = root;
  for (const step of reference.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    node =
      typeof node === "object" && node !== null && Object.hasOwn(node, name) ? (node as JsonSchema)[name] : undefined;
  }
  return reference.startsWith("#") && isObject(node) ? node : undefined;
}

function rulesOf(schema: JsonSchema): unknown[] {
  const lists = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => {
    const rules = schema[keyword];
    return Array.isArray(rules) ? (rules as unknown[]) : [];
  });
  const dependent = isObject(schema.dependentSchemas) ? Object.values(schema.dependentSchemas) : [];
  return [...lists, ...dependent, schema.if, schema.then, schema.else, schema.not];
}

function partsOfObject(schema: JsonSchema): unknown[] {
  return [schema.properties, schema.patternProperties, schema.additionalProperties, schema.unevaluatedProperties];
}

function partsOfList(schema: JsonSchema): unknown[] {
  return [schema.items, schema.prefixItems, schema.contains, schema.unevaluatedItems];
}

const holders = new WeakMap<object, boolean>();

/** Whether anything below marks a value as sensitive, or refers to what may. Most schemas do not, and cost one look. */
function holdsSensitive(part: unknown): boolean {
  if (typeof part !== "object" || part === null) return false;
  let known = holders.get(part);
  if (known === undefined) {
    const own = part as JsonSchema;
    known = own["x-sensitive"] === true || own.$ref !== undefined || Object.values(part).some(holdsSensitive);
    holders.set(part, known);
  }
  return known;
}

/** Names of the properties that a schema marks as sensitive, wherever they stand. */
export function sensitiveNames(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null || !holdsSensitive(schema)) return [];
  return Object.entries(schema).flatMap(([name, child]) => [
    ...(isObject(child) && child["x-sensitive"] === true ? [name] : []),
    ...sensitiveNames(child),
  ]);
}

/** A copy of a value with `***` for everything under one of the given names. */
export function maskNames(names: ReadonlySet<string>, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => maskNames(names, item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, names.has(name) ? masked : maskNames(names, child)]),
  );
}

/** The texts, numbers and names that masking took out of a value. */
export function maskedTexts(value: unknown, shown: unknown): string[] {
  if (shown === masked) return textsOf(value);
  if (typeof value !== "object" || value === null || typeof shown !== "object" || shown === null) return [];
  return Object.entries(value).flatMap(([name, child]) => maskedTexts(child, (shown as JsonSchema)[name]));
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number" || isRawJson(value)) return [JSON.stringify(value)];
  if (typeof value !== "object" || value === null) return [];
  // Inside of a sensitive value a name may be what is secret.
  const names = Array.isArray(value) ? [] : Object.keys(value);
  return [...names, ...Object.values(value).flatMap(textsOf)];
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawJson(value);
}
