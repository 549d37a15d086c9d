import type { JsonSchema } from "@svc/catalog";
import { isObject } from "@svc/core";
import { checkExpression } from "../check/expression.ts";
import { createFaultList } from "../faults.ts";
import { quotedText, translated } from "../read/cel-advice.ts";
import { parseExpression } from "../read/cel-calls.ts";
import { meantField } from "../read/shape-words.ts";
import { boundInPlaceOf } from "../run/cost.ts";
import { type Extent, literal, scalar } from "../run/extent.ts";
import type { Expression } from "../template.ts";
import { fieldType, namesOf, typesOf, type ValueType } from "../types/schema-type.ts";
import { firstScope, type Scope } from "../types/scope.ts";
import { filterPayloadBytes, filterStepsMax } from "./filter.ts";

/**
 * Reason why a filter is refused. `message`: the mistake, as a sentence without its subject. `hint`: the correct form, as a sentence.
 * `isTooExpensive`: true if the only problem is the time that the filter could take.
 */
export type FilterFault = { readonly message: string; readonly hint: string; readonly isTooExpensive: boolean };

const text: JsonSchema = { type: "string" };
const eventFields = ["id", "toolkitSlug", "triggerSlug", "type", "entityId", "occurredAt", "receivedAt"] as const;

/**
 * Checks the filter expression of a subscription. `payloads`: schemas of the events that the subscription receives; an undefined entry
 * means that the payload may have any form. Returns undefined if the filter is valid for the payloads of at least one kind of event.
 * Otherwise returns the fault.
 */
export function checkFilter(source: string, payloads: readonly (JsonSchema | undefined)[]): FilterFault | undefined {
  const types = payloads.length === 0 ? [undefined] : payloads;
  // A mistake in the syntax is the same for every type.
  const isParsed = !("fault" in parseExpression(source));
  const [first, ...others] = (isParsed ? types : types.slice(0, 1)).map((payload) => faultOf(source, payload));
  if (first !== undefined && others.every((fault) => fault !== undefined)) {
    const meant = meantFilter(source, types.slice(0, typesTried));
    const hint = asSentence(meant === undefined ? first.hint : `write ${meant}`);
    return { message: nameFault(source, types) ?? first.message, hint, isTooExpensive: false };
  }
  const [only] = types.length === 1 ? types : [];
  return costOfExpression(source, only) <= filterStepsMax.ordinary ? undefined : tooExpensive;
}

const tooExpensive: FilterFault = {
  message: `could take more than a millisecond for a payload of ${filterPayloadBytes / 1_024} KiB`,
  hint: "Use contains, startsWith or endsWith instead of matches, compare fewer values of each item of a list, or set maxLength or maxItems in the schema of the event type.",
  isTooExpensive: true,
};

/** Returns a hint as a whole sentence: with a capital letter at the start and a period at the end. */
function asSentence(hint: string): string {
  return `${hint.slice(0, 1).toUpperCase()}${hint.slice(1)}${hint.endsWith(".") || hint.endsWith("?") ? "" : "."}`;
}

function faultOf(source: string, payload: ValueType): { readonly message: string; readonly hint: string } | undefined {
  const faults = createFaultList(undefined);
  faults.takeYounger();
  const expression: Expression = { source, pointer: "" };
  checkExpression(expression, scopeOf(payload), faults);
  const [fault] = faults.list();
  return fault && { message: fault.message, hint: String(fault.hint) };
}

/** Returns the schema of a whole event (as filters see it) whose payload has the given type. */
export function eventType(payload: ValueType): JsonSchema {
  const properties = { ...Object.fromEntries(eventFields.map((name) => [name, text])), payload: payload ?? {} };
  return { type: "object", properties, required: Object.keys(properties) };
}

/** Returns the names that a filter expression can use, with their types, for events whose payload has the given type. */
export function scopeOf(payload: ValueType): Scope {
  const event = eventType(payload);
  const scope = firstScope(
    { inputSchema: {}, input: {}, params: {} },
    { ids: new Set(), hints: { values: "", sets: "", rows: "", expressionRows: "" } },
  );
  return { ...scope, given: new Map([["event", event]]) };
}

/** Maximum number of event types for which possible corrections of a filter are checked. */
const typesTried = 3;

/**
 * Returns the correct filter that the author of a wrong filter probably means, or undefined if no correction is known. It completes and
 * corrects names: `amount` becomes `event.payload.amount`, a misspelled field becomes the field with a similar name, and a word becomes a
 * text in quotes.
 */
function meantFilter(source: string, types: readonly ValueType[]): string | undefined {
  const asField = meantSource(source) ?? source;
  const quoted = withQuotes(source);
  const asText = meantSource(quoted) ?? quoted;
  const isKnown = types.some((payload) => isObject(payload?.properties));
  // Without a schema, `status == paid` compares with a text more often than with a field.
  const ordered = isKnown ? [asField, asText] : [asText, asField];
  const corrected = types.flatMap((payload) => ordered.map((one) => withKnownFields(one, payload)));
  const candidates = new Set([...ordered, ...corrected]);
  candidates.delete(source);
  const parsed = [...candidates].filter((one) => !("fault" in parseExpression(one)));
  return parsed.find((one) => types.some((payload) => faultOf(one, payload) === undefined));
}

/** Returns a filter in which each word that is compared with `==` or `!=` is put in quotes. */
function withQuotes(source: string): string {
  return source.replaceAll(
    new RegExp(
      String.raw`(${quotedText})|(?<=[^=!<>]={1,2}\s*|!=\s*)(?!(?:event|payload|true|false|null|now|size|has)\b)([A-Za-z_][\w.-]*(?:[ \t]+(?!(?:and|or|is|in|not)\b)[A-Za-z_]\w*)*)(?=\s*(?:$|&|\||\)|\?|(?:and|or)\b))`,
      "gi",
    ),
    (found, text?: string) => (text === undefined ? JSON.stringify(found) : found),
  );
}

/** A field of the payload that a filter reads: its path after `event`, and the index of the path in the filter. */
type ReadField = { readonly at: number; readonly path: readonly string[] };

/** Returns the fields of `event` that a filter reads, such as `payload.id` for `event.payload.id`. Quoted texts are skipped. */
function readFields(source: string): ReadField[] {
  const paths = new RegExp(String.raw`${quotedText}|(?<![\w.])event((?:\.[A-Za-z_]\w*)+)(?!\w|\s*\()`, "g");
  return [...source.matchAll(paths)].flatMap(({ index, 1: path }) =>
    path === undefined ? [] : [{ at: index, path: path.slice(1).split(".") }],
  );
}

/**
 * The place at which a path leaves the schema. `index`: index of the first member of the path that the schema does not have. `names`: the
 * fields that exist at that place.
 */
type Missing = { readonly index: number; readonly names: readonly string[] };

function missingStep(path: readonly string[], payload: ValueType): Missing | undefined {
  let type: ValueType = eventType(payload);
  for (const [index, step] of path.entries()) {
    const field = fieldType(type, step);
    if ("fault" in field) return { index, names: type === undefined ? [] : namesOf(type) };
    type = field.type;
  }
  return undefined;
}

/**
 * `steps` says for each event type where a path stops to exist. Returns the latest of these places, with the field names that exist there.
 * Undefined if one event type has the whole path.
 */
function mostComplete(steps: readonly (Missing | undefined)[]): Missing | undefined {
  const missing = steps.filter((step) => step !== undefined);
  if (missing.length < steps.length) return undefined;
  const index = Math.max(...missing.map((step) => step.index));
  const names = missing.filter((step) => step.index === index).flatMap((step) => step.names);
  return { index, names: [...new Set(names)].slice(0, 40) };
}

/** Returns a filter in which each misspelled field is replaced by the field with the most similar name. */
function withKnownFields(source: string, payload: ValueType): string {
  let written = source;
  for (const { at, path } of readFields(source).reverse()) {
    const missing = missingStep(path, payload);
    const name = missing && meantField(path[missing.index] ?? "", missing.names);
    if (missing === undefined || name === undefined) continue;
    const known = ["event", ...path.with(missing.index, name)].join(".");
    written = `${written.slice(0, at)}${known}${written.slice(at + ["event", ...path].join(".").length)}`;
  }
  return written;
}

/** Returns why the first unknown name or field of a filter is wrong, and where it is. Undefined if all names are known. */
function nameFault(source: string, types: readonly ValueType[]): string | undefined {
  if ("fault" in parseExpression(source)) return undefined;
  const [unknown] = namesIn(source).filter(({ root }) => root !== "event" && !ownNames.has(root));
  if (unknown !== undefined)
    return `names ${JSON.stringify(unknown.root)} at character ${unknown.at + 1}, which does not exist here`;
  for (const { at, path } of readFields(source)) {
    const steps = types.map((payload) => missingStep(path, payload));
    const missing = mostComplete(steps);
    if (missing === undefined) continue;
    const [place, field] = [path.slice(0, missing.index), path.slice(0, missing.index + 1)].map((steps) =>
      ["event", ...steps].join("."),
    );
    const fields = missing.names.length === 0 ? "has no fields" : `has only ${missing.names.join(", ")}`;
    return `reads a field that no event has: ${field} at character ${at + 1}; ${place} ${fields}`;
  }
  return undefined;
}

/** Returns the names of values in a filter, each with its index. Of `event.payload.amount`, only the first name `event` is returned. */
function namesIn(source: string): { readonly at: number; readonly root: string }[] {
  const macros = macroVariables(source);
  return [...source.matchAll(names)].flatMap(({ index, 1: root }) =>
    root === undefined || macros.includes(root) ? [] : [{ at: index, root }],
  );
}

function macroVariables(source: string): (string | undefined)[] {
  return [...source.matchAll(/\.(?:all|exists|exists_one|filter|map)\(\s*(\w+)\s*,/g)].map(([, name]) => name);
}

/**
 * Pattern for texts in quotes, and for names with the fields after them. Only a match of a name has capture groups: its first name, and the
 * rest of the path.
 */
const names = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?<![\w.])([A-Za-z_]\w*)((?:\s*\.\s*[A-Za-z_]\w*)*)(?!\w|\s*\()/g;

/** Names that a filter may use without `event.` before them. */
const ownNames: ReadonlySet<string> = new Set(["event", "true", "false", "null", "in", "now"]);

/**
 * Returns the filter that the author of a wrong filter probably means. It is written in CEL, and has `event.` or `event.payload.` before
 * the names of fields. Returns undefined if the author wrote exactly this filter.
 */
function meantSource(source: string): string | undefined {
  const written = translated(source) ?? source;
  const macros = macroVariables(written);
  const isField = (name: string) => eventFields.some((field) => field === name) || name === "payload";
  const meant = written.replaceAll(names, (found, root?: string, rest = "") => {
    if (root === undefined || macros.includes(root)) return found;
    if (root === "event") {
      const [, field = ""] = /^\s*\.\s*(\w+)/.exec(rest) ?? [];
      return field === "" || isField(field) ? found : `event.payload${rest}`;
    }
    if (ownNames.has(root)) return found;
    if (isField(root)) return `event.${found}`;
    return root === "data" || root === "body" ? `event.payload${rest}` : `event.payload.${found}`;
  });
  return meant === source || "fault" in parseExpression(meant) ? undefined : meant;
}

/** Upper limits of the sizes inside a payload of `filterPayloadBytes` bytes. Each value takes at least two bytes of JSON. */
const largestPayload: Extent = {
  items: filterPayloadBytes / 2,
  text: filterPayloadBytes,
  total: filterPayloadBytes / 2,
  depth: 0,
};
/** Assumed length in characters of each text in an event, except the texts in its payload. Used to estimate the cost of a filter. */
const otherText = 1_000;

/** Returns the maximum cost of a filter expression, in evaluation steps (units of work). `payload`: the type of the event's payload. */
export function costOfExpression(source: string, payload: ValueType): number {
  const parsed = parseExpression(source);
  if ("fault" in parsed) return 0;
  return boundInPlaceOf(parsed.tree)(({ root, path: [first, ...path] }) => {
    if (root !== "event") return scalar;
    if (first !== undefined && first !== "payload") return literal(" ".repeat(otherText));
    return largestAt(payload, path);
  });
}

/**
 * Returns the size of the largest value that an event can have at a path of its payload. The schema limits the size of texts with
 * `maxLength`, of lists with `maxItems`, and of numbers and booleans. For any other value, returns the largest possible payload.
 */
function largestAt(payload: ValueType, path: readonly (string | number)[]): Extent {
  let type = payload;
  for (const step of path) {
    const field = fieldType(type, step);
    if ("fault" in field) return largestPayload;
    type = field.type;
  }
  const names = typesOf(type);
  if (!isObject(type) || names === undefined || names.has("object")) return largestPayload;
  const { maxLength, maxItems } = type;
  const texts = names.has("string") ? (typeof maxLength === "number" ? 2 * maxLength : filterPayloadBytes) : 0;
  if (!names.has("array")) return { ...literal(""), text: Math.min(texts, filterPayloadBytes), total: 1 + texts / 16 };
  return { ...largestPayload, items: typeof maxItems === "number" ? maxItems : largestPayload.items };
}
