import { isObject, isRawJson } from "@svc/core";
import { type AnyObject, propertiesOf, readScalar, typesOf } from "../app/refusal.ts";
import type { Kind } from "./roles.ts";
import { plainName, wordsOf } from "./words.ts";

/**
 * Facts are the known values of an object. The key is the name of the field without separators: both `team: {id}` and `team_id` give
 * `teamid`.
 */
export type Facts = Readonly<Record<string, unknown>>;

/** Names of objects in a request body that only wrap the fields of a record, such as `data`. These names are not names of fields. */
const wrappers = new Set(["variables", "input", "data", "attributes", "fields"]);
const depthMax = 4;

/**
 * Returns the field values that a call contains, as facts (known values by field name, for example `teamid`). Values in the request body
 * have precedence over arguments. One exception: an argument whose name says that it is a new value, such as `new_name`, replaces the value
 * of the body.
 */
export function factsOf(args: AnyObject, body: unknown, kind: Kind | undefined): Facts {
  const facts = new Map<string, unknown>();
  const own = new Set([...wrappers, ...(kind ? [kind.words.join(""), kind.words.at(-1) ?? ""] : [])]);
  if (isObject(body)) addBody(facts, body, own, 0);
  addFields(facts, args, "", 0);
  for (const [name, value] of Object.entries(args)) {
    const field = fieldOf(name, kind);
    if (field !== undefined && (field.isNew || !facts.has(field.name))) facts.set(field.name, value);
  }
  return Object.fromEntries(facts);
}

/** Returns the field that an argument with a prefix sets. For example, `board_name` sets the name of a board, and `new_name` a new name. */
function fieldOf(argument: string, kind: Kind | undefined): { name: string; isNew: boolean } | undefined {
  const words = wordsOf(argument);
  const after = (prefix: readonly string[]) => {
    const isLonger = prefix.length > 0 && words.length > prefix.length;
    return isLonger && prefix.every((word, index) => word === words[index])
      ? words.slice(prefix.length).join("")
      : undefined;
  };
  const renamed = after(["new"]);
  if (renamed !== undefined) return { name: renamed, isNew: true };
  const name = kind && (after(kind.words) ?? after(kind.words.slice(-1)));
  return name === undefined || name === "id" ? undefined : { name, isNew: false };
}

function addBody(facts: Map<string, unknown>, body: AnyObject, own: ReadonlySet<string>, depth: number): void {
  const isGraphql = typeof body["query"] === "string" && isObject(body["variables"]);
  for (const [name, value] of Object.entries(body)) {
    if (depth < depthMax && isObject(value) && own.has(plainName(name))) addBody(facts, value, own, depth + 1);
  }
  if (!isGraphql) addFields(facts, body, "", 0);
}

/**
 * Adds the fields of an object to `facts` (known values by field name, from which answers are made). If a field has a value already, that
 * value is kept.
 */
function addFields(facts: Map<string, unknown>, fields: AnyObject, path: string, depth: number): void {
  for (const [name, value] of Object.entries(fields)) {
    const plain = path + plainName(name);
    if (value !== undefined && !facts.has(plain)) facts.set(plain, value);
    if (depth < depthMax && isObject(value)) addFields(facts, value, plain, depth + 1);
  }
}

/**
 * Returns old and new facts (known values of an object's fields) in one object. A new value replaces the old value of the same field. If
 * both values are objects, they are merged field by field.
 */
export function mergeFacts(old: Facts, news: Facts): Facts {
  const merged: Record<string, unknown> = { ...old, ...news };
  for (const [name, value] of Object.entries(news)) {
    const before = Object.hasOwn(old, name) ? old[name] : undefined;
    if (isObject(before) && isObject(value)) merged[name] = { ...before, ...value };
  }
  return merged;
}

/**
 * Returns the value that an earlier call to the emulated app gave to a field of an object. `path`: the field's path inside the object. The
 * value is converted to a form that the field's schema allows. Returns undefined if no call has set the field.
 */
export function sayOf(facts: Facts, path: readonly string[], schema: AnyObject): unknown {
  const name = path.map(plainName).join("");
  return Object.hasOwn(facts, name) ? asAllowed(facts[name], schema, 0) : undefined;
}

/**
 * Returns a value in a form that a schema allows. Texts and numbers are converted, and objects lose properties that the schema does not
 * declare. Returns undefined if no allowed form exists.
 */
function asAllowed(value: unknown, schema: AnyObject, depth: number): unknown {
  if (value === null || value === undefined || depth > 8) return undefined;
  const types = typesOf(schema);
  const options = schema["enum"];
  if (Array.isArray(options)) return options.includes(value) ? value : undefined;
  if (Array.isArray(value)) return isAllowed("array", types) ? allowedItems(value, schema, depth) : undefined;
  if (isObject(value)) {
    const isOpen = propertiesOf(schema).length === 0;
    return isOpen && isAllowed("object", types) ? value : undefined;
  }
  if (isAllowed(typeof value, types)) return value;
  if (types.includes("integer") && Number.isInteger(value)) return value;
  if (types.includes("string") && typeof value === "number") return String(value);
  const read = typeof value === "string" ? readScalar(value, { type: types }) : undefined;
  const isWhole = !types.includes("integer") || types.includes("number") || Number.isInteger(read) || isRawJson(read);
  return typeof read !== "string" && isWhole ? read : undefined;
}

function isAllowed(type: string, types: readonly unknown[]): boolean {
  return types.length === 0 || types.includes(type);
}

function allowedItems(value: readonly unknown[], schema: AnyObject, depth: number): unknown {
  const { items } = schema;
  if (!isObject(items)) return value;
  const made = value.map((item) => (isObject(item) ? allowedFields(item, items) : asAllowed(item, items, depth + 1)));
  return made.includes(undefined) ? undefined : made;
}

function allowedFields(item: AnyObject, schema: AnyObject): unknown {
  const types = typesOf(schema);
  if (!isAllowed("object", types)) return undefined;
  const properties = propertiesOf(schema);
  if (properties.length === 0) return item;
  const fields = properties.flatMap(([name, child]) => {
    const said = Object.hasOwn(item, name) ? asAllowed(item[name], child, 1) : undefined;
    return said === undefined ? [] : [[name, said] as const];
  });
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}
