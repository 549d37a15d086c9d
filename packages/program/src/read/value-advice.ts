import { isObject } from "@svc/core";
import type { JsonObject, JsonValue } from "../json.ts";
import { translated } from "./cel-advice.ts";
import { parseExpression } from "./cel-calls.ts";
import { parsePath, referenceRoots } from "./reference.ts";

/** Maximum number of characters of a program's text that a hint quotes. */
const repeatedMax = 300;

/**
 * Keys of other workflow languages that users write by mistake, so that an error can say what to write. The first set has keys for
 * expressions, the next sets have keys for joined texts, paths and times.
 */
const expressionKeys = new Set(["$expr", "$expression", "$eval", "$js", "$jsonata", "$jq", "$fn", "$compute"]);
const joinKeys = new Set(["$concat", "$join", "$template", "$format", "Fn::Join", "Fn::Sub", "$string"]);
const pathKeys = new Set(["$var", "$path", "$get", "$param", "$params", "$input", "$step", "$steps", "$row", "$from"]);
const timeKeys = new Set(["now", "$now", "$today", "$timestamp", "$currentDate"]);

/**
 * Returns true if an object in a program looks like a computed value of another workflow language: its only key is a key such as `$var` or
 * `$expr`. The error message can then explain the form that svc uses. Keys that are operators of filters do not count.
 */
export function isForeignForm(value: JsonObject): boolean {
  const [key, ...others] = Object.keys(value);
  if (key === undefined || others.length > 0 || key === "now") return false;
  return [expressionKeys, joinKeys, pathKeys, timeKeys].some((keys) => keys.has(key));
}

/**
 * Returns advice for a value that the author wrote in the form of another workflow language: the form to write in a program. Returns
 * undefined if svc does not know the other form.
 */
export function meantForm(value: JsonValue | undefined): string | undefined {
  if (typeof value === "string") return undefined;
  if (Array.isArray(value)) return joined(value as readonly JsonValue[]);
  if (!isObject(value)) return undefined;
  const [key = ""] = Object.keys(value);
  const inner: JsonValue | undefined = value[key];
  if (timeKeys.has(key)) return form("$cel", "now");
  if (key === "$cel" && typeof inner === "string") return form("$cel", inner);
  if (key === "$ref" && typeof inner === "string") return form("$text", `{${inner}}`);
  if (typeof inner === "string" && expressionKeys.has(key)) return form("$cel", translated(inner) ?? inner);
  if (typeof inner === "string" && pathKeys.has(key)) return form("$ref", pathOfWords(inner) ?? "steps.fetch.id");
  if (typeof inner === "string" && joinKeys.has(key)) return textForm(inner);
  if (Array.isArray(inner) && joinKeys.has(key)) return joined(flat(inner as readonly JsonValue[]));
  return undefined;
}

function form(name: "$cel" | "$ref" | "$text", text: string): string {
  return JSON.stringify({ [name]: text.slice(0, repeatedMax) });
}

/**
 * Returns the texts that `Fn::Join` (a function of another language) joins, with its separator between them. Returns any other list
 * unchanged.
 */
function flat(items: readonly JsonValue[]): readonly JsonValue[] {
  const [first, second, ...rest] = items;
  if (typeof first !== "string" || !Array.isArray(second) || rest.length > 0) return items;
  const parts: readonly JsonValue[] = second;
  return parts.flatMap((part, index) => (index === 0 || first === "" ? [part] : [first, part]));
}

/** Returns the correct form for a text that a program has as a list of parts. A hint shows this form to the author. */
function joined(items: readonly JsonValue[]): string | undefined {
  const parts = items.map((item): { text: string } | { path: string } | { cel: string } | undefined => {
    if (typeof item === "string") return { text: item };
    if (!isObject(item)) return undefined;
    const { $ref, $cel } = item;
    if (typeof $ref === "string") return { path: $ref };
    if (typeof $cel === "string") return { cel: $cel };
    return timeKeys.has(Object.keys(item)[0] ?? "") ? { cel: "now" } : undefined;
  });
  const known = parts.flatMap((part) => part ?? []);
  // The hint does not quote plain parts of the text, because they may be sensitive.
  if (known.length < parts.length || known.every((part) => "text" in part)) return undefined;
  if (known.some((part) => "cel" in part)) {
    const terms = known.map((part) => {
      return "text" in part ? JSON.stringify(part.text) : `string(${"path" in part ? part.path : part.cel})`;
    });
    const computed = terms.join(" + ");
    return "fault" in parseExpression(computed) ? undefined : form("$cel", computed);
  }
  const texts = known.map((part) =>
    "text" in part ? part.text.replaceAll("{", "{{") : "path" in part ? `{${part.path}}` : "",
  );
  return form("$text", texts.join(""));
}

/** Pattern for names that other workflow languages use for the current row, at the start of a path. */
const rowWords = /^(?:\$?(?:json|item|it|this|record|each|element|entry|self))\.(?=[A-Za-z_])/;

/**
 * Converts a path in the form of another workflow language (for example `$.item.name`) to the form of a program's path. Returns undefined
 * if svc does not know the form.
 */
export function pathOfWords(text: string): string | undefined {
  const bare = text
    .trim()
    .replace(/^#?\/(?=[A-Za-z])/, "")
    .replace(/^\$\.?(?=[A-Za-z])/, "");
  const dotted = (bare.includes("/") ? bare.replaceAll("/", ".") : bare).replaceAll(/\[['"](\w+)['"]\]/g, ".$1");
  const meant = dotted
    .replace(rowWords, "row.")
    .replace(/^(\w+)\.(?:output|outputs|result|response|answer)\.(?=\w)/, "steps.$1.");
  const [root] = parsePath(meant) ?? [];
  return typeof root === "string" && referenceRoots.has(root) && meant !== text ? meant : undefined;
}

/**
 * Returns the correct form for two kinds of wrong paths in a program. The first kind are paths to the event that started the program. The
 * second kind are paths that continue after the name of a set (list of rows). Returns undefined for all other paths.
 */
export function hintOfForeign(text: string): string | undefined {
  const [, set, field] = /^rows\.(\w{1,64})(?:\[\d{1,6}\])?(?:\.(\w{1,64}))?/.exec(text) ?? [];
  if (set !== undefined) return hintOfSetField(set, field);
  if (!/^(?:event|events|fire)\b/.test(text)) return undefined;
  const path = text.slice(0, repeatedMax);
  const name = /(\w+)$/.exec(path)?.[1] ?? "value";
  const schema = `"inputSchema": {"type": "object", "required": ["${name}"], "properties": {"${name}": {}}}`;
  return `write "input": {"${name}": {"$ref": "${path}"}} in the standing definition, next to program; in the program ${schema}, and input.${name} here`;
}

/**
 * Returns a hint for a program that reads a field of a set (list of rows) outside a step that processes the set's rows one by one. The hint
 * says how to get the field.
 */
export function hintOfSetField(set: string, field = "id"): string {
  const list = `{"id": "found", "reduce": "${set}", "as": {"${field}": "list ${field}"}}`;
  return `rows.${set} is the number of rows in the set: make a value of them, ${list} and "steps.found.${field}[0]" for the first, or "sum ${field}" for a total; or name row.${field} in a map, compute or filter of ${set}`;
}

/**
 * Returns a correct form for a `$text` whose braces contain more than a plain path (for example a sum). Returns undefined if the text has
 * no braces, or if svc cannot understand their content.
 */
export function textForm(text: string): string | undefined {
  if (text.length > repeatedMax) return undefined;
  const parts = text.split(/\{([^{}]*)\}/);
  const [, first] = parts;
  if (first === undefined) return undefined;
  const inner = parts.map((part, index) => (index % 2 === 0 ? undefined : innerOf(part.trim())));
  if (parts.some((_part, index) => index % 2 === 1 && inner[index] === undefined)) return undefined;
  if (inner.every((one) => one === undefined || "path" in one)) {
    const paths = parts.map((part, index) => {
      const one = inner[index];
      return one === undefined ? part : `{${"path" in one ? one.path : ""}}`;
    });
    return form("$text", paths.join(""));
  }
  const terms = parts.flatMap((part, index) => {
    const one = inner[index];
    if (one !== undefined) return [`string(${"path" in one ? one.path : one.cel})`];
    return part === "" ? [] : [JSON.stringify(part)];
  });
  return form("$cel", terms.join(" + "));
}

/** Reads the `$cel` or `$ref` that an author wrote inside braces, such as `{$ref: input.id}`. Returns an empty object if there is none. */
function formIn(written: string): { readonly $cel?: string | undefined; readonly $ref?: string | undefined } {
  const bare = /^\$?(cel|ref)(?:\s*:\s*(.+)|\((.+)\))$/s.exec(written);
  if (bare !== null) return { [`$${bare[1]}`]: bare[2] ?? bare[3] };
  if (!/^"\$(?:cel|ref)"/.test(written)) return {};
  try {
    const { $cel, $ref } = JSON.parse(`{${written}}`) as JsonObject;
    return { $cel: typeof $cel === "string" ? $cel : undefined, $ref: typeof $ref === "string" ? $ref : undefined };
  } catch {
    return {};
  }
}

/** Returns the content of a pair of braces, as a `path` or as an expression (`cel`). */
function innerOf(written: string): { readonly path: string } | { readonly cel: string } | undefined {
  const { $cel: marked, $ref: named } = formIn(written);
  const text = marked ?? named ?? written;
  const size =
    /^(?:size|len|count|length)\((?:rows\.|steps\.)?(\w+)\)$/.exec(text) ?? /^(\w+)\.(?:length|size|count)$/.exec(text);
  if (size?.[1] !== undefined && !referenceRoots.has(size[1])) return { path: `rows.${size[1]}` };
  const [root] = parsePath(text) ?? [];
  if (typeof root === "string" && referenceRoots.has(root)) return { path: text };
  const path = pathOfWords(text);
  if (path !== undefined) return { path };
  const cel = (translated(text) ?? text).replaceAll(/(?<![\w.])(\d{1,15})(?![\w.])(?=\s*[-+*/]|\s*$)/g, "$1.0");
  const isKnown =
    marked !== undefined ||
    /(?<![\w.])now\b/.test(cel) ||
    new RegExp(`\\b(?:${[...referenceRoots].join("|")})\\.`).test(cel);
  return isKnown && !("fault" in parseExpression(cel)) ? { cel } : undefined;
}

const comparisons: Readonly<Record<string, string>> = {
  $eq: "==",
  $ne: "!=",
  $gt: ">",
  $gte: ">=",
  $lt: "<",
  $lte: "<=",
  eq: "==",
  gt: ">",
  lt: "<",
};

/** Returns a hint for an author whose condition is not a text. The hint says what to write instead. */
export function conditionForm(value: JsonValue | undefined): string {
  const meant = meantCondition(value);
  return meant === undefined
    ? 'write a CEL expression, such as "row.value > 100.0 && row.status == \'open\'" or "rows.open > 0"'
    : `write ${JSON.stringify(meant.slice(0, repeatedMax))}`;
}

function meantCondition(value: JsonValue | undefined): string | undefined {
  if (typeof value === "boolean") return String(value);
  if (typeof value === "string") return value === "" ? undefined : value;
  if (Array.isArray(value)) {
    const parts = (value as readonly JsonValue[]).map(meantCondition);
    return parts.length > 0 && parts.every((part) => part !== undefined) ? parts.join(" && ") : undefined;
  }
  if (!isObject(value)) return undefined;
  for (const name of ["$cel", "$expr", "condition", "expression", "expr", "if", "where", "when"]) {
    if (typeof value[name] === "string") return translated(value[name]) ?? value[name];
  }
  if (typeof value.$ref === "string") return value.$ref.startsWith("rows.") ? `${value.$ref} > 0` : value.$ref;
  const tests = Object.entries(value).map(([field, test]) => {
    const [[name = "", other] = []] = isObject(test) ? Object.entries(test) : [];
    const by = Object.hasOwn(comparisons, name) ? comparisons[name] : undefined;
    const of = by === undefined ? test : other;
    return /^[a-z_]\w*$/.test(field) && isScalar(of) ? `row.${field} ${by ?? "=="} ${celOf(of)}` : undefined;
  });
  return tests.length > 0 && tests.every((test) => test !== undefined) ? tests.join(" && ") : undefined;
}

function isScalar(value: JsonValue | undefined): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** Returns a scalar value in the syntax of CEL. JSON numbers become doubles. */
function celOf(value: string | number | boolean): string {
  if (typeof value === "string") return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
