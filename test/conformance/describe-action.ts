import type { Action, JsonSchema } from "@svc/catalog";
import { type Placeholder, placeholdersOfTree, type TemplatePath, type TemplateTree } from "@svc/core";

/**
 * The facts about one action, in the form in which a definition is compared with the specification.
 *
 * An argument is one text, `name*? type [form]... [in place]...`: `*` when required; the type as JSON Schema names it, `[]` behind the type
 * of items, `any` without a type, `/` between several; then format, values (`a|b`), bounds (`1..100`, `chars ..64`, `items 1..`, `keys
 * 2..`, `steps 1`, a pattern between slashes), default (`=50`); then every place of the request that carries it, with its filter. Fields of
 * objects and of items have texts of their own (`signers[].name* string`). A result field is `path letter`: s, i, n, b, o or a (o and a are
 * kept whole), several letters where an app answers several types, `?` where it may be anything, `$` for the whole answer.
 */
export type ToolFacts = {
  readonly tool: string;
  readonly class: string;
  readonly scopes: readonly string[];
  readonly call: string;
  readonly arguments: readonly string[];
  /** Path of the payload in the app's answer and the name it is presented under. Absent if the payload is the whole answer. */
  readonly unwrap?: string;
  readonly result: readonly string[];
};

type Schema = JsonSchema & { readonly [keyword: string]: unknown };

/** Describes a loaded action in the form of the specification's rows. The argument `confirm`, which the loader adds, is left out. */
export function describeAction(action: Action): ToolFacts {
  return {
    tool: action.name,
    class: action.class,
    scopes: action.scopes,
    call: `${action.request.method} ${textOf(action.request.path).replaceAll(/\{\{params\.(\w+)\}\}/g, "{$1}")}`,
    arguments: describeArguments(action).toSorted(),
    ...unwrapOf(action),
    result: describeResult(action.outputSchema).toSorted(),
  };
}

function unwrapOf({ response: { unwrap, under } }: Action): Pick<ToolFacts, "unwrap"> {
  if (unwrap === "") return {};
  return { unwrap: under === "" ? unwrap : `${unwrap} under ${under}` };
}

/** Sorts the facts of an action in the order that the descriptions have. */
export function sortFacts(facts: ToolFacts): ToolFacts {
  return { ...facts, arguments: facts.arguments.toSorted(), result: facts.result.toSorted() };
}

function textOf(tree: TemplateTree): string {
  if (tree.kind === "text") return tree.template.text;
  return tree.kind === "constant" ? String(tree.value) : "";
}

function describeArguments(action: Action): string[] {
  const places = placesOf(action);
  return describeProperties("", action.inputSchema)
    .filter(([name]) => name !== "confirm")
    .map(([name, text]) => [text, ...(places.get(name) ?? [])].join(" in "));
}

/**
 * Returns the places in the request that carry each argument, such as `path`, `query.timeMin`, `body.start.date`, or `host` for a label of
 * the host name.
 */
function placesOf({ request, inputSchema }: Action): Map<string, string[]> {
  const places = new Map<string, string[]>();
  const add = (name: string, place: string) => places.set(name, [...(places.get(name) ?? []), place]);
  for (const [name, property] of Object.entries(propertiesOf(inputSchema))) {
    if (property["x-host"] === true) add(name, "host");
  }
  for (const part of ["path", "query", "headers", "body"] as const) {
    const tree = request[part];
    if (tree === undefined) continue;
    for (const [placeholder, path] of placeholdersOfTree(tree)) {
      if (placeholder.root === "params") add(placeholder.path.join("."), placeOf(part, path, placeholder));
    }
  }
  return places;
}

function placeOf(part: string, path: TemplatePath, { filters }: Placeholder): string {
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`));
  const named = filters.map((filter) => (filter.name === "each" ? `[].${filter.argument}` : ` ${filter.name}`));
  return [part, ...steps, ...named].join("");
}

function propertiesOf(schema: Schema): Record<string, Schema> {
  return (schema["properties"] ?? {}) as Record<string, Schema>;
}

function describeProperties(prefix: string, schema: Schema): [name: string, text: string][] {
  const required = (schema["required"] ?? []) as string[];
  return Object.entries(propertiesOf(schema)).flatMap(([key, property]) => {
    const name = `${prefix}${key}`;
    const words = [`${name}${required.includes(key) ? "*" : ""}`, typeOf(property), ...constraintsOf(property)];
    return [[name, words.join(" ")] as [string, string], ...describeFields(name, property)];
  });
}

/** Describes the fields below one argument: the fields of its object, of its list items or of its map values. */
function describeFields(name: string, property: Schema): [name: string, text: string][] {
  const items = property["items"] as Schema | undefined;
  const values = property["additionalProperties"] as Schema | boolean | undefined;
  return [
    ...describeProperties(`${name}.`, property),
    ...(items === undefined ? [] : describeFields(`${name}[]`, items)),
    ...(typeof values === "object" ? describeFields(`${name}.*`, values) : []),
  ];
}

function typeOf(property: Schema): string {
  const items = property["items"] as Schema | undefined;
  if (property["type"] === "array") return items === undefined ? "any[]" : `${typeOf(items)}[]`;
  return property["type"] === undefined ? "any" : [property["type"]].flat().join("/");
}

/** Lists everything that narrows a value. The constraints of a list's items come before those of the list. */
function constraintsOf(property: Schema): string[] {
  const items = property["items"] as Schema | undefined;
  return [
    ...(items === undefined ? [] : constraintsOf(items)),
    ...(property["format"] === undefined ? [] : [String(property["format"])]),
    ...(Array.isArray(property["enum"]) ? [property["enum"].join("|")] : []),
    ...boundsOf(property, "", "minimum", "maximum"),
    ...boundsOf(property, "chars ", "minLength", "maxLength"),
    ...boundsOf(property, "items ", "minItems", "maxItems"),
    ...boundsOf(property, "keys ", "minProperties", "maxProperties"),
    ...(property["multipleOf"] === undefined ? [] : [`steps ${property["multipleOf"]}`]),
    ...(property["pattern"] === undefined ? [] : [`/${property["pattern"]}/`]),
    ...(property["default"] === undefined ? [] : [`=${textOfDefault(property["default"])}`]),
  ];
}

function boundsOf(property: Schema, label: string, lower: string, upper: string): string[] {
  if (property[lower] === undefined && property[upper] === undefined) return [];
  return [`${label}${property[lower] ?? ""}..${property[upper] ?? ""}`];
}

function textOfDefault(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const typeLetters: Record<string, string> = {
  string: "s",
  integer: "i",
  number: "n",
  boolean: "b",
  object: "o",
  array: "a",
};

/** Lists every field that the result keeps, each as `dotted.path[] letter`. */
function describeResult(schema: Schema, path = ""): string[] {
  const items = schema["items"] as Schema | undefined;
  if (items !== undefined) return describeResult(items, `${path === "" ? "$" : path}[]`);
  const properties = schema["properties"] as Record<string, Schema> | undefined;
  if (properties === undefined) return [`${path === "" ? "$" : path} ${lettersOf(schema)}`];
  return Object.entries(properties).flatMap(([key, child]) => {
    return describeResult(child, path === "" ? key : `${path}.${key}`);
  });
}

function lettersOf(schema: Schema): string {
  if (schema["type"] === undefined) return "?";
  return [schema["type"]]
    .flat()
    .map((type) => typeLetters[String(type)])
    .join("");
}
