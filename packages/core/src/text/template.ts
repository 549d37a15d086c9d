import { formatValue } from "../faults/errors.ts";
import { wholeNumber } from "../json/exact-arithmetic.ts";
import { isRawJson, type JsonNumber, scalarText } from "../json/raw-json.ts";

/** Values for the placeholders of a template, by namespace (`params`, `account`, `headers`, `body`, ...). */
export type TemplateScope = Readonly<Record<string, unknown>>;

/** A filter of the template language, with its argument if the filter has one. */
export type TemplateFilter =
  | { readonly name: "int" | "json" | "csv" | "deep" | "repeat" }
  | { readonly name: "each" | "segment"; readonly argument: string };

/** A placeholder `{{root.path | filter}}`. `text`: its source text, for messages. */
export type Placeholder = {
  readonly text: string;
  readonly root: string;
  readonly path: readonly (string | number)[];
  readonly filters: readonly TemplateFilter[];
};

/** A parsed template: `parts` are the literal texts and placeholders in order. */
export type Template = { readonly text: string; readonly parts: readonly (string | Placeholder)[] };

/** Error for a text that is not a valid template. `position`: number of characters before the error. */
export class TemplateSyntaxError extends Error {
  readonly position: number;

  constructor(reason: string, position: number) {
    super(`${reason}, at character ${position + 1}`);
    this.name = "TemplateSyntaxError";
    this.position = position;
  }
}

/** Error for a value that does not fit its placeholder in a template. */
export class TemplateValueError extends Error {
  readonly placeholder: string;
  /** The error message without the wrong value. That value may be a secret. */
  readonly plain: string;

  /**
   * Creates the error about a placeholder whose value cannot be filled in. `rule`: the end of the message, which says what is wrong.
   * `value`: if given, the message quotes it.
   */
  constructor(placeholder: Placeholder, rule: string, value?: unknown) {
    const plain = `{{${placeholder.text}}}: ${rule}`;
    super(value === undefined ? plain : `{{${placeholder.text}}}: ${formatValue(value, 60)} ${rule}`);
    this.name = "TemplateValueError";
    this.placeholder = placeholder.text;
    this.plain = plain;
  }
}

const placeholderPattern = /^([A-Za-z][\w-]*)((?:\.[\w$@-]+|\[\d{1,6}\]|\["[^"|{}]{1,100}"\])*)$/;
const filterPattern = /^(?:(int|json|csv|deep|repeat)|(each|segment)\(([\w$@-]+)\))$/;

/**
 * Parses a text with placeholders such as `{{params.id}}` or `{{headers.x-count | int}}`. Quote a name with special characters:
 * `{{body["data[id]"]}}`. Write `{{{{` for a literal `{{`. Throws TemplateSyntaxError.
 */
export function parseTemplate(text: string): Template {
  const parts: (string | Placeholder)[] = [];
  let literal = "";
  let at = 0;
  for (let open = text.indexOf("{{"); open >= 0; open = text.indexOf("{{", at)) {
    literal += text.slice(at, open);
    if (text.startsWith("{{{{", open)) {
      literal += "{{";
      at = open + 4;
      continue;
    }
    const close = text.indexOf("}}", open);
    if (close < 0) throw new TemplateSyntaxError("a placeholder is not closed with }}", open);
    if (literal !== "") parts.push(literal);
    literal = "";
    parts.push(parsePlaceholder(text.slice(open + 2, close), open));
    at = close + 2;
  }
  literal += text.slice(at);
  if (literal !== "" || parts.length === 0) parts.push(literal);
  return { text, parts };
}

function parsePlaceholder(source: string, position: number): Placeholder {
  const [path = "", ...filters] = source.split("|").map((piece) => piece.trim());
  const match = placeholderPattern.exec(path);
  if (match === null) throw new TemplateSyntaxError(`"${path}" is not a path such as params.name`, position);
  const steps = (match[2] ?? "").match(/\["[^"]+"\]|[^.[\]]+|\[\d+\]/g) ?? [];
  return {
    text: source.trim(),
    root: match[1] ?? "",
    path: steps.map(readStep),
    filters: filters.map((filter) => parseFilter(filter, position)),
  };
}

/** Returns the name or the position that a step of a path means: `name`, `["data[name]"]` or `[0]`. */
function readStep(step: string): string | number {
  if (step.startsWith('["')) return step.slice(2, -2);
  return step.startsWith("[") ? Number(step.slice(1, -1)) : step;
}

function parseFilter(source: string, position: number): TemplateFilter {
  const match = filterPattern.exec(source);
  const [, plain, named, argument] = match ?? [];
  if (plain !== undefined) return { name: plain as "int" | "json" | "csv" | "deep" | "repeat" };
  if (named !== undefined && argument !== undefined && argument !== "__proto__") {
    return { name: named as "each" | "segment", argument };
  }
  throw new TemplateSyntaxError(
    `"${source}" is not a filter: int, json, csv, deep, repeat, each(name), segment(after)`,
    position,
  );
}

/** Returns the placeholders of a template, in order. */
export function placeholdersOf(template: Template): Placeholder[] {
  return template.parts.filter((part) => typeof part !== "string");
}

/**
 * Returns a template with its placeholders filled in. If it is exactly one placeholder, the result has the type of the value. Otherwise the
 * result is a text, and every value must be a string, number or boolean. Returns `undefined` if a placeholder has no value, and in a longer
 * text also if it is null. Throws TemplateValueError.
 */
export function renderTemplate(template: Template, scope: TemplateScope): unknown {
  const [first, ...others] = template.parts;
  if (others.length === 0 && first !== undefined) {
    return typeof first === "string" ? first : lookUp(first, scope);
  }
  let text = "";
  for (const part of template.parts) {
    if (typeof part === "string") {
      text += part;
      continue;
    }
    const value = lookUp(part, scope);
    if (value === undefined || value === null) return undefined;
    const scalar = scalarText(value);
    if (scalar === undefined) {
      throw new TemplateValueError(part, "an object or a list cannot be inside a text; use | json or | csv");
    }
    text += scalar;
  }
  return text;
}

function lookUp(placeholder: Placeholder, scope: TemplateScope): unknown {
  let value = childOf(scope, placeholder.root);
  for (const step of placeholder.path) {
    if (value === undefined) return undefined;
    value = childOf(value, step);
  }
  for (const filter of placeholder.filters) {
    if (value === undefined || (value === null && filter.name !== "json")) return value;
    value = applyFilter(filter, value, placeholder);
  }
  return value;
}

/**
 * Returns the value of a property or list item; undefined if there is none. It reads only own properties, so that a path such as
 * `body.constructor` cannot reach a prototype.
 */
function childOf(value: unknown, step: string | number): unknown {
  if (typeof value !== "object" || value === null || isRawJson(value)) return undefined;
  if (value instanceof URLSearchParams) return value.get(String(step)) ?? undefined;
  if (Array.isArray(value)) return typeof step === "number" ? value[step] : undefined;
  return Object.hasOwn(value, step) ? (value as Record<string | number, unknown>)[step] : undefined;
}

function applyFilter(filter: TemplateFilter, value: unknown, placeholder: Placeholder): unknown {
  switch (filter.name) {
    case "int":
      return toInteger(value, placeholder);
    case "json":
      return JSON.stringify(value);
    case "csv":
      return toCommaSeparated(value, placeholder);
    // The value stays an object or a list. The code that writes the query or the form writes each member or item as a field.
    case "deep":
    case "repeat":
      return value;
    case "each":
      return toObjects(value, filter.argument, placeholder);
    case "segment":
      return toSegment(value, filter.argument, placeholder);
  }
}

/** Maximum digits of an integer. Longer integers have no practical use, and parsing time grows with the length. */
const integerDigitsMax = 400;

/** Returns a value as an integer. Integers beyond 2^53 - 1 become raw JSON numbers, so that all digits stay exact. */
function toInteger(value: unknown, placeholder: Placeholder): JsonNumber {
  // Adding 0 turns -0 into 0, and changes no other number.
  if (typeof value === "number" && Number.isSafeInteger(value)) return value + 0;
  const text = typeof value === "string" || isRawJson(value) ? scalarText(value) : undefined;
  if (text === undefined || !/^-?\d+$/.test(text))
    throw new TemplateValueError(placeholder, "is not an integer", value);
  if (text.length > integerDigitsMax)
    throw new TemplateValueError(placeholder, `has more than ${integerDigitsMax} digits`);
  return wholeNumber(BigInt(text));
}

function toCommaSeparated(value: unknown, placeholder: Placeholder): string {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items
    .map((item) => {
      const text = scalarText(item);
      if (text !== undefined) return text;
      throw new TemplateValueError(placeholder, "csv takes a list of strings, numbers or booleans");
    })
    .join(",");
}

function toObjects(value: unknown, key: string, placeholder: Placeholder): Record<string, unknown>[] {
  if (!Array.isArray(value)) throw new TemplateValueError(placeholder, "is not a list", value);
  return value.map((item: unknown) => ({ [key]: item }));
}

function toSegment(value: unknown, after: string, placeholder: Placeholder): string | undefined {
  if (typeof value !== "string") throw new TemplateValueError(placeholder, "is not a path or address", value);
  const segments = value.replace(/[?#].*$/s, "").split("/");
  const found = segments.indexOf(after);
  const segment = found < 0 ? undefined : segments[found + 1];
  if (segment === undefined || segment === "") return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    // decodeURIComponent throws only if the percent-encoding is malformed.
    throw new TemplateValueError(placeholder, "is not percent-encoded UTF-8", segment);
  }
}
