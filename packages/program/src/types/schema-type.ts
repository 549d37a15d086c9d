import { type Action, isOmittedByNull, type JsonSchema, type NullPlace, nullPlace, nullPlaceAt } from "@svc/catalog";
import { isJsonNumber, isObject } from "@svc/core";
import type { JsonValue, Path } from "../json.ts";
import { meantField } from "../read/shape-words.ts";
import { entriesOf, objectOf, type ValueTemplate } from "../template.ts";

/** The known type of a value, as a JSON Schema. Undefined if nothing is known. */
export type ValueType = JsonSchema | undefined;

/** Type of a computed point in time, which becomes a text. */
export const timestampType: JsonSchema = { type: "string", format: "date-time" };

/**
 * A JSON type. Whole numbers have no type of their own, because an output schema does not guarantee that an app sends only whole numbers.
 */
type TypeName = "null" | "boolean" | "number" | "string" | "array" | "object";

const typeNames: Readonly<Record<string, TypeName>> = {
  null: "null",
  boolean: "boolean",
  number: "number",
  integer: "number",
  string: "string",
  array: "array",
  object: "object",
};

/** Returns the JSON type of a value. */
function typeNameOf(value: JsonValue): TypeName {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (isJsonNumber(value)) return "number";
  return typeNames[typeof value] ?? "object";
}

/** Returns the JSON types that a schema allows. Returns undefined if the schema allows every type. */
export function typesOf(schema: ValueType): ReadonlySet<TypeName> | undefined {
  if (schema === undefined) return undefined;
  if (schema.type !== undefined) {
    const named = [schema.type].flat().flatMap((name) => typeNames[String(name)] ?? []);
    return new Set(named);
  }
  if (schema.const !== undefined) return new Set([typeNameOf(schema.const as JsonValue)]);
  if (Array.isArray(schema.enum)) return new Set((schema.enum as JsonValue[]).map(typeNameOf));
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = branchesOf(schema, keyword).map(typesOf);
    if (branches.length > 0 && branches.every((types) => types !== undefined)) {
      return new Set(branches.flatMap((types) => [...types]));
    }
  }
  const all = branchesOf(schema, "allOf").map(typesOf);
  const known = all.find((types) => types !== undefined);
  if (known !== undefined) return known;
  if (isObject(schema.properties)) return new Set(["object"]);
  return isObject(schema.items) ? new Set(["array"]) : undefined;
}

/**
 * Returns the schemas in a keyword (such as `anyOf`) that contains a list of schemas. Returns an empty list if the schema has no such
 * keyword.
 */
export function branchesOf(schema: JsonSchema, keyword: string): JsonSchema[] {
  const branches = schema[keyword];
  return Array.isArray(branches) ? branches.filter(isObject) : [];
}

/**
 * Returns the type of a field or item of a value with the type `schema`. If such a value cannot have this field or item, returns the reason.
 */
export function fieldType(
  schema: ValueType,
  step: string | number,
): { readonly type: ValueType } | { readonly fault: string } {
  if (schema === undefined) return { type: undefined };
  const types = typesOf(schema);
  const needed = typeof step === "number" ? "array" : "object";
  if (types !== undefined && !types.has(needed)) {
    return { fault: `is ${[...types].join(" or ")}, which has no ${typeof step === "number" ? "items" : "fields"}` };
  }
  if (typeof step === "number") return { type: isObject(schema.items) ? schema.items : undefined };
  if (isObject(schema.properties)) {
    const property = Object.hasOwn(schema.properties, step) ? schema.properties[step] : undefined;
    if (property !== undefined) return { type: isObject(property) ? property : undefined };
  }
  return fieldOfBranches(schema, step);
}

/** Returns the type of the value at a path, or the reason why a value of this type cannot have that path. */
export function walkType(schema: ValueType, path: Path): { readonly type: ValueType } | { readonly fault: string } {
  let type = schema;
  for (const step of path) {
    const field = fieldType(type, step);
    if ("fault" in field) return field;
    type = field.type;
  }
  return { type };
}

function fieldOfBranches(schema: JsonSchema, step: string): { readonly type: ValueType } | { readonly fault: string } {
  const branches = ["anyOf", "oneOf", "allOf"].flatMap((keyword) => branchesOf(schema, keyword));
  const found = branches.filter((branch) => isObject(branch.properties)).map((branch) => fieldType(branch, step));
  const types = found.flatMap((field) => ("type" in field ? [field.type] : []));
  if (types.length > 0) {
    const known = types.filter((type) => type !== undefined);
    return { type: known.length < types.length ? undefined : known.length === 1 ? known[0] : { anyOf: known } };
  }
  if (!isObject(schema.properties) && found.length === 0) return { type: undefined };
  const names = namesOf(schema);
  const meant = meantField(step, names);
  const told = meant === undefined ? "" : ` (did you mean ${meant}?)`;
  return { fault: names.length === 0 ? "has no fields" : `has no such field, only ${names.join(", ")}${told}` };
}

/** Returns the names of fields in a schema, for a message. If there are too many for a message, returns only the first. */
export function namesOf(schema: JsonSchema): string[] {
  const names: string[] = [];
  for (const { properties } of [
    schema,
    ...["anyOf", "oneOf", "allOf"].flatMap((keyword) => branchesOf(schema, keyword)),
  ]) {
    for (const name in isObject(properties) ? properties : {}) {
      if (!names.includes(name)) names.push(name);
      if (names.length === 40) return names;
    }
  }
  return names;
}

/**
 * Returns the type of a value that is written in a program: its JSON type and, for an object, the types of its fields. The type allows
 * other values too, because a person's answer may replace the value.
 */
export function typeOfConstant(value: JsonValue): JsonSchema {
  if (!isObject(value)) return { type: typeNameOf(value) };
  const properties = Object.fromEntries(Object.entries(value).map(([name, child]) => [name, typeOfConstant(child)]));
  return { type: "object", properties };
}

/**
 * Checks if a value of the type `from` can be used where the type `to` is required. Returns undefined if at least some values can be used.
 * Returns the reason if no value can be used. Null is never a reason, because apps may answer null anywhere.
 */
export function faultOfAssignment(from: ValueType, to: ValueType): string | undefined {
  const given = typesOf(from);
  const taken = typesOf(to);
  if (from === undefined || to === undefined || given === undefined || taken === undefined) return undefined;
  const shared = [...given].filter((type) => taken.has(type));
  if (shared.length === 0) return `is ${[...given].join(" or ")}, not ${[...taken].join(" or ")}`;
  if (Array.isArray(from.enum) && Array.isArray(to.enum)) {
    const values = to.enum as unknown[];
    if (!(from.enum as unknown[]).some((value) => values.includes(value)))
      return "has no value in common with the enum";
  }
  if (shared.length > 1) return undefined;
  if (shared[0] === "array" && isObject(from.items) && isObject(to.items)) {
    const fault = faultOfAssignment(from.items, to.items);
    return fault === undefined ? undefined : `has items, each of which ${fault}`;
  }
  return shared[0] === "object" ? faultOfObject(from, to) : undefined;
}

function faultOfObject(from: JsonSchema, to: JsonSchema): string | undefined {
  if (!isObject(from.properties) || !isObject(to.properties)) return undefined;
  const fields = Object.entries(from.properties);
  const required = Array.isArray(to.required) ? (to.required as string[]) : [];
  const missing = required.find((name) => !Object.hasOwn(from.properties as object, name));
  if (missing !== undefined) return `lacks ${missing}`;
  for (const [name, child] of fields) {
    if (!Object.hasOwn(to.properties, name)) {
      if (to.additionalProperties === false) return `has ${name}, which is not allowed`;
      continue;
    }
    const target = to.properties[name];
    const fault = isObject(child) && isObject(target) ? faultOfAssignment(child, target) : undefined;
    if (fault !== undefined) return `has ${name}, which ${fault}`;
  }
  return undefined;
}

/**
 * Returns a template with the same changes that svc makes to the values before a call: nulls that mean "absent" are removed, and defaults
 * of the schema are added.
 */
export function filledIn(template: ValueTemplate, schema: JsonSchema): ValueTemplate {
  return withDefaults(withoutNulls(template, nullPlace(schema)), schema);
}

function withDefaults(template: ValueTemplate, schema: unknown): ValueTemplate {
  if (!isObject(schema)) return template;
  if (template.kind === "list") {
    return { kind: "list", items: template.items.map((item) => withDefaults(item, schema.items)) };
  }
  const entries = entriesOf(template);
  if (entries === undefined || !isObject(schema.properties)) return template;
  const filled = new Map(entries);
  for (const [name, property] of Object.entries(schema.properties)) {
    const given = filled.get(name);
    if (given !== undefined) filled.set(name, withDefaults(given, property));
    else if (isObject(property) && property.default !== undefined) {
      filled.set(name, { kind: "literal", value: property.default as JsonValue });
    }
  }
  return objectOf([...filled]);
}

/** Returns a template without the fields whose null means that the field is left out. In such a field, `else: null` is removed too. */
function withoutNulls(template: ValueTemplate, place: NullPlace): ValueTemplate {
  if (template.kind === "list") {
    return { kind: "list", items: template.items.map((item, index) => withoutNulls(item, nullPlaceAt(place, index))) };
  }
  const entries = entriesOf(template);
  if (entries === undefined) return template;
  const kept = entries.flatMap(([name, item]) => {
    if (!isOmittedByNull(place, name)) return [[name, withoutNulls(item, nullPlaceAt(place, name))] as const];
    if (item.kind === "literal" && item.value === null) return [];
    return [[name, withoutNulls(withoutElse(item), nullPlaceAt(place, name))] as const];
  });
  return objectOf(kept);
}

function withoutElse(item: ValueTemplate): ValueTemplate {
  if (item.kind === "reference" && item.otherwise?.value === null) return { ...item, otherwise: undefined };
  return item.kind === "text" && item.otherwise?.value === null ? { kind: "text", parts: item.parts } : item;
}

// Possible values of a field in a tool's answer. Few output schemas list them, so they are taken from the argument of the same tool that
// filters by this field.

type Values = { readonly argument: string; readonly values: readonly JsonValue[] };

const listed = new WeakMap<JsonSchema, Values>();
const answers = new WeakMap<Action, JsonSchema>();

/**
 * Returns the values that a field of a tool's answer can have, if they are known. They are known if the tool has an argument with the same
 * name and a list of allowed values. `type`: the field's type from `answerTypeOf`.
 */
export function valuesListed(type: ValueType): Values | undefined {
  return type === undefined ? undefined : listed.get(type);
}

/**
 * Returns the type of a tool's answer. If a field has the same name as an argument, the argument's `enum` values are recorded for the
 * field.
 */
export function answerTypeOf(action: Action): JsonSchema {
  const known = answers.get(action);
  if (known !== undefined) return known;
  const { properties } = action.inputSchema;
  const args = new Map<string, readonly JsonValue[]>();
  for (const [name, argument] of Object.entries(isObject(properties) ? properties : {})) {
    if (isObject(argument) && Array.isArray(argument.enum)) args.set(name, argument.enum as JsonValue[]);
  }
  const type = args.size === 0 ? action.outputSchema : withListed(action.outputSchema, args);
  answers.set(action, type);
  return type;
}

function withListed(schema: JsonSchema, args: ReadonlyMap<string, readonly JsonValue[]>): JsonSchema {
  const { properties, items } = schema;
  if (isObject(items)) return { ...schema, items: withListed(items, args) };
  if (!isObject(properties)) return schema;
  const fields = Object.entries(properties).map(([name, field]) => {
    if (!isObject(field)) return [name, field] as const;
    const values = args.get(name);
    if (values === undefined || field.type !== "string" || field.enum !== undefined) {
      return [name, withListed(field, args)] as const;
    }
    const own = { ...field };
    listed.set(own, { argument: name, values });
    return [name, own] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}
