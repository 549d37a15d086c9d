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

/**
 * A copy of a call's arguments as people may see them: sensitive values are `***`, and so is whatever stands under a name that the
 * tool does not know. What a caller sends there by mistake may be a secret.
 */
export function maskArguments(schema: JsonSchema, args: unknown): unknown {
  return maskUnknown(knownNames(schema), mask(schema, args));
}

/** The same value where nothing had to be masked, which is nearly always: a copy is begun at the first difference. */
function maskUnknown(names: KnownNames, value: unknown): unknown {
  if (typeof value !== "object" || value === null || isRawJson(value)) return value;
  if (Array.isArray(value)) return maskUnknownItems(names, value);
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(value)) {
    const child = (value as JsonSchema)[name];
    const shown = names.knows(name) ? maskUnknown(names.at(name), child) : masked;
    if (shown === child) continue;
    // A spread keeps names as they are, and what is assigned is there already: one may be named __proto__.
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

/** Names of the properties that a schema marks as sensitive, itself or by what it refers to, wherever they stand. */
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
