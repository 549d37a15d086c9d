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
import { atOnce } from "../redact/redact.ts";

/** Maximum number of values in a JSON text that an app's answer contains as a string. */
const valuesMax = 200_000;

/**
 * Returns the object that a JSON text contains, if the schema expects an object and does not accept a text. Returns undefined otherwise.
 */
function objectOfText(schema: JsonSchema, text: string): JsonObject | undefined {
  if (!wantsObjectAlone(schema) || !/^\s*\{/.test(text)) return undefined;
  try {
    const value = parseExactJson(text, { valuesMax });
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    // A text that is not JSON, or is too large, is kept as a text.
    return undefined;
  }
}

/**
 * If the schema expects an object with exactly one property, returns an object with the value as this property. Otherwise returns
 * undefined.
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
 * Returns a copy of a value that contains only the parts that an output schema names.
 * - Values that do not fit the schema are kept whole, so that validation reports them: null, values of a different type, and objects and
 *   lists that the schema does not describe.
 * - An object that contains none of the declared properties is kept whole.
 * - If the schema expects an object and the value is the JSON text of an object, that object is used.
 */
export function trim(schema: JsonSchema, value: unknown): unknown {
  return atOnce(trimParts(schema, value));
}

/** Removes from a value the parts that an output schema does not name. Pauses after each item of a list. */
function* trimParts(schema: JsonSchema, value: unknown): Generator<undefined, unknown> {
  if (Array.isArray(value)) return yield* trimItems(schema, value);
  if (typeof value !== "object" || value === null) return trimLeaf(schema, value);
  const { properties } = schema;
  if (!isObject(value) || !isObject(properties)) return value;
  const named: [string, unknown][] = [];
  for (const name of Object.keys(properties)) {
    if (!Object.hasOwn(value, name)) continue;
    const [child, part] = [properties[name], value[name]];
    const isLeaf = typeof part !== "object" || part === null;
    if (!isObject(child)) named.push([name, part]);
    // Most parts are leaves, and a generator for each of them would take memory.
    else named.push([name, isLeaf ? trimLeaf(child, part) : yield* trimParts(child, part)]);
  }
  // Object.fromEntries is used because a property may be named `__proto__`.
  return Object.fromEntries(named);
}

function* trimItems({ items }: JsonSchema, list: readonly unknown[]): Generator<undefined, readonly unknown[]> {
  if (!isObject(items)) return list;
  const trimmed: unknown[] = [];
  for (const item of list) {
    trimmed.push(yield* trimParts(items, item));
    yield;
  }
  return trimmed;
}

function trimLeaf(schema: JsonSchema, value: unknown): unknown {
  return typeof value === "string" ? trimText(schema, value) : value;
}

function trimText(schema: JsonSchema, text: string): unknown {
  const object = objectOfText(schema, text);
  if (object === undefined) return text;
  const trimmed = trim(schema, object);
  if (!isObject(trimmed) || Object.keys(trimmed).length > 0) return trimmed;
  // If the schema has sensitive parts, the value stays a text, which is masked as a whole. In an object, values under unknown names would
  // not be masked.
  return sensitiveNames(schema).length > 0 ? text : object;
}

/**
 * A tool's result, read from the body of an app's answer. `isWhollyInBody`: true if all texts and field names of the result are in that
 * body.
 */
type Payload = Pick<CallResult, "value" | "warnings"> & { readonly isWhollyInBody: boolean };

/**
 * Reads a tool's result from the body of an app's answer, and reduces it to the output schema. Warns if the result does not match the
 * schema. Other work can run between two steps of this generator.
 */
export function* readPayload(action: Action, body: unknown): Generator<undefined, Payload> {
  const { unwrap, under, empty } = action.response;
  const payload = unwrap === "" ? body : valueAt(body, unwrap);
  const presented = under === "" || payload === undefined || isObject(payload) ? payload : { [under]: payload };
  const isNone = presented === undefined || presented === null;
  const trimmed = isNone ? undefined : yield* trimParts(action.outputSchema, presented);
  yield;
  const named = objectOfScalar(action.outputSchema, trimmed);
  const kept = named ?? trimmed;
  // `empty` (the result that the definition sets for an empty answer) is used only if there is no body, because a body with other content
  // may report an error.
  const value = body === undefined ? (empty ?? {}) : (kept ?? {});
  const unnamed = isNothing(kept, action.outputSchema) ? unnamedWarning(payload === undefined ? body : payload) : [];
  const warnings = [...unnamed, ...judgeResult(action, value)];
  return {
    value,
    warnings: warnings.length === 0 && named !== undefined ? [bareWarning(named)] : warnings,
    isWhollyInBody: body !== undefined && named === undefined && presented === payload,
  };
}

const namesMax = 5;

/**
 * Returns a warning if an app's answer has content but none of the fields that the tool's definition reads as its result. Returns an empty
 * list otherwise.
 */
function unnamedWarning(content: unknown): string[] {
  const names = isObject(content) ? Object.keys(content) : [];
  const hasContent = isObject(content) ? names.length > 0 : content !== undefined && content !== null;
  if (!hasContent) return [];
  // Only names of this form are shown, because other names may be values (for example names of people or files).
  const shown = names.filter((name) => /^[A-Za-z_]\w{0,39}$/.test(name)).slice(0, namesMax);
  const there = shown.length === 0 ? "" : `; it has ${shown.join(", ")}`;
  return [`output_mismatch: the answer has none of the fields that the result names${there}`];
}

/**
 * Returns a list with one warning if a result does not have the form that the tool's output schema documents. Returns an empty list if it
 * has this form.
 */
export function judgeResult(action: Action, value: unknown): readonly string[] {
  const faults = action.validateOutput(judgedPart(value));
  if (faults.length === 0) return [];
  const places = faults
    .slice(0, 3)
    .map(({ pointer, message }) => `${pointer === "" ? "the result" : pointer} ${message}`);
  return [`output_mismatch: the answer does not have the documented form: ${places.join("; ")}`];
}

function bareWarning(named: object): string {
  return `output_mismatch: the app answered a bare value; it is under ${Object.keys(named).join()}`;
}

/** True if an answer has none of the fields that the schema names. False if it has at least one of them. */
function isNothing(kept: unknown, schema: JsonSchema): boolean {
  if (kept === undefined) return true;
  if (!isObject(kept)) return false;
  return Object.keys(kept).length === 0 && schema.properties !== undefined;
}

/**
 * Maximum number of validated values. Validation lists every fault, and an answer with millions of wrong items would exhaust the memory.
 * More values would also hold the event loop for more than 10 ms.
 */
const judgedMax = 8_000;

/**
 * Returns the part of a value that is validated: at most 8,000 values, with only the start of long lists. Numbers with very many digits
 * are rounded, because validation cannot read them. Usually returns the value itself.
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

/**
 * Returns the value at a dotted path (for example `errors[0].message`); undefined if no value exists there. The path was checked when the
 * definition of the app's toolkit was loaded.
 */
export function valueAt(value: unknown, path: string): unknown {
  return renderTemplate(templateOf(path), { answer: value });
}

/**
 * Cache of parsed paths to values in app answers, such as `errors[0].message`. svc's own toolkits (definitions of apps) contain a few dozen
 * of them. The cache has a limit, because projects can publish definitions with any number of paths.
 */
const templates = new LeastRecentlyUsed<string, ReturnType<typeof parseTemplate>>(1000);

function templateOf(path: string): ReturnType<typeof parseTemplate> {
  let template = templates.get(path);
  if (template === undefined) {
    template = parseTemplate(`{{answer.${path}}}`);
    templates.set(path, template);
  }
  return template;
}
