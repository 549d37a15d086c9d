import { isObject } from "@svc/core";
import { shorten } from "../check/alternatives.ts";
import type { SchemaFault } from "../check/schema-faults.ts";
import type { JsonSchema } from "../read/documents.ts";

/**
 * Maximum number of unknown properties that get an error each (with the name that was probably meant). If there are more, one error reports
 * all of them.
 */
const unknownMax = 20;
/** If there are too many unknown properties, one error reports all of them together. Its text names at most this number of properties. */
const namedMax = 3;
/** Maximum number of errors that are reported for parts of a value that its schema does not allow. */
const faultsMax = 100;

/**
 * A value from which all parts were removed that its schema does not allow. `kept`: the shortened value. `faults`: one error for each place
 * where parts were removed.
 */
export type ShortenedValue = { readonly kept: unknown; readonly faults: readonly SchemaFault[] };

/**
 * Returns a value without its excess parts. These are list items beyond `maxItems` and, if there are many, unknown properties of objects
 * that allow only declared ones. Looks into properties and items only by schemas that always apply (not by a branch of `anyOf`). The time
 * grows linearly with the value. A value whose schema has no such limits is not read at all.
 */
export function withoutExcess(schema: JsonSchema, value: unknown): ShortenedValue {
  const faults: SchemaFault[] = [];
  return { kept: keep(schema, value, "", faults), faults };
}

function keep(schema: unknown, value: unknown, pointer: string, faults: SchemaFault[]): unknown {
  if (typeof value !== "object" || value === null || !isObject(schema) || !isBounding(schema)) return value;
  if (Array.isArray(value)) return keepItems(schema, value, pointer, faults);
  return isObject(value) ? keepProperties(schema, value, pointer, faults) : value;
}

function keepItems(schema: JsonSchema, list: unknown[], pointer: string, faults: SchemaFault[]): unknown[] {
  const { items, maxItems } = schema;
  const isLong = typeof maxItems === "number" && list.length > maxItems;
  if (isLong) tell(faults, pointer, `must NOT have more than ${maxItems} items, and has ${list.length}`);
  const kept = isLong ? list.slice(0, maxItems) : list;
  return isBounding(items) ? kept.map((item, index) => keep(items, item, `${pointer}/${index}`, faults)) : kept;
}

function keepProperties(schema: JsonSchema, object: JsonSchema, pointer: string, faults: SchemaFault[]): JsonSchema {
  const { properties, isOpen, below } = boundsOf(schema);
  let kept = isOpen ? object : keepKnown(properties, object, pointer, faults);
  for (const { name, step, child } of below) {
    if (!Object.hasOwn(kept, name)) continue;
    const value = kept[name];
    const part = keep(child, value, `${pointer}${step}`, faults);
    if (part !== value) kept = { ...kept, [name]: part };
  }
  return kept;
}

/**
 * The rules of an object schema about which properties are allowed. They are computed once per schema, because svc checks every webhook
 * post and every call with them.
 */
type ObjectBounds = {
  readonly properties: JsonSchema;
  readonly isOpen: boolean;
  /** Properties whose values are checked too. `child`: the schema of the value. `step`: the property's name as a step of a JSON Pointer. */
  readonly below: readonly { readonly name: string; readonly step: string; readonly child: unknown }[];
};

const objectBounds = new WeakMap<JsonSchema, ObjectBounds>();

function boundsOf(schema: JsonSchema): ObjectBounds {
  const known = objectBounds.get(schema);
  if (known !== undefined) return known;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const below = Object.entries(properties)
    .filter(([, child]) => isBounding(child))
    .map(([name, child]) => ({ name, child, step: `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}` }));
  const bounds = { properties, isOpen: !isClosed(schema), below };
  objectBounds.set(schema, bounds);
  return bounds;
}

/**
 * Returns the object without its unknown properties if there are many of them. If there are few, returns the object unchanged; each unknown
 * property then gets an error with the probable name.
 */
function keepKnown(properties: JsonSchema, object: JsonSchema, pointer: string, faults: SchemaFault[]): JsonSchema {
  const names = Object.keys(object);
  if (names.length <= unknownMax) return object;
  const unknown = names.filter((name) => !Object.hasOwn(properties, name));
  if (unknown.length <= unknownMax) return object;
  const named = unknown.slice(0, namedMax).map((name) => JSON.stringify(shorten(name, 100)));
  const others = unknown.length - named.length;
  tell(faults, pointer, `must not have the properties ${named.join(", ")} and ${others} more that are not declared`);
  const known = names.filter((name) => Object.hasOwn(properties, name));
  return Object.fromEntries(known.map((name) => [name, object[name]]));
}

function tell(faults: SchemaFault[], pointer: string, message: string): void {
  if (faults.length < faultsMax) faults.push({ pointer, message });
}

/** True if a schema allows only the declared properties in an object, so that any other property is an error. */
function isClosed({ additionalProperties, patternProperties }: JsonSchema): boolean {
  return additionalProperties === false && patternProperties === undefined;
}

const bounding = new WeakMap<object, boolean>();

/** True if a schema limits the number of list items or the properties of an object. Looks also at the schemas inside it, at any depth. */
function isBounding(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const known = bounding.get(schema);
  if (known !== undefined) return known;
  // This provisional result is set before the search in nested schemas, so that a circular reference ends the search.
  bounding.set(schema, false);
  const below = [schema.items, ...(isObject(schema.properties) ? Object.values(schema.properties) : [])];
  const found = typeof schema.maxItems === "number" || isClosed(schema) || below.some(isBounding);
  bounding.set(schema, found);
  return found;
}
