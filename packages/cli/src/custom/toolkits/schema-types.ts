import { isObject } from "@svc/core";

// Writes TypeScript types for the JSON Schemas of tools. Definitions may use a closed set of keywords. Those that a type cannot express, such
// as `pattern`, `not` and `if`, are left out: svc checks them when the tool is called.

/** A tool with the JSON Schemas of its arguments and its result. */
export type TypedTool = {
  readonly slug: string;
  readonly description: string;
  readonly input: unknown;
  readonly output: unknown;
};

type Schema = Readonly<Record<string, unknown>>;

/**
 * Where a schema is used. `isInput`: in the arguments of a tool. `indent`: spaces before each line. `alias`: the reference whose named type
 * is the schema itself, or a part of a union, an intersection or a Record; undefined inside an object or a list, where TypeScript lets a
 * type refer to itself. `named`: returns the name of the type for a reference such as `#/$defs/event`.
 */
type Place = {
  readonly isInput: boolean;
  readonly indent: string;
  readonly alias: string | undefined;
  readonly named: (reference: string, alias: string | undefined) => string;
};

/** The named types of the file so far: their texts, and the names that are in use. */
type TypeFile = { readonly types: string[]; readonly names: Set<string> };

/** Returns the interface `SvcTools` with the types of the arguments and of the result of each tool, by its slug. */
export function toolTypesOf(tools: readonly TypedTool[]): string {
  const file: TypeFile = { types: [], names: new Set(["SvcTools"]) };
  const entries = tools.map(({ slug, description, input, output }) => {
    const argumentsText = rootType(input, `${pascalCase(slug)}Arguments`, true, file);
    const resultText = rootType(output, `${pascalCase(slug)}Result`, false, file);
    return [
      ...commentLines({ description }, "  "),
      `  ${keyText(slug)}: {`,
      `    arguments: ${argumentsText};`,
      `    result: ${resultText};`,
      "  };",
    ].join("\n");
  });
  const head = "/** The types of tools by their slugs, for `createSvcClient<SvcTools>` of `@svc/sdk`. */";
  return `${[...file.types, `${head}\nexport interface SvcTools {\n${entries.join("\n")}\n}`].join("\n\n")}\n`;
}

/** Returns the TypeScript type of a schema. Adds a named type to `file` for each part that the schema refers to. */
function rootType(schema: unknown, name: string, isInput: boolean, file: TypeFile): string {
  const names = new Map<string, string>();
  const aliases = new Map<string, readonly string[]>();
  const named = (reference: string, alias: string | undefined): string => {
    const target = partOf(schema, reference);
    if (target === undefined) return "unknown";
    if (alias !== undefined) {
      if (leadsTo(aliases, reference, alias)) return "unknown";
      aliases.set(alias, [...(aliases.get(alias) ?? []), reference]);
    }
    const known = names.get(reference);
    if (known !== undefined) return known;
    const made = uniqueName(`${name}${pascalCase(reference.replace(/^#\/(?:\$defs\/)?/, ""))}`, file.names);
    names.set(reference, made);
    const type = typeOf(target, { isInput, indent: "", alias: reference, named });
    file.types.push([...commentLines(target, ""), `type ${made} = ${type};`].join("\n"));
    return made;
  };
  return typeOf(schema, { isInput, indent: "    ", alias: undefined, named });
}

/** True if a named type is another one, or has it as a part outside of objects and lists. TypeScript refuses a circle of such types. */
function leadsTo(aliases: ReadonlyMap<string, readonly string[]>, reference: string, other: string): boolean {
  const reached = new Set([reference]);
  for (const at of reached) for (const next of aliases.get(at) ?? []) reached.add(next);
  return reached.has(other);
}

/** Returns the name with a number if it is in use, and adds it to the used names. */
function uniqueName(name: string, used: Set<string>): string {
  let made = name;
  for (let number = 2; used.has(made); number++) made = `${name}${number}`;
  used.add(made);
  return made;
}

/** Returns the part of a schema to which a reference such as `#/$defs/event` or `#` points. Undefined if there is no such part. */
function partOf(schema: unknown, reference: string): unknown {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  const steps = reference.split("/").slice(1).map(stepOf);
  return steps.reduce<unknown>((part, step) => {
    const isParent = isObject(part) || Array.isArray(part);
    return isParent && Object.hasOwn(part, step) ? (part as Schema)[step] : undefined;
  }, schema);
}

/**
 * Returns the name that one part of a JSON reference stands for: `a/b` for the part `a~1b` of `#/a~1b/c`. A part with an invalid
 * percent-encoding is not decoded.
 */
export function stepOf(text: string): string {
  return decoded(text).replaceAll("~1", "/").replaceAll("~0", "~");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the TypeScript type of the values that a schema accepts. Returns `unknown` if the schema does not limit them. */
function typeOf(schema: unknown, place: Place): string {
  if (schema === false) return "never";
  if (!isObject(schema)) return "unknown";
  const parts = [ownType(schema, place), ...alternatives(schema, place)].filter((part) => part !== "unknown");
  const [only = "unknown"] = parts;
  return parts.length < 2 ? only : parts.map(grouped).join(" & ");
}

/** Returns the type of a schema without its `allOf`, `anyOf` and `oneOf`. */
function ownType(schema: Schema, place: Place): string {
  if (typeof schema["$ref"] === "string") return place.named(schema["$ref"], place.alias);
  if (schema["const"] !== undefined) return literal(schema["const"]);
  if (Array.isArray(schema["enum"])) return union(schema["enum"].map(literal));
  const types = listOf(schema["type"] ?? (isObject(schema["properties"]) ? "object" : undefined));
  return types.length === 0 ? "unknown" : union(types.map((type) => typeOfKind(type, schema, place)));
}

function typeOfKind(type: unknown, schema: Schema, place: Place): string {
  switch (type) {
    case "string":
    case "boolean":
    case "null":
    case "number":
      return type;
    case "integer":
      return "number";
    case "array":
      return listType(schema, place);
    case "object":
      return objectType(schema, place);
    default:
      return "unknown";
  }
}

/** Returns TypeScript types: one for each part of `allOf`, a union for `anyOf`, and a union for `oneOf`. */
function alternatives({ allOf, anyOf, oneOf }: Schema, place: Place): readonly string[] {
  const typesOf = (branches: unknown) => listOf(branches).map((branch) => typeOf(branch, place));
  return [...typesOf(allOf), ...[anyOf, oneOf].map((branches) => union(typesOf(branches)))];
}

function listType(schema: Schema, outer: Place): string {
  const place = { ...outer, alias: undefined };
  const mark = place.isInput ? "readonly " : "";
  const first = listOf(schema["prefixItems"]);
  const rest = typeOf(schema["items"], place);
  if (first.length === 0) return `${mark}${grouped(rest)}[]`;
  const least = typeof schema["minItems"] === "number" ? schema["minItems"] : 0;
  const items = first.map((item, index) => `${grouped(typeOf(item, place))}${index < least ? "" : "?"}`);
  const others = schema["items"] === false ? [] : [`...${grouped(rest)}[]`];
  return `${mark}[${[...items, ...others].join(", ")}]`;
}

function objectType(schema: Schema, place: Place): string {
  const { properties, additionalProperties: other, patternProperties } = schema;
  const entries = Object.entries(isObject(properties) ? properties : {});
  const required = new Set(listOf(schema["required"]).filter((name) => typeof name === "string"));
  const undeclared = [...required].filter((name) => !entries.some(([declared]) => declared === name));
  const isOpen =
    other === true || isObject(other) || isObject(patternProperties) || (entries.length === 0 && other !== false);
  if (entries.length + undeclared.length === 0) {
    if (!isOpen) return "Record<string, never>";
    return `Record<string, ${isObject(patternProperties) ? "unknown" : typeOf(other, place)}>`;
  }
  const inner = { ...place, indent: `${place.indent}  `, alias: undefined };
  const lines = entries.flatMap(([name, property]) => {
    // svc fills in the default of an argument, so the caller may leave the argument out.
    const isFilled = place.isInput && isObject(property) && property["default"] !== undefined;
    const mark = required.has(name) && !isFilled ? "" : "?";
    return [
      ...commentLines(property, inner.indent),
      `${inner.indent}${keyText(name)}${mark}: ${typeOf(property, inner)};`,
    ];
  });
  const more = isObject(patternProperties) ? "unknown" : typeOf(other, inner);
  const others = [
    ...undeclared.map((name) => `${inner.indent}${keyText(name)}: ${more};`),
    ...(isOpen ? [`${inner.indent}[name: string]: unknown;`] : []),
  ];
  return ["{", ...lines, ...others, `${place.indent}}`].join("\n");
}

/** Returns a comment with the description and the default of a schema. Empty if the schema has neither. */
function commentLines(schema: unknown, indent: string): readonly string[] {
  if (!isObject(schema)) return [];
  const { description, default: filled, deprecated } = schema;
  const texts = [
    typeof description === "string" ? description : "",
    filled === undefined ? "" : `Default: ${JSON.stringify(filled)}.`,
    deprecated === true ? "@deprecated" : "",
  ];
  const text = texts
    .join(" ")
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .replaceAll("*/", "*\\/")
    .trim();
  return text === "" ? [] : [`${indent}/** ${text} */`];
}

function union(types: readonly string[]): string {
  const different = [...new Set(types)];
  if (different.length === 0 || different.includes("unknown")) return "unknown";
  return different.length === 1 ? different.join("") : different.map(grouped).join(" | ");
}

/** Returns a TypeScript type, in parentheses if it is a union, an intersection or `readonly`. */
function grouped(type: string): string {
  const top = type.replaceAll(/\/\*.*?\*\/|"(?:[^"\\]|\\.)*"/gs, "");
  let depth = 0;
  for (const character of top) {
    if ("{[(<".includes(character)) depth++;
    else if ("}])>".includes(character)) depth--;
    else if (depth === 0 && "|&".includes(character)) return `(${type})`;
  }
  return type.startsWith("readonly ") ? `(${type})` : type;
}

/** Returns a JSON value as a TypeScript literal, with invisible characters escaped. */
function literal(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\p{C}\u2028\u2029]/gu, (found) =>
    found.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}

function keyText(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
}

function pascalCase(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join("");
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
