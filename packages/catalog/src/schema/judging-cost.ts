import { isObject } from "@svc/core";
import type { JsonSchema } from "../read/documents.ts";

/**
 * Weight of a schema inside a choice (such as `anyOf`), used to estimate the cost of a validation. A schema outside a choice has the weight
 * 1. Inside a choice, the validator collects errors and may discard them. Creating an error costs more than a comparison.
 */
const triedWeight = 4;

/**
 * True if a value can be validated within `steps`; false if validation would take more steps. One step is one keyword applied to one value,
 * about 50 ns. Counting stops at `steps`, so this function's own time is limited. Patterns have a separate limit.
 */
export function isJudgedWithin(steps: number, schema: JsonSchema, value: unknown): boolean {
  const meter: Meter = { left: steps, root: schema, depth: 0 };
  visit(meter, schema, value, 1);
  return meter.left >= 0;
}

type Meter = { left: number; readonly root: JsonSchema; depth: number };

/**
 * Maximum nesting of a value that is compared with its schema. The limit is needed because the references in a schema may be circular.
 * Values with this much nesting are refused before they get here.
 */
const depthMax = 200;

function visit(meter: Meter, schema: unknown, value: unknown, weight: number): void {
  meter.left -= weight * (isObject(schema) ? sizeOf(schema) : 1);
  if (meter.left < 0 || !isObject(schema)) return;
  if (++meter.depth > depthMax) meter.left = -1;
  else {
    visitRules(meter, schema, value, weight);
    if (typeof value === "string") meter.left -= weight * costOfText(schema, value);
    else if (Array.isArray(value)) visitItems(meter, schema, value, weight);
    else if (isObject(value)) visitProperties(meter, schema, value, weight);
  }
  meter.depth--;
}

/**
 * Counts the steps of checking one value against all parts of a schema that describe this same value (for example `$ref`, `allOf` and
 * `anyOf`).
 */
function visitRules(meter: Meter, schema: JsonSchema, value: unknown, weight: number): void {
  if (typeof schema.$ref === "string") visit(meter, referred(meter.root, schema.$ref), value, weight);
  for (const child of listOf(schema.allOf)) visit(meter, child, value, weight);
  const tried = ["not", "if", "then", "else"].filter((keyword) => schema[keyword] !== undefined);
  const others = isObject(schema.dependentSchemas) ? Object.values(schema.dependentSchemas) : [];
  const all = [...listOf(schema.anyOf), ...listOf(schema.oneOf), ...tried.map((keyword) => schema[keyword]), ...others];
  for (const child of all) visit(meter, child, value, Math.max(weight, triedWeight));
}

function visitItems(meter: Meter, schema: JsonSchema, items: readonly unknown[], weight: number): void {
  const own = [schema.items, schema.unevaluatedItems].filter((child) => child !== undefined);
  const prefix = listOf(schema.prefixItems);
  for (const [index, item] of items.entries()) {
    if (meter.left < 0) return;
    meter.left -= weight;
    if (index < prefix.length) visit(meter, prefix[index], item, weight);
    for (const child of own) visit(meter, child, item, weight);
    if (schema.contains !== undefined) visit(meter, schema.contains, item, Math.max(weight, triedWeight));
  }
}

function visitProperties(meter: Meter, schema: JsonSchema, value: JsonSchema, weight: number): void {
  const declared = isObject(schema.properties) ? schema.properties : {};
  const patterns = isObject(schema.patternProperties) ? Object.values(schema.patternProperties) : [];
  const others = [schema.additionalProperties, schema.unevaluatedProperties, ...patterns].filter(isObject);
  for (const name of Object.keys(value)) {
    if (meter.left < 0) return;
    const child = value[name];
    // Errors of values below a property with a long name cost more, because each of them quotes the name.
    const weightBelow = weight * (1 + name.length / 256);
    // Subtracts the cost of this property. It is higher if the schema allows no undeclared properties, because each undeclared property
    // then causes an error.
    meter.left -= weightBelow * (patterns.length + (schema.additionalProperties === false ? triedWeight : 1));
    if (Object.hasOwn(declared, name)) visit(meter, declared[name], child, weight);
    for (const schemaOfOthers of others) visit(meter, schemaOfOthers, child, weightBelow);
    if (schema.propertyNames !== undefined)
      visit(meter, schema.propertyNames, name, Math.max(weightBelow, triedWeight));
  }
}

function costOfText(schema: JsonSchema, text: string): number {
  const isMeasured = schema.maxLength !== undefined || schema.minLength !== undefined;
  return (isMeasured ? text.length / 32 : 0) + (schema.format === undefined ? 0 : Math.min(text.length, 65_536) / 8);
}

/** Keywords that only describe a value, so that its validation does not read them. */
const annotations = ["title", "description", "default", "examples", "deprecated", "$comment", "x-sensitive", "x-host"];

const sizes = new WeakMap<JsonSchema, number>();

/**
 * Returns the size of one schema, for estimating the cost of a validation: the number of its keywords, without nested schemas. Each name
 * and value that a keyword compares counts as one keyword.
 */
function sizeOf(schema: JsonSchema): number {
  const known = sizes.get(schema);
  if (known !== undefined) return known;
  const size = countKeywords(schema, annotations);
  sizes.set(schema, size);
  return size;
}

/** Returns what `sizeOf` returns, without the keywords in `ignored`. */
function countKeywords(schema: JsonSchema, ignored: readonly string[]): number {
  let size = 1;
  for (const [keyword, value] of Object.entries(schema)) {
    if (ignored.includes(keyword)) continue;
    size++;
    if (keyword === "enum" || keyword === "const") size += nodesOf(value);
    else if (keyword === "required") size += listOf(value).length;
    else if (keyword === "properties" || keyword === "dependentSchemas") size += keysOf(value).length;
    else if (keyword === "dependentRequired") size += nodesOf(value);
  }
  return size;
}

/**
 * Maximum size (see `schemaSize`) of a schema of a private toolkit (published by one project). Compiling a schema of this size takes about
 * a fifth of a second.
 */
export const schemaSizeMax = 3_000;

const wholeSizes = new WeakMap<JsonSchema, number>();

/** Returns the cost of compiling a schema: the number of its keywords and declared names, including all nested schemas. */
export function schemaSize(schema: JsonSchema): number {
  const known = wholeSizes.get(schema) ?? countedSize(schema);
  wholeSizes.set(schema, known);
  return known;
}

const uncounted = ["enum", "const", "description"];

/** Returns what `schemaSize` returns. Does not remember the sizes of nested schemas, because an import has millions of them. */
function countedSize(schema: JsonSchema): number {
  let size = countKeywords(schema, uncounted);
  for (const [keyword, child] of Object.entries(schema)) {
    const schemas = schemasIn(keyword, child).filter(isObject);
    for (const inner of schemas) size += countedSize(inner);
    // For `oneOf`, the error check compares every schema with every other.
    if (keyword === "oneOf") size += (schemas.length * schemas.length) / 10;
  }
  return size;
}

function schemasIn(keyword: string, child: unknown): readonly unknown[] {
  if (["properties", "patternProperties", "dependentSchemas", "$defs"].includes(keyword)) {
    return isObject(child) ? Object.values(child) : [];
  }
  if (["allOf", "anyOf", "oneOf", "prefixItems"].includes(keyword)) return listOf(child);
  const plain = ["enum", "const", "default", "examples", "required", "dependentRequired"];
  return plain.includes(keyword) ? [] : [child];
}

function nodesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, child) => sum + nodesOf(child), 1);
}

function keysOf(value: unknown): string[] {
  return isObject(value) ? Object.keys(value) : [];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the schema that a reference `#/$defs/name` points to; undefined for other references. */
function referred(root: JsonSchema, reference: string): unknown {
  let node: unknown = root;
  for (const step of reference.split("/").slice(1)) {
    node = isObject(node) ? node[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  }
  return reference.startsWith("#") ? node : undefined;
}
