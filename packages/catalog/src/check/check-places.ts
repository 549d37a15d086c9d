import { isObject, type Placeholder, type TemplateTree } from "@svc/core";
import type { DefinitionFile, FaultPath } from "../read/definition-file.ts";
import type { JsonSchema } from "../read/documents.ts";

/** An argument of an action, as its input schema declares it. */
type Argument = { readonly schema: JsonSchema; readonly isRequired: boolean };

/** The arguments that an action (a tool's request) declares in its input schema, by name. */
export type DeclaredArguments = ReadonlyMap<string, Argument>;

/**
 * Checks the arguments that an action (a tool's request) declares, and records every error. The request must use each argument, and the
 * argument's type must fit its place there. `tree`: the parsed request.
 */
export function checkPlaces(file: DefinitionFile, declared: DeclaredArguments, tree: TemplateTree): void {
  const placed = new Set<string>();
  const isForm = isFormRequest(tree);
  for (const { placeholder, path, isWhole } of placesOf(tree, ["request"])) {
    if (placeholder.root !== "params") continue;
    const name = String(placeholder.path[0]);
    placed.add(name);
    const argument = declared.get(name);
    if (argument === undefined) continue;
    if (path[1] === "path" && !argument.isRequired && argument.schema.default === undefined) {
      const cure = `make ${name} required, or give it a default`;
      file.fault(path, `{{${placeholder.text}}} is optional, and a path cannot go without it`, cure);
    }
    checkType({ file, path, placeholder, isWhole, isForm }, argument.schema);
  }
  for (const [name, argument] of declared) {
    if (!placed.has(name)) checkUnplaced(file, name, argument);
  }
}

/**
 * A placeholder in a request, and the path of the text that contains it. `isWhole`: true if the text is only this placeholder, so that the
 * value keeps its type.
 */
type Place = { readonly placeholder: Placeholder; readonly path: FaultPath; readonly isWhole: boolean };

function placesOf(tree: TemplateTree, path: FaultPath): Place[] {
  switch (tree.kind) {
    case "constant":
      return [];
    case "text": {
      const { parts } = tree.template;
      const placeholders = parts.filter((part) => typeof part !== "string");
      return placeholders.map((placeholder) => ({ placeholder, path, isWhole: parts.length === 1 }));
    }
    case "object":
      return tree.entries.flatMap(([key, item]) => placesOf(item, [...path, key]));
    case "list":
      return tree.items.flatMap((item, index) => placesOf(item, [...path, index]));
  }
}

/** True if the request sends its body as a form. */
function isFormRequest(tree: TemplateTree): boolean {
  const encoding = tree.kind === "object" ? tree.entries.find(([key]) => key === "encoding")?.[1] : undefined;
  return encoding?.kind === "constant" && encoding.value === "form";
}

type PlaceInFile = Place & { readonly file: DefinitionFile; readonly isForm: boolean };

function checkType(place: PlaceInFile, schema: JsonSchema): void {
  const { file, path, placeholder } = place;
  const found = schemaAt(schema, placeholder.path.slice(1));
  if (found === undefined) {
    const cure = "name one that the argument's properties declare";
    file.fault(path, `{{${placeholder.text}}} names nothing in the argument`, cure);
    return;
  }
  const value = filteredSchema(place, found);
  if (value === undefined) return;
  if (isDeep(placeholder) && (path[1] !== "query" || path.length !== 3 || !place.isWhole)) {
    file.fault(path, `{{${placeholder.text}}} has | deep outside of a query parameter`, "remove | deep");
    return;
  }
  if (isRepeated(placeholder) && !(place.isForm && path[1] === "body" && path.length === 3 && place.isWhole)) {
    file.fault(path, `{{${placeholder.text}}} has | repeat outside of a field of a form`, "remove | repeat");
    return;
  }
  if (path[1] !== "path") {
    checkPlaceOfType(place, value);
  } else if (!typesOf(value)?.every((type) => ["string", "integer", "number"].includes(type))) {
    file.fault(path, `{{${placeholder.text}}} is not a string or number`, "a path segment is one text or number");
  }
}

/** True if a filter of the placeholder writes an object as several query parameters. */
function isDeep({ filters }: Placeholder): boolean {
  return filters.some(({ name }) => name === "deep");
}

/** True if a filter of the placeholder writes a list as several fields of a form. */
function isRepeated({ filters }: Placeholder): boolean {
  return filters.some(({ name }) => name === "repeat");
}

/** For each filter of placeholders (a function such as `csv` that changes the value), the schema of its result for valid values. */
const filterResults: Readonly<Record<Filter, JsonSchema>> = {
  int: { type: "integer" },
  json: { type: "string" },
  csv: { type: "string" },
  segment: { type: "string" },
  each: { type: "array", items: { type: "object" } },
  deep: {},
  repeat: {},
};

/**
 * Returns the schema of the value that a placeholder has after its filters (such as `json` or `int`) have converted it. If a filter cannot
 * accept the value, records an error and returns undefined.
 */
function filteredSchema({ file, path, placeholder }: PlaceInFile, schema: JsonSchema): JsonSchema | undefined {
  let value = schema;
  for (const { name } of placeholder.filters) {
    const fault = faultOfFilter(name, value);
    if (fault !== undefined) {
      file.fault(path, `{{${placeholder.text}}} ${fault[0]}`, fault[1]);
      return undefined;
    }
    value = filterResults[name];
  }
  return value;
}

type Filter = Placeholder["filters"][number]["name"];

/**
 * Returns the reason why a placeholder's filter (such as `csv`) cannot accept a value, as [reason, correction]. Undefined if the filter can
 * accept the value, or if the value's schema does not limit its type.
 */
function faultOfFilter(name: Filter, schema: JsonSchema): readonly [reason: string, cure: string] | undefined {
  const types = typesOf(schema);
  if (types === undefined) return undefined;
  const isOnly = (...allowed: string[]) => types.every((type) => allowed.includes(type) || type === "null");
  if (name === "each" && !isOnly("array")) {
    return ["makes an object of every item, and the argument is not a list", "remove | each, or write type: array"];
  }
  if (name === "csv" && (types.includes("object") || holdsLists(schema))) {
    return ["joins texts, and the argument holds objects or lists", "write | json instead of | csv"];
  }
  if (name === "int" && !isOnly("string", "integer", "number")) {
    return ["makes an integer, and the argument is not a text or number", "remove | int"];
  }
  if (name === "deep" && !isOnly("object", "array")) {
    return ["writes the members of an object, and the argument is a single value", "remove | deep"];
  }
  if (name === "segment" && !isOnly("string")) {
    return ["takes a segment of an address, and the argument is not a text", "remove | segment"];
  }
  return undefined;
}

/**
 * Checks that a placeholder's value can be written where a tool's request uses it. In a body, any JSON value is allowed. In a text, the
 * query or a header, the value must have a type that can be written as text.
 */
function checkPlaceOfType({ file, path, placeholder, isWhole }: PlaceInFile, schema: JsonSchema): void {
  const types = typesOf(schema) ?? [];
  const fault = (reason: string, cure: string) => file.fault(path, `{{${placeholder.text}}} ${reason}`, cure);
  if (!isWhole) {
    if (types.includes("object")) fault("is an object inside a text", "write | json, or use the placeholder alone");
    else if (types.includes("array"))
      fault("is a list inside a text", "write | csv or | json, or use the placeholder alone");
  } else if (path[1] === "query" || path[1] === "headers") {
    if (types.includes("object") || holdsLists(schema))
      fault(
        `is an object in ${path[1]}`,
        path[1] === "query" ? "write | json, or | deep for name[member]=value" : "write | json",
      );
  }
}

/** True if an item of the list can be an object or a list. */
function holdsLists({ items }: JsonSchema): boolean {
  const types = isObject(items) ? typesOf(items) : undefined;
  return types?.some((type) => type === "object" || type === "array") ?? false;
}

function typesOf({ type }: JsonSchema): readonly string[] | undefined {
  return type === undefined ? undefined : [type].flat().map(String);
}

/** Returns the schema at a path. Returns `{}` if the schema does not describe the path; undefined if no value can exist there. */
function schemaAt(schema: JsonSchema, path: readonly (string | number)[]): JsonSchema | undefined {
  let node = schema;
  for (const step of path) {
    const isIndex = typeof step === "number";
    if (!isIndex && isObject(node.properties) && !Object.hasOwn(node.properties, step)) return undefined;
    const child = isIndex ? node.items : isObject(node.properties) ? node.properties[step] : undefined;
    node = isObject(child) ? child : {};
  }
  return node;
}

/**
 * Records an error for a tool's argument that the tool's request does not use. An argument with `x-host` becomes a part of the app's host
 * name. It is allowed, but only if its schema has a pattern.
 */
function checkUnplaced(file: DefinitionFile, name: string, { schema, isRequired }: Argument): void {
  const path = ["input", "properties", name];
  if (schema["x-host"] === true) {
    if (typeof schema.pattern === "string") return;
    file.fault(path, "fills a host label and has no pattern", "add a pattern of DNS labels");
  } else if (isRequired) {
    const cure = `place {{params.${name}}} in path, query, headers or body`;
    file.fault(path, "is required, and no part of the request carries it", cure);
  } else {
    file.fault(
      path,
      "is accepted, but the request does not send it",
      `place {{params.${name}}}, or remove the argument`,
    );
  }
}
