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
 * Where a schema is used. `isInput`: in the arguments of a tool. `indent`: spaces before each line. `named`: returns the name of the type
 * for a reference such as `#/$defs/event`.
 */
type Place = { readonly isInput: boolean; readonly indent: string; readonly named: (reference: string) => string };

/** Returns the interface `SvcTools` with the types of the arguments and of the result of each tool, by its slug. */
export function toolTypesOf(tools: readonly TypedTool[]): string {
  const types: string[] = [];
  const entries = tools.map(({ slug, description, input, output }) => {
    const argumentsText = rootType(input, `${pascalCase(slug)}Arguments`, true, types);
    const resultText = rootType(output, `${pascalCase(slug)}Result`, false, types);
    return [
      ...commentLines({ description }, "  "),
      `  ${keyText(slug)}: {`,
      `    arguments: ${argumentsText};`,
      `    result: ${resultText};`,
      "  };",
    ].join("\n");
  });
  const head = "/** The types of tools by their slugs, for `createSvcClient<SvcTools>` of `@svc/sdk`. */";
  return `${[...types, `${head}\nexport interface SvcTools {\n${entries.join("\n")}\n}`].join("\n\n")}\n`;
}

/** Returns the TypeScript type of a schema. Adds a named type to `types` for each part that the schema refers to. */
function rootType(schema: unknown, name: string, isInput: boolean, types: string[]): string {
  const names = new Map<string, string>();
  const named = (reference: string): string => {
    const known = names.get(reference);
    if (known !== undefined) return known;
    const target = partOf(schema, reference);
    if (target === undefined) return "unknown";
    const made = uniqueName(`${name}${pascalCase(reference.replace(/^#\/(?:\$defs\/)?/, ""))}`, names);
    names.set(reference, made);
    const type = typeOf(target, { isInput, indent: "", named });
    types.push([...commentLines(target, ""), `type ${made} = ${type};`].join("\n"));
    return made;
  };
  return typeOf(schema, { isInput, indent: "    ", named });
}

function uniqueName(name: string, names: ReadonlyMap<string, string>): string {
  const used = new Set(names.values());
  let made = name;
  for (let number = 2; used.has(made); number++) made = `${name}${number}`;
  return made;
}

/** Returns the part of a schema to which a reference such as `#/$defs/event` points. Undefined if there is no such part. */
function partOf(schema: unknown, reference: string): unknown {
  const steps = reference.split("/").slice(1);
  return steps.reduce<unknown>((part, step) => {
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    return isObject(part) || Array.isArray(part) ? (part as Schema)[key] : undefined;
  }, schema);
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
  if (typeof schema["$ref"] === "string") return schema["$ref"] === "#" ? "unknown" : place.named(schema["$ref"]);
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

function listType(schema: Schema, place: Place): string {
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
  const isOpen = other === true || isObject(other) || isObject(patternProperties);
  if (entries.length === 0) {
    if (other === false && !isOpen) return "Record<string, never>";
    return `Record<string, ${isObject(patternProperties) ? "unknown" : typeOf(other, place)}>`;
  }
  const required = new Set(listOf(schema["required"]));
  const inner = { ...place, indent: `${place.indent}  ` };
  const lines = entries.flatMap(([name, property]) => {
    // svc fills in the default of an argument, so the caller may leave the argument out.
    const isFilled = place.isInput && isObject(property) && property["default"] !== undefined;
    const mark = required.has(name) && !isFilled ? "" : "?";
    return [
      ...commentLines(property, inner.indent),
      `${inner.indent}${keyText(name)}${mark}: ${typeOf(property, inner)};`,
    ];
  });
  const others = isOpen ? [`${inner.indent}[name: string]: unknown;`] : [];
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
  const top = type.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").replaceAll(/\/\*.*?\*\//gs, "");
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
