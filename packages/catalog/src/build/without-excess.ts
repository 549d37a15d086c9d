import { isObject } from "@svc/core";
import { shorten } from "../check/alternatives.ts";
import type { SchemaFault } from "../check/schema-faults.ts";
import type { JsonSchema } from "../read/documents.ts";

/** Unknown properties that are told one by one, each with what it may have been meant for; more are one fault. */
const unknownMax = 20;
/** Of those, how many a fault names. */
const namedMax = 3;
/** Faults after which no further one is told. */
const faultsMax = 100;

/** What is left of a value without what there is too much of, and a fault for each place where there was. */
export type ShortenedValue = { readonly kept: unknown; readonly faults: readonly SchemaFault[] };

/**
 * Takes out of a value the items beyond a list's `maxItems`, and the properties of an object that may have only those declared,
 * where many others are there. Looks where the schema says something of the value for sure: into properties and items. Takes time
 * linear in the value, and none where the schema bounds nothing.
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

/** What a schema says of an object: worked out once, since every post and call is looked through. */
type ObjectBounds = {
  readonly properties: JsonSchema;
  readonly isOpen: boolean;
  /** The properties that bound something themselves, each with its step of a pointer. */
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

/** The object as it is while few of its properties are unknown: those are told with what was meant. */
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

/** Whether an object may have the declared properties alone. */
function isClosed({ additionalProperties, patternProperties }: JsonSchema): boolean {
  return additionalProperties === false && patternProperties === undefined;
}

const bounding = new WeakMap<object, boolean>();

/** Whether a schema bounds a list or an object, itself or below. */
function isBounding(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const known = bounding.get(schema);
  if (known !== undefined) return known;
  // Whoever refers to himself meets himself here.
  bounding.set(schema, false);
  const below = [schema.items, ...(isObject(schema.properties) ? Object.values(schema.properties) : [])];
  const found = typeof schema.maxItems === "number" || isClosed(schema) || below.some(isBounding);
  bounding.set(schema, found);
  return found;
}
