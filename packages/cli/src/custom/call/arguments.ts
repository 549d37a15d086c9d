import { formatValue, isObject } from "@svc/core";
import type { CommandContext } from "../../command/context.ts";
import { CommandError } from "../../command/error.ts";
import { readText } from "../../command/input.ts";
import { parseKeepingNumbers } from "../../text/message.ts";

/** The arguments of a tool call, by name. */
export type Arguments = { [name: string]: unknown };

/** An argument in the form in which the user typed it: `name=text`. */
export type TypedArgument = { readonly name: string; readonly text: string };

type Schema = { readonly [keyword: string]: unknown };

/**
 * Returns the typed arguments as values of the types in the tool's input schema. A text becomes a number, a boolean or null if the schema
 * allows it, and JSON becomes an object. A repeated argument becomes a list with one item for each repetition. A name may be a path into an
 * object (`start.date`). A text that does not fit the schema stays a text, and the server reports the right type. Throws CommandError for
 * invalid JSON, and for a repeated argument that is not a list.
 */
export function typeArguments(schema: unknown, typed: readonly TypedArgument[], given: Arguments = {}): Arguments {
  const args = structuredCloneOf(given);
  for (const [name, values] of Map.groupBy(typed, (argument) => argument.name)) {
    const texts = values.map(({ text }) => text);
    const { steps, property } = findProperty(asSchema(schema), name);
    put(args, steps, readValues(name, property, texts), name);
  }
  return args;
}

/**
 * Returns the arguments from `--args-json`. Its value is the JSON text of an object, `@file` for a file, or `@-` for standard input.
 * Rejects with CommandError.
 */
export async function readArguments(text: string, context: CommandContext): Promise<Arguments> {
  const source = text.startsWith("@") ? await readText(text.slice(1), `--args-json ${text}`, context) : text;
  const value = parse(source, "--args-json");
  if (isObject(value)) return value;
  throw new CommandError(`--args-json ${formatValue(source)} is not a JSON object; expected {"name": value, …}`);
}

/**
 * Returns the property with exactly this name. If there is none, treats the dots in the name as a path and returns the property at its end.
 */
function findProperty(schema: Schema, name: string): { steps: string[]; property: Schema } {
  const own = propertyOf(schema, name);
  if (own !== undefined || !name.includes(".")) return { steps: [name], property: asSchema(own) };
  const steps = name.split(".");
  const property = steps.reduce((parent, step) => asSchema(propertyOf(parent, step)), schema);
  return { steps, property };
}

function propertyOf(schema: Schema, name: string): unknown {
  const properties = asSchema(schema["properties"]);
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function put(args: Arguments, steps: readonly string[], value: unknown, name: string): void {
  const [step = "", ...more] = steps;
  if (more.length === 0) {
    Object.defineProperty(args, step, { value, enumerable: true, configurable: true, writable: true });
    return;
  }
  const next = Object.hasOwn(args, step) ? args[step] : {};
  if (!isObject(next)) throw new CommandError(`--arg ${name}: ${step} already has a value`);
  put(args, [step], next, name);
  put(next, more, value, name);
}

function readValues(name: string, schema: Schema, texts: readonly string[]): unknown {
  const types = typesOf(schema);
  const [text = "", ...more] = texts;
  if (types.has("array")) {
    if (more.length === 0 && text.trimStart().startsWith("[")) return parse(text, `--arg ${name}`);
    if (more.length > 0 || types.size === 1)
      return texts.map((item) => scalarOf(name, asSchema(schema["items"]), item));
  }
  if (more.length > 0) throw new CommandError(`--arg ${name} is given ${texts.length} times and is not a list`);
  return scalarOf(name, schema, text);
}

function scalarOf(name: string, schema: Schema, text: string): unknown {
  const types = typesOf(schema);
  const looksLikeJson = /^\s*[[{]/.test(text);
  if ((types.has("object") || types.has("array")) && looksLikeJson) return parse(text, `--arg ${name}`);
  if ((types.has("boolean") && /^(?:true|false)$/.test(text)) || (types.has("null") && text === "null")) {
    return JSON.parse(text);
  }
  if ((types.has("integer") || types.has("number")) && isNumber(text)) return parseKeepingNumbers(text);
  if (types.size > 0 || !(looksLikeJson || isNumber(text) || /^(?:true|false|null)$/.test(text))) return text;
  return parse(text, `--arg ${name}`); // the schema leaves the type open
}

/**
 * Returns the types that a schema allows, including the types of its alternatives and of its listed values. Returns an empty set if the
 * schema allows any type.
 */
function typesOf(schema: Schema): ReadonlySet<string> {
  if (schema["type"] !== undefined) return new Set([schema["type"]].flat().map(String));
  const values = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
  if (Array.isArray(values)) return new Set(values.map(typeOf));
  const alternatives = [schema["anyOf"] ?? schema["oneOf"] ?? []].flat();
  return new Set(alternatives.flatMap((alternative) => [...typesOf(asSchema(alternative))]));
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function isNumber(text: string): boolean {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
}

function parse(text: string, option: string): unknown {
  try {
    return parseKeepingNumbers(text);
  } catch (err) {
    throw new CommandError(`${option} is not JSON: ${err instanceof Error ? err.message : String(err)}`);
  }
}

/**
 * Returns a copy of arguments and of their nested objects. An object that stands for a number with many digits is not copied, because a
 * copy would no longer be recognized as a number.
 */
function structuredCloneOf(args: Arguments): Arguments {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, isObject(value) ? structuredCloneOf(value) : value]),
  );
}

function asSchema(value: unknown): Schema {
  return isObject(value) ? value : {};
}
