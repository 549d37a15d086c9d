import {
  isSensitivePlace,
  type JsonSchema,
  type KnownNames,
  knownNames,
  marksSensitive,
  referencedSchema,
  rulesOf,
  schemaPlace,
} from "@svc/catalog";
import { isObject, isRawJson } from "@svc/core";

/** Text that takes the place of each sensitive value when arguments or results are shown. */
export const masked = "***";

/**
 * Returns a copy of a value in which `***` replaces everything that its schema marks `x-sensitive`, at any depth. A schema can have
 * alternatives, such as those of `anyOf`. A mark in any alternative counts, even if the value does not match this alternative. If the value
 * has another type than the schema, and the schema has sensitive parts, the whole value is masked.
 */
export function mask(schema: JsonSchema, value: unknown): unknown {
  return maskNode({ root: schema, references: 0 }, schema, value);
}

/** True if `mask` returns every value unchanged for this schema. False if it may replace a part of some value. */
export function masksNothing(schema: JsonSchema): boolean {
  return !holdsSensitive(schema);
}

/**
 * Returns a copy of a call's arguments for people. Sensitive values are `***`. Values under names that the schema does not have are `***`
 * too, because a caller may send a secret under a wrong name.
 */
export function maskArguments(schema: JsonSchema, args: unknown): unknown {
  return maskUnknown(knownNames(schema), mask(schema, args));
}

/**
 * Returns a copy of a tool's arguments in which values are masked if the tool's schema does not declare their names. If nothing must be
 * masked (the usual case), returns the arguments themselves.
 */
function maskUnknown(names: KnownNames, value: unknown): unknown {
  if (typeof value !== "object" || value === null || isRawJson(value)) return value;
  if (Array.isArray(value)) return maskUnknownItems(names, value);
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(value)) {
    const child = (value as JsonSchema)[name];
    const shown = names.knows(name) ? maskUnknown(names.at(name), child) : masked;
    if (shown === child) continue;
    // The name may be `__proto__`. The spread copies such a name as an ordinary field, and the assignment below only replaces a field that
    // exists.
    copy ??= { ...value };
    copy[name] = shown;
  }
  return copy ?? value;
}

function maskUnknownItems(names: KnownNames, list: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const shown = maskUnknown(names.at(index), list[index]);
    if (shown === list[index]) continue;
    copy ??= [...list];
    copy[index] = shown;
  }
  return copy ?? list;
}

type Walk = { readonly root: JsonSchema; readonly references: number };

/**
 * Maximum number of `$ref` references that are followed one after another in a schema. A longer chain is taken to be endless, and the whole
 * value is masked.
 */
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

/**
 * Returns the object with its sensitive properties masked. If the schema has patterns for property names, the schema of every pattern is
 * applied to every name. The patterns are not matched, because a pattern written by a project could run forever.
 */
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
  const target = references < referencesMax ? referencedSchema(root, schema.$ref) : undefined;
  return target === undefined ? masked : maskNode({ root, references: references + 1 }, target, value);
}

function partsOfObject(schema: JsonSchema): unknown[] {
  return [schema.properties, schema.patternProperties, schema.additionalProperties, schema.unevaluatedProperties];
}

function partsOfList(schema: JsonSchema): unknown[] {
  return [schema.items, schema.prefixItems, schema.contains, schema.unevaluatedItems];
}

const holders = new WeakMap<object, boolean>();

/**
 * True if a part of a schema marks a value as sensitive, or refers to a part that may do so. False for most schemas, which then need no
 * further check.
 */
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

/** Returns the names of properties that a schema marks as sensitive at any depth, directly or through references. */
export function sensitiveNames(schema: JsonSchema): string[] {
  return marksSensitive(schema) ? namesIn(schema, schema) : [];
}

function namesIn(root: JsonSchema, part: unknown): string[] {
  if (typeof part !== "object" || part === null || !holdsSensitive(part)) return [];
  return Object.entries(part).flatMap(([name, child]) => [
    ...(isObject(child) && isSensitivePlace(schemaPlace(root, child)) ? [name] : []),
    ...namesIn(root, child),
  ]);
}

/** Returns a copy of a value with `***` for everything under one of the given names. */
export function maskNames(names: ReadonlySet<string>, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => maskNames(names, item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, names.has(name) ? masked : maskNames(names, child)]),
  );
}

/** Returns the texts, numbers and names that masking removed from a value. */
export function maskedTexts(value: unknown, shown: unknown): string[] {
  if (shown === masked) return textsOf(value);
  if (typeof value !== "object" || value === null || typeof shown !== "object" || shown === null) return [];
  return Object.entries(value).flatMap(([name, child]) => maskedTexts(child, (shown as JsonSchema)[name]));
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number" || isRawJson(value)) return [JSON.stringify(value)];
  if (typeof value !== "object" || value === null) return [];
  // The names inside a sensitive value are masked as well, because a name may be the secret.
  const names = Array.isArray(value) ? [] : Object.keys(value);
  return [...names, ...Object.values(value).flatMap(textsOf)];
}
