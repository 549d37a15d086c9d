import { isObject } from "@svc/core";
import { placeAt, referencedSchema, type SchemaPlace, schemaPlace } from "../check/sensitivity.ts";
import type { JsonSchema } from "../read/documents.ts";

/**
 * The JSON schemas for the value at one place, for example of one property. `place`: all schemas that may apply there. `sure`: only the
 * schemas that apply to every value there.
 */
export type NullPlace = { readonly place: SchemaPlace; readonly sure: readonly JsonSchema[] };

/**
 * Returns a value without the nulls that mean "absent", at every depth. Programs that call AI models often send null for optional
 * properties. Keeps the null of a required property, and of a property that the schema does not declare. If nothing changes, returns the
 * same value.
 */
export function withoutOptionalNulls(schema: JsonSchema, value: unknown): unknown {
  return holdsNull(value, 0) ? without(nullPlace(schema), value, 0) : value;
}

/**
 * Returns the starting position in a value with this schema: the whole value. From there, `nullPlaceAt` leads to the position of a property
 * or list item.
 */
export function nullPlace(schema: JsonSchema): NullPlace {
  return { place: schemaPlace(schema), sure: sureOf(schema, [schema]) };
}

/**
 * Returns the position one level below a given position in a JSON value. `step`: the property name or list index that leads to the new
 * position.
 */
export function nullPlaceAt({ place, sure }: NullPlace, step: string | number): NullPlace {
  const below = sure.flatMap((schema) => (typeof step === "string" ? propertyOf(schema, step) : itemOf(schema, step)));
  return { place: placeAt(place, step), sure: sureOf(place.root, below) };
}

/** True if null as the value of property `name` means "absent": the property is declared, never required, and may not be null. */
export function isOmittedByNull({ place, sure }: NullPlace, name: string): boolean {
  if (sure.some(({ required }) => Array.isArray(required) && required.includes(name))) return false;
  const takes = (schema: unknown) => takesNull(schema, place.root, 0);
  const declared = sure.flatMap((schema) => propertyOf(schema, name));
  if (declared.length > 0) return !declared.every(takes);
  const offered = place.schemas.flatMap((schema) => propertyOf(schema, name));
  return offered.length > 0 && !offered.some(takes);
}

/**
 * Maximum depth of nesting down to which a value is searched for null. Nulls below this depth are kept. Earlier checks already refuse a
 * value that is nested so deeply.
 */
const depthMax = 500;

function holdsNull(value: unknown, depth: number): boolean {
  if (value === null) return true;
  if (typeof value !== "object" || depth > depthMax) return false;
  return Object.values(value).some((child) => holdsNull(child, depth + 1));
}

function without(at: NullPlace, value: unknown, depth: number): unknown {
  // Without a schema it is not known which properties are optional, so the value is returned unchanged.
  if (at.place.schemas.length === 0 || depth > depthMax || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item, index) => without(nullPlaceAt(at, index), item, depth + 1));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([name, child]) => child !== null || !isOmittedByNull(at, name));
  const deeper = kept.map(([name, child]) => {
    return [name, typeof child === "object" ? without(nullPlaceAt(at, name), child, depth + 1) : child];
  });
  // `Object.fromEntries` is used because an argument may have the name `__proto__`. An assignment to this name would change the object's
  // prototype instead of a property.
  return Object.fromEntries(deeper);
}

/**
 * Returns the given JSON schemas, and all schemas that a valid value must match as well: those in `allOf`, and the targets of `$ref`. Reads
 * each schema only once, so that the search ends even if references are circular.
 */
function sureOf(root: JsonSchema, first: readonly unknown[]): readonly JsonSchema[] {
  const schemas = new Set<JsonSchema>();
  const waiting = [...first];
  for (const schema of waiting) {
    if (!isObject(schema) || schemas.has(schema)) continue;
    schemas.add(schema);
    if (Array.isArray(schema.allOf)) waiting.push(...schema.allOf);
    if (typeof schema.$ref === "string") waiting.push(referencedSchema(root, schema.$ref));
  }
  return [...schemas];
}

function propertyOf({ properties }: JsonSchema, name: string): readonly unknown[] {
  return isObject(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [];
}

function itemOf({ prefixItems, items }: JsonSchema, index: number): readonly unknown[] {
  return [Array.isArray(prefixItems) && index < prefixItems.length ? prefixItems[index] : items];
}

/** Maximum nesting of schema rules (such as `anyOf`) that are searched. A rule nested more deeply counts as one that may accept null. */
const rulesMax = 20;

/**
 * True if a schema may accept null. Considers only the keywords for types and values (such as `type` and `enum`) and the combinations of
 * schemas (such as `anyOf`).
 */
function takesNull(schema: unknown, root: JsonSchema, depth: number): boolean {
  if (!isObject(schema) || depth > rulesMax) return schema !== false;
  const takes = (part: unknown) => takesNull(part, root, depth + 1);
  const { type, anyOf, oneOf, allOf, not, $ref } = schema;
  if (type !== undefined && ![type].flat().includes("null")) return false;
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) return false;
  if (schema.const !== undefined && schema.const !== null) return false;
  if (Array.isArray(anyOf) && !anyOf.some(takes)) return false;
  if (Array.isArray(oneOf) && !oneOf.some(takes)) return false;
  if (Array.isArray(allOf) && !allOf.every(takes)) return false;
  if (isObject(not) && takes(not)) return false;
  return typeof $ref !== "string" || takes(referencedSchema(root, $ref));
}
