import type { Action, JsonSchema } from "@svc/catalog";
import {
  isObject,
  isRawJson,
  type JsonObject,
  LeastRecentlyUsed,
  parseExactJson,
  parseTemplate,
  renderTemplate,
  scalarText,
} from "@svc/core";
import type { CallResult } from "../../outcome.ts";
import { sensitiveNames } from "../redact/mask.ts";

/** Values that a text is read of, as many as an answer. */
const valuesMax = 200_000;

/** The object that a text holds as JSON, where a schema wants an object and no text; undefined where it does not, or the text has none. */
function objectOfText(schema: JsonSchema, text: string): JsonObject | undefined {
  if (!wantsObjectAlone(schema) || !/^\s*\{/.test(text)) return undefined;
  try {
    const value = parseExactJson(text, { valuesMax });
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    // A text that is no JSON, or too much of it, stays the text that it is.
    return undefined;
  }
}

/**
 * The object that a bare text, number or boolean stands for, where a schema wants an object of one property that is none itself: an app
 * that answers the id of what it changed means `{id}`. Undefined for anything else. A number that is wanted as text becomes one.
 */
function objectOfScalar(schema: JsonSchema, value: unknown): JsonObject | undefined {
  const text = scalarText(value);
  if (text === undefined || !wantsObjectAlone(schema) || !isObject(schema.properties)) return undefined;
  const [only, ...others] = Object.entries(schema.properties);
  if (only === undefined || others.length > 0) return undefined;
  const [name, property] = only;
  const types = isObject(property) ? [property.type ?? []].flat() : [];
  if (types.includes("object") || types.includes("array")) return undefined;
  const isText = types.includes("string") && types.every((type) => type === "string" || type === "null");
  return { [name]: isText ? text : value } as JsonObject;
}

function wantsObjectAlone({ type, properties }: JsonSchema): boolean {
  const types = [type ?? (isObject(properties) ? "object" : [])].flat();
  return types.includes("object") && !types.includes("string");
}

/**
 * Keeps of a value what an output schema names. An object without `properties`, or a list without `items`, is kept whole, and so
 * is null and every value of another type than declared: telling that is validation's part. JSON text of an object, where an object
 * is declared, is that object; one that has nothing of what is named is kept whole, since nobody else says what the app meant by it.
 */
export function trim(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return isObject(items) ? value.map((item: unknown) => trim(items, item)) : value;
  }
  if (typeof value === "string") return trimText(schema, value);
  const { properties } = schema;
  if (!isObject(value) || !isObject(properties)) return value;
  const named = Object.entries(properties).filter(([name]) => Object.hasOwn(value, name));
  // Not by assignment: a property may be named __proto__.
  return Object.fromEntries(
    named.map(([name, child]) => [name, isObject(child) ? trim(child, value[name]) : value[name]]),
  );
}

function trimText(schema: JsonSchema, text: string): unknown {
  const object = objectOfText(schema, text);
  if (object === undefined) return text;
  const trimmed = trim(schema, object);
  if (!isObject(trimmed) || Object.keys(trimmed).length > 0) return trimmed;
  // Where something is sensitive, a text is masked whole, and what is under other names would not be.
  return sensitiveNames(schema).length > 0 ? text : object;
}

/**
 * The result in the body of a good answer: unwrapped, named, trimmed to the output schema, with a warning when it misses it.
 * `body` is undefined when there is none.
 */
export function readPayload(action: Action, body: unknown): Pick<CallResult, "value" | "warnings"> {
  const { unwrap, under, empty } = action.response;
  const payload = unwrap === "" ? body : valueAt(body, unwrap);
  const presented = under === "" || payload === undefined || isObject(payload) ? payload : { [under]: payload };
  const trimmed = presented === undefined || presented === null ? undefined : trim(action.outputSchema, presented);
  const named = objectOfScalar(action.outputSchema, trimmed);
  const kept = named ?? trimmed;
  // What `empty` says is said of no other answer: one that has something else may tell of an error.
  const value = body === undefined ? (empty ?? {}) : (kept ?? {});
  const unnamed = isNothing(kept, action.outputSchema) ? unnamedWarning(payload === undefined ? body : payload) : [];
  const warnings = [...unnamed, ...judgeResult(action, value)];
  return { value, warnings: warnings.length === 0 && named !== undefined ? [bareWarning(named)] : warnings };
}

const namesMax = 5;

/** A warning for an answer that has something, and nothing of what the result names. */
function unnamedWarning(content: unknown): string[] {
  const names = isObject(content) ? Object.keys(content) : [];
  const hasContent = isObject(content) ? names.length > 0 : content !== undefined && content !== null;
  if (!hasContent) return [];
  // Other names may be values: of people, or of files.
  const shown = names.filter((name) => /^[A-Za-z_]\w{0,39}$/.test(name)).slice(0, namesMax);
  const there = shown.length === 0 ? "" : `; it has ${shown.join(", ")}`;
  return [`output_mismatch: the answer has none of the fields that the result names${there}`];
}

/** A warning where a result does not have the documented form. */
export function judgeResult(action: Action, value: unknown): readonly string[] {
  const faults = action.validateOutput(judgedPart(value));
  if (faults.length === 0) return [];
  const places = faults
    .slice(0, 3)
    .map(({ pointer, message }) => `${pointer === "" ? "the result" : pointer} ${message}`);
  return [`output_mismatch: the answer does not have the documented form: ${places.join("; ")}`];
}

function bareWarning(named: object): string {
  return `output_mismatch: the app answered a bare value; it stands under ${Object.keys(named).join()}`;
}

/** Whether the schema names nothing of an answer. */
function isNothing(kept: unknown, schema: JsonSchema): boolean {
  if (kept === undefined) return true;
  if (!isObject(kept)) return false;
  return Object.keys(kept).length === 0 && schema.properties !== undefined;
}

/** Validation lists every fault: of an answer of millions of wrong items that would fill the memory. */
const judgedMax = 20_000;

/**
 * What of a value is judged: of long lists their beginning, 20,000 values in all. Validation knows no raw JSON either: an integer
 * of many digits is judged by its nearest double. Nearly always it is the value itself.
 */
function judgedPart(value: unknown): unknown {
  return isJudgedWhole(value, { left: judgedMax }) ? value : cutForJudging(value);
}

function isJudgedWhole(value: unknown, count: { left: number }): boolean {
  count.left--;
  if (count.left <= 0) return false;
  if (typeof value !== "object" || value === null) return true;
  if (isRawJson(value)) return false;
  for (const child of Object.values(value)) if (!isJudgedWhole(child, count)) return false;
  return true;
}

function cutForJudging(value: unknown): unknown {
  let left = judgedMax;
  const visit = (node: unknown): unknown => {
    left--;
    if (typeof node !== "object" || node === null) return node;
    if (isRawJson(node)) return Number(JSON.stringify(node));
    if (!Array.isArray(node))
      return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, visit(child)]));
    const items: unknown[] = [];
    for (const item of node) {
      if (left <= 0 && items.length > 0) break;
      items.push(visit(item));
    }
    return items;
  };
  return visit(value);
}

/** The value at a dotted path such as `errors[0].message`, which the loader checked; undefined when there is none. */
export function valueAt(value: unknown, path: string): unknown {
  return renderTemplate(templateOf(path), { answer: value });
}

/** Definitions hold a few dozen paths; a tenant who publishes others must not let it grow without end. */
const templates = new LeastRecentlyUsed<string, ReturnType<typeof parseTemplate>>(1000);

function templateOf(path: string): ReturnType<typeof parseTemplate> {
  let template = templates.get(path);
  if (template === undefined) {
    template = parseTemplate(`{{answer.${path}}}`);
    templates.set(path, template);
  }
  return template;
}
