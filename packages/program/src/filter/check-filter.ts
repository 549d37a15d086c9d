import type { JsonSchema } from "@svc/catalog";
import { isObject } from "@svc/core";
import { checkExpression } from "../check/expression.ts";
import { createFaultList } from "../faults.ts";
import { translated } from "../read/cel-advice.ts";
import { parseExpression } from "../read/cel-calls.ts";
import { boundInPlaceOf } from "../run/cost.ts";
import { type Extent, literal, scalar } from "../run/extent.ts";
import type { Expression } from "../template.ts";
import { fieldType, typesOf, type ValueType } from "../types/schema-type.ts";
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
 * means that the payload may have any form. Returns undefined if the filter is valid for at least one of them. Otherwise returns the error.
 */
export function checkFilter(source: string, payloads: readonly (JsonSchema | undefined)[]): FilterFault | undefined {
  const types = payloads.length === 0 ? [undefined] : payloads;
  const [first, ...others] = types.map((payload) => faultOf(source, payload));
  if (first !== undefined && others.every((fault) => fault !== undefined)) {
    const meant = meantSource(source);
    const isMeant = meant !== undefined && types.some((payload) => faultOf(meant, payload) === undefined);
    const hint = asSentence(isMeant ? `write ${meant}` : first.hint);
    const isOfField = /^event(?:\.| )/.test(first.message);
    const message = isOfField ? `reads a field that no event has: ${first.message}` : first.message;
    return { message, hint, isTooExpensive: false };
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

/** Returns the type of an event with a payload of this type. */
export function eventType(payload: ValueType): JsonSchema {
  const properties = { ...Object.fromEntries(eventFields.map((name) => [name, text])), payload: payload ?? {} };
  return { type: "object", properties, required: Object.keys(properties) };
}

/** Returns the scope of expressions over an event with a payload of this type. */
export function scopeOf(payload: ValueType): Scope {
  const event = eventType(payload);
  const scope = firstScope(
    { inputSchema: {}, input: {}, params: {} },
    { ids: new Set(), hints: { values: "", sets: "", rows: "", expressionRows: "" } },
  );
  return { ...scope, given: new Map([["event", event]]) };
}

/** Names that a filter may use without `event.` before them. */
const ownNames: ReadonlySet<string> = new Set(["event", "true", "false", "null", "in", "now"]);

/**
 * Returns the filter that the author of a wrong filter probably means. It is written in CEL, and has `event.` or `event.payload.` before
 * the names of fields. Returns undefined if the author wrote exactly this filter.
 */
function meantSource(source: string): string | undefined {
  const written = translated(source) ?? source;
  const macros = [...written.matchAll(/\.(?:all|exists|exists_one|filter|map)\(\s*(\w+)\s*,/g)].map(([, name]) => name);
  const isField = (name: string) => eventFields.some((field) => field === name) || name === "payload";
  const meant = written.replaceAll(
    /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?<![\w.])([A-Za-z_]\w*)((?:\s*\.\s*[A-Za-z_]\w*)*)(?!\w|\s*\()/g,
    (found, root?: string, rest = "") => {
      if (root === undefined || macros.includes(root)) return found;
      if (root === "event") {
        const [, field = ""] = /^\s*\.\s*(\w+)/.exec(rest) ?? [];
        return field === "" || isField(field) ? found : `event.payload${rest}`;
      }
      if (ownNames.has(root)) return found;
      if (isField(root)) return `event.${found}`;
      return root === "data" || root === "body" ? `event.payload${rest}` : `event.payload.${found}`;
    },
  );
  return meant === source || "fault" in parseExpression(meant) ? undefined : meant;
}

/** Size limits of the largest payload that fits in `filterPayloadBytes` bytes. Each value takes at least two bytes of JSON. */
const largestPayload: Extent = {
  items: filterPayloadBytes / 2,
  text: filterPayloadBytes,
  total: filterPayloadBytes / 2,
  depth: 0,
};
/**
 * Assumed length in characters of the texts in an event that are not in its payload, such as the id of an entity (customer or user). Used
 * to estimate the cost of a filter.
 */
const otherText = 1_000;

/**
 * Returns the maximum number of evaluation steps (units of work) that a filter expression needs. The event's payload has this type and the
 * maximum size that filters read.
 */
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
