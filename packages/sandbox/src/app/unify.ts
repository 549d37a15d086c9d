import { isDeepStrictEqual } from "node:util";
import type { JsonSchema } from "@svc/catalog";
import {
  isObject,
  isRawJson,
  type Placeholder,
  parseExactJson,
  scalarText,
  type Template,
  type TemplateFilter,
  type TemplateTree,
  wholeNumber,
} from "@svc/core";
import { itemsOf, propertiesOf, readScalar } from "./refusal.ts";

/**
 * Finds the arguments from which a request was made, by comparing the request with its template, part by part. This class does not share
 * code with the part of svc that fills in templates. So a mistake in that part shows as a difference between the arguments of the call and
 * the arguments found here.
 */
export class Unifier {
  readonly faults: string[] = [];
  /** Arguments of the call that were found so far, by name. */
  readonly args: Record<string, unknown> = {};
  /** Names of arguments that arrived in JSON with their own type, so they did not have to be converted from text. */
  readonly exact = new Set<string>();
  readonly #schemas: ReadonlyMap<string, JsonSchema>;
  readonly #required: ReadonlySet<string>;

  constructor(inputSchema: JsonSchema) {
    this.#schemas = new Map(propertiesOf(inputSchema));
    const required = inputSchema["required"];
    this.#required = new Set(Array.isArray(required) ? required.map(String) : []);
  }

  /** Takes over the arguments that `other` has found in the request. */
  adopt(other: Unifier): void {
    for (const [name, value] of Object.entries(other.args)) define(this.args, name, value);
  }

  /** Reads a JSON value. `place`: name of the value in fault texts. `value` is undefined if the value is missing. */
  json(tree: TemplateTree, value: unknown, place: string): void {
    if (value === undefined) this.#absent(tree, place);
    else if (tree.kind === "text") this.#text(tree.template, value, place, true);
    else if (tree.kind === "object") this.#object(tree.entries, value, place);
    else if (tree.kind === "list") this.#list(tree.items, value, place);
    else if (!isDeepStrictEqual(value, tree.value)) this.#fault(place, `must be ${JSON.stringify(tree.value)}`);
  }

  /**
   * Reads a value that arrived as fields of a form, so every scalar in it is a text. `place`: name of the value in fault texts. `value` is
   * undefined if the value is missing.
   */
  form(tree: TemplateTree, value: unknown, place: string): void {
    if (value === undefined) this.#absent(tree, place);
    else if (tree.kind === "text") this.#text(tree.template, value, place, false);
    else if (tree.kind === "constant" && String(tree.value) !== value) {
      this.#fault(place, `must be ${JSON.stringify(tree.value)}`);
    } else if (tree.kind === "object" || tree.kind === "list") {
      const trees =
        tree.kind === "object" ? tree.entries : tree.items.map((item, index) => [String(index), item] as const);
      const given = isObject(value) || Array.isArray(value) ? Object.entries(value) : [];
      for (const [key] of given.filter(([name]) => trees.every(([known]) => known !== name)))
        this.#fault(placeOf(place, key), "is not known here");
      const fields = new Map(given);
      for (const [key, item] of trees) this.form(item, fields.get(key), placeOf(place, key));
    }
  }

  /**
   * Reads the texts of one query parameter or header. Records a fault if they do not fit `tree`, the template of the parameter or header.
   */
  texts(tree: TemplateTree, values: readonly string[], place: string): void {
    if (values.length === 0) this.#absent(tree, place);
    else if (tree.kind === "text") this.#listOrText(tree.template, values, place);
    else if (tree.kind === "list") this.#textList(tree.items, values, place);
    else if (tree.kind === "object") this.#fault(place, "cannot be an object");
    else {
      const wanted = [tree.value].flat().map(String);
      if (!isDeepStrictEqual(wanted, [...values])) this.#fault(place, `must be ${wanted.join(", ")}`);
    }
  }

  #listOrText(template: Template, values: readonly string[], place: string): void {
    const [only, ...others] = template.parts;
    const isList = others.length === 0 && typeof only === "object" && only.root === "params" && this.#isList(only);
    if (isList) this.#bind(only, values);
    else if (values.length > 1) this.#fault(place, "may be given only once");
    else this.#text(template, values[0] ?? "", place, false);
  }

  #textList(trees: readonly TemplateTree[], values: readonly string[], place: string): void {
    const items = alignItems(trees, values);
    if (items === undefined) this.#fault(place, "has other values than the call takes");
    for (const [tree, value] of items ?? []) this.texts(tree, value === undefined ? [] : [value], place);
  }

  /**
   * Compares one text of a request with a template that has fixed pieces and placeholders. Stores the values of the placeholders. Records a
   * fault if the text does not have the form of the template.
   */
  text(template: Template, value: string, place: string): void {
    this.#text(template, value, place, false);
  }

  #text(template: Template, value: unknown, place: string, isJson: boolean): void {
    const [only] = template.parts;
    if (template.parts.length === 1 && typeof only === "object") {
      this.#single(only, value, place, isJson);
      return;
    }
    const texts = typeof value === "string" ? splitText(template, value) : undefined;
    if (texts === undefined) this.#fault(place, `must have the form ${template.text}`);
    for (const [placeholder, text] of texts ?? []) this.#single(placeholder, text, place, false);
  }

  #single(placeholder: Placeholder, value: unknown, place: string, isJson: boolean): void {
    if (placeholder.root !== "params") return;
    try {
      this.#bind(placeholder, isJson && placeholder.filters.length === 0 ? value : this.#undo(placeholder, value));
      const [name] = placeholder.path;
      if (isJson && placeholder.filters.length === 0 && placeholder.path.length === 1) this.exact.add(String(name));
    } catch (error) {
      if (!(error instanceof UndoError)) throw error;
      this.#fault(place, error.message);
    }
  }

  #object(entries: readonly (readonly [string, TemplateTree])[], value: unknown, place: string): void {
    if (!isObject(value)) {
      this.#fault(place, "must be an object");
      return;
    }
    const known = new Set(entries.map(([key]) => key));
    for (const key of Object.keys(value)) if (!known.has(key)) this.#fault(placeOf(place, key), "is not known here");
    for (const [key, item] of entries) {
      this.json(item, Object.hasOwn(value, key) ? value[key] : undefined, placeOf(place, key));
    }
  }

  #list(trees: readonly TemplateTree[], value: unknown, place: string): void {
    const items = Array.isArray(value) ? alignItems(trees, value) : undefined;
    if (items === undefined) this.#fault(place, `must be a list of ${trees.length}`);
    items?.forEach(([tree, item], index) => {
      this.json(tree, item, `${place}[${index}]`);
    });
  }

  /**
   * Adds a fault for each required part of a missing value. Constants are required. A text is optional only if it uses an optional
   * argument.
   */
  #absent(tree: TemplateTree, place: string): void {
    if (tree.kind === "object") {
      for (const [key, item] of tree.entries) this.#absent(item, placeOf(place, key));
    } else if (tree.kind === "list") {
      for (const [index, item] of tree.items.entries()) this.#absent(item, `${place}[${index}]`);
    } else if (tree.kind === "constant" || !this.#mayBeAbsent(tree.template)) this.#fault(place, "is required");
  }

  #mayBeAbsent({ parts }: Template): boolean {
    return parts.some((part) => typeof part !== "string" && this.#isOptional(part));
  }

  #isOptional(placeholder: Placeholder): boolean {
    return placeholder.root !== "params" || placeholder.path.length > 1 || !this.#required.has(nameOf(placeholder));
  }

  #isList(placeholder: Placeholder): boolean {
    const types = this.#schemaOf(placeholder)["type"];
    return placeholder.filters.length === 0 && (types === "array" || (Array.isArray(types) && types.includes("array")));
  }

  #schemaOf({ path }: Placeholder): JsonSchema {
    let schema: JsonSchema = this.#schemas.get(String(path[0])) ?? {};
    for (const step of path.slice(1)) {
      schema = typeof step === "number" ? itemsOf(schema) : (new Map(propertiesOf(schema)).get(step) ?? {});
    }
    return schema;
  }

  /**
   * Returns the argument from which a value in the app's request was made. It reverses the filters of the template's placeholder. A value
   * that arrived as text is converted to the argument's type.
   */
  #undo(placeholder: Placeholder, value: unknown): unknown {
    const schema = this.#schemaOf(placeholder);
    const filters = placeholder.filters.toReversed();
    if (filters.length === 0) return readTyped(value, schema);
    return filters.reduce((held, filter) => undoFilter(filter, held, schema), value);
  }

  /** Stores the value of an argument. If a list arrived as texts, its items are first converted to their types. */
  #bind(placeholder: Placeholder, value: unknown): void {
    const items = itemsOf(this.#schemaOf(placeholder));
    const isTexts =
      Array.isArray(value) && this.#isList(placeholder) && value.every((item) => typeof item === "string");
    const typed = isTexts ? (value as string[]).map((item) => readScalar(item, items)) : value;
    const [name = "", ...steps] = placeholder.path;
    if (steps.length === 0) define(this.args, String(name), typed);
    else if (steps.every((step) => typeof step === "string")) bindInside(this.args, [String(name), ...steps], typed);
  }

  #fault(place: string, what: string): void {
    this.faults.push(`${place} ${what}`);
  }
}

function placeOf(place: string, key: string): string {
  return place === "" ? key : `${place}.${key}`;
}

function nameOf(placeholder: Placeholder): string {
  return String(placeholder.path[0]);
}

/** Sets an own property of `target`. A plain assignment would not do this for the name `__proto__`. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}

function bindInside(target: Record<string, unknown>, [name = "", ...steps]: readonly string[], value: unknown): void {
  if (steps.length === 0) {
    define(target, name, value);
    return;
  }
  const held = Object.hasOwn(target, name) ? target[name] : undefined;
  const inner: Record<string, unknown> = isObject(held) ? held : {};
  define(target, name, inner);
  bindInside(inner, steps, value);
}

class UndoError extends Error {}

function undoFilter(filter: TemplateFilter, value: unknown, schema: JsonSchema): unknown {
  switch (filter.name) {
    case "int":
      return readInteger(value);
    case "json":
      return parseJson(value);
    case "csv": {
      if (typeof value !== "string") return wrong("must be a text with commas");
      const types = [schema["type"]].flat();
      if (!types.includes("array")) return value;
      return value === "" ? [] : value.split(",").map((item) => readScalar(item, itemsOf(schema)));
    }
    case "each":
      if (!Array.isArray(value)) return wrong("must be a list");
      return value.map((item) => {
        if (isObject(item) && Object.keys(item).length === 1 && Object.hasOwn(item, filter.argument))
          return item[filter.argument];
        return wrong(`must hold objects with ${filter.argument} alone`);
      });
    case "deep":
      return readTyped(value, schema);
    case "repeat":
      return readTyped([schema["type"]].flat().includes("array") ? [value].flat() : value, schema);
    case "segment":
      // The filter `segment` keeps only one part between the slashes of an argument. The original argument cannot be found, because the
      // rest of it is lost.
      return value;
  }
}

/** Returns a value of a form with its texts converted to the types that the schema names. */
function readTyped(value: unknown, schema: JsonSchema): unknown {
  if (typeof value === "string") return readScalar(value, schema);
  if (Array.isArray(value)) return value.map((item) => readTyped(item, itemsOf(schema)));
  if (!isObject(value)) return value;
  const properties = new Map(propertiesOf(schema));
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, readTyped(child, properties.get(name) ?? {})]),
  );
}

function readInteger(value: unknown): unknown {
  const text = scalarText(value) ?? "";
  if (/^-?\d+$/.test(text)) return wholeNumber(BigInt(text));
  return !isRawJson(value) && Number.isInteger(Number(value)) ? Number(value) : wrong("must be an integer");
}

function parseJson(value: unknown): unknown {
  try {
    return parseExactJson(String(value));
  } catch {
    // The text is not JSON, or is nested more deeply than in any call. JSON.parse throws for no other reason.
    return wrong("must be JSON text");
  }
}

function wrong(what: string): never {
  throw new UndoError(what);
}

/**
 * Splits a text at the fixed parts of a template, and returns each placeholder with the text at its position. The text must start with the
 * first fixed part and end with the last one. The fixed parts between them are matched at their first occurrence. Takes linear time.
 * Returns undefined if the text does not match.
 */
function splitText({ parts }: Template, text: string): [Placeholder, string][] | undefined {
  const found: [Placeholder, string][] = [];
  let at = 0;
  let open: Placeholder | undefined;
  for (const [index, part] of parts.entries()) {
    if (typeof part !== "string") {
      if (open !== undefined) found.push([open, ""]);
      open = part;
      continue;
    }
    const isLast = index === parts.length - 1;
    const start = open === undefined ? at : isLast ? text.length - part.length : text.indexOf(part, at);
    if (start < at || !text.startsWith(part, start)) return undefined;
    if (open !== undefined) found.push([open, text.slice(at, start)]);
    open = undefined;
    at = start + part.length;
  }
  if (open !== undefined) found.push([open, text.slice(at)]);
  else if (at !== text.length) return undefined;
  return found;
}

/**
 * Assigns the received items, in order, to the item templates of the tool's definition. A template without a fitting item is skipped.
 * Returns undefined if there are more items than templates.
 */
function alignItems<T>(
  trees: readonly TemplateTree[],
  items: readonly T[],
): [TemplateTree, T | undefined][] | undefined {
  if (items.length > trees.length) return undefined;
  let spare = trees.length - items.length;
  let at = 0;
  return trees.map((tree) => {
    const item = items[at];
    const isSkipped = spare > 0 && (at >= items.length || !mayBe(tree, item));
    if (isSkipped) spare -= 1;
    else at += 1;
    return [tree, isSkipped ? undefined : item];
  });
}

/** True if a value has the form of a template: the same constants, and values of the same kinds. */
function mayBe(tree: TemplateTree, value: unknown): boolean {
  switch (tree.kind) {
    case "constant":
      return isDeepStrictEqual(tree.value, value) || String(tree.value) === value;
    case "text":
      return true;
    case "object":
      return (
        isObject(value) && tree.entries.every(([key, item]) => !Object.hasOwn(value, key) || mayBe(item, value[key]))
      );
    case "list":
      return Array.isArray(value);
  }
}
