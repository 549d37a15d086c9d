import type { Action, JsonSchema } from "../../packages/catalog/src/index.ts";
import { placeholdersOfTree, type TemplateTree } from "../../packages/core/src/index.ts";

/** What a fact sheet says of one action, in the form a definition is compared in. */
export type ToolFacts = {
  readonly tool: string;
  readonly class: string;
  readonly scopes: readonly string[];
  readonly call: string;
  readonly arguments: readonly string[];
  readonly result: readonly string[];
};

type Schema = JsonSchema & { readonly [keyword: string]: unknown };

/** Writes a loaded action as its fact sheet would. The loader's `confirm` is left out. */
export function describeAction(action: Action): ToolFacts {
  return {
    tool: action.name,
    class: action.class,
    scopes: action.scopes,
    call: `${action.request.method} ${textOf(action.request.path).replaceAll(/\{\{params\.(\w+)\}\}/g, "{$1}")}`,
    arguments: describeArguments(action).toSorted(),
    result: describeResult(action.outputSchema).toSorted(),
  };
}

/** Facts in the order that descriptions have. */
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

/** Where the request carries each argument: `path`, `query.timeMin`, `body.start.date`. */
function placesOf({ request }: Action): Map<string, string[]> {
  const places = new Map<string, string[]>();
  for (const part of ["path", "query", "headers", "body"] as const) {
    const tree = request[part];
    if (tree === undefined) continue;
    for (const [placeholder, path] of placeholdersOfTree(tree)) {
      const each = placeholder.filters
        .map((filter) => (filter.name === "each" ? `[].${filter.argument}` : ""))
        .join("");
      const name = String(placeholder.path[0]);
      places.set(name, [...(places.get(name) ?? []), [part, ...path].join(".") + each]);
    }
  }
  return places;
}

function describeProperties(prefix: string, schema: Schema): [name: string, text: string][] {
  const required = (schema["required"] ?? []) as string[];
  return Object.entries((schema["properties"] ?? {}) as Record<string, Schema>).flatMap(([key, property]) => {
    const name = `${prefix}${key}`;
    const items = property["items"] as Schema | undefined;
    const type = items === undefined ? String(property["type"]) : `${items["type"]}[]`;
    const words = [`${name}${required.includes(key) ? "*" : ""}`, type, ...constraintsOf(property)];
    return [[name, words.join(" ")] as [string, string], ...describeProperties(`${name}[].`, items ?? {})];
  });
}

function constraintsOf(property: Schema): string[] {
  const words: string[] = [];
  if (property["format"] !== undefined) words.push(String(property["format"]));
  if (Array.isArray(property["enum"])) words.push(property["enum"].join("|"));
  if (property["minimum"] !== undefined || property["maximum"] !== undefined) {
    words.push(`${property["minimum"] ?? ""}..${property["maximum"] ?? ""}`);
  }
  if (property["default"] !== undefined) words.push(`=${property["default"]}`);
  return words;
}

const typeLetters: Record<string, string> = {
  string: "s",
  integer: "i",
  number: "n",
  boolean: "b",
  object: "o",
  array: "a",
};

/** Every kept field as `dotted.path[] letter`. */
function describeResult(schema: Schema, path = ""): string[] {
  const items = schema["items"] as Schema | undefined;
  if (items !== undefined) return describeResult(items, `${path}[]`);
  const properties = schema["properties"] as Record<string, Schema> | undefined;
  if (properties === undefined) return [`${path} ${typeLetters[String(schema["type"])]}`];
  return Object.entries(properties).flatMap(([key, child]) => {
    return describeResult(child, path === "" ? key : `${path}.${key}`);
  });
}
