import type { JsonSchema } from "@svc/catalog";
import { isObject, parseExactJson } from "@svc/core";
import { checkComputed } from "../check/expression.ts";
import { createFaultList } from "../faults.ts";
import { type JsonObject, type JsonValue, pathOf } from "../json.ts";
import { parseExpression } from "../read/cel-calls.ts";
import { parseTemplate } from "../read/reference.ts";
import { jsonOfCel } from "../run/cel-values.ts";
import { type ComputedText, evaluationOf } from "../run/evaluation.ts";
import { resolveValue } from "../run/resolve.ts";
import { type Expression, expressionsOf, referencesOf, secretsOf, type ValueTemplate } from "../template.ts";
import type { ValueType } from "../types/schema-type.ts";
import { firstScope, resolveType } from "../types/scope.ts";
import { costOfExpression, eventType, scopeOf } from "./check-filter.ts";
import { convertedEvent, type FilteredEvent, filterStepsMax, isTooLarge } from "./filter.ts";

/**
 * Why a subscription's template for the body of its deliveries is refused. `pointer`: JSON Pointer to the faulty part of the template.
 * `hint`: what would be right.
 */
export type BodyFault = { readonly pointer: string; readonly message: string; readonly hint: string };

/** A subscription's template for the body of its deliveries, ready to be filled in with events. */
export type CompiledBody = {
  /**
   * Returns the JSON text of the body for an event. If the body cannot be made, returns the reason, which contains no data of the event.
   * `isLarge`: true if the payload is larger than `filterPayloadBytes`. `rest`: called after each expression of the template, so that other
   * work on the event loop can run before the next expression.
   */
  render(event: FilteredEvent, isLarge: boolean, rest: () => Promise<void> | undefined): Promise<RenderedBody>;
};

/** The body of a webhook delivery made from a subscription's template, or the reason why it cannot be made. */
export type RenderedBody = { readonly body: string } | { readonly fault: string };

/**
 * Limits of a delivery's body that a subscription's template defines. `template`: size of the template in bytes. `body`: size of the body
 * in bytes. `expressions`: number of expressions in the template.
 */
const bodyMax = { template: 65_536, body: 262_144, expressions: 50 };

/**
 * Reads the template of a delivery's body: a JSON value in which `$ref`, `$text` and `$cel` are replaced by values of `event`. `payloads`:
 * the payload schemas of the events that the subscription can receive; empty if payloads may have any form. Returns the template, or a
 * fault that makes it unusable for all these events.
 */
export function readBody(
  bodyJson: string,
  payloads: readonly JsonSchema[],
): { readonly body: CompiledBody } | { readonly fault: BodyFault } {
  if (Buffer.byteLength(bodyJson) > bodyMax.template)
    return { fault: { pointer: "", message: "has more than 64 KiB", hint: "shorten it" } };
  let value: JsonValue;
  try {
    value = parseExactJson(bodyJson) as JsonValue;
  } catch {
    return {
      fault: {
        pointer: "",
        message: "is not JSON",
        hint: 'write a template such as {"text": {"$text": "{event.type}"}}',
      },
    };
  }
  const types = payloads.length === 0 ? [undefined] : payloads;
  const read = types.map((payload) => readFor(value, payload, types.length === 1));
  const right = read.find((one) => "template" in one);
  if (right !== undefined && "template" in right) return { body: compiled(right.template) };
  const [first] = read;
  if (first === undefined || "template" in first) throw new Error("a template has a fault or none");
  return first;
}

function readFor(
  value: JsonValue,
  payload: ValueType,
  isOnly: boolean,
): { readonly template: ValueTemplate } | { readonly fault: BodyFault } {
  const faults = createFaultList(value);
  faults.takeYounger();
  const hint = "write $ref or $text with a path such as event.payload.amount, or $cel with an expression over event";
  const template = parseTemplate(underInput(value), [], (at, _kind, message) =>
    faults.add("PROGRAM_REFERENCE_INVALID", at, asGiven(message), hint),
  );
  const inputSchema = { type: "object", properties: { event: eventType(payload) } };
  const scope = firstScope({ inputSchema, input: {}, params: {} }, { ids: new Set(), hints: noHints });
  for (const { reference, path } of referencesOf(template)) {
    const found = resolveType(scope, reference);
    if ("fault" in found)
      faults.add("PROGRAM_REFERENCE_INVALID", path, `${asGiven(reference.text)}: ${asGiven(found.fault)}`, hint);
  }
  for (const { path } of secretsOf(template))
    faults.add(
      "PROGRAM_SECRET_UNKNOWN",
      path,
      "is a secret, which a body cannot have",
      "send it as a header, in credentials",
    );
  const expressions = expressionsOf(template);
  for (const expression of expressions) {
    checkComputed(expression, scopeOf(payload), faults);
    if (costOfExpression(expression.source, isOnly ? payload : undefined) > filterStepsMax.ordinary)
      faults.add(
        "PROGRAM_EXPRESSION_INVALID",
        pathOf(expression.pointer),
        "could take more than a millisecond for a payload of 64 KiB",
        "use fewer list and text functions",
      );
  }
  if (expressions.length > bodyMax.expressions)
    faults.add("PROGRAM_MALFORMED", [], `has ${expressions.length} expressions`, `use at most ${bodyMax.expressions}`);
  const [fault] = faults.list();
  if (fault === undefined) return { template };
  return { fault: { pointer: fault.pointer, message: fault.message, hint: String(fault.hint) } };
}

const noHints = { values: "", sets: "", rows: "", expressionRows: "" };

/**
 * Returns the template with `input.` before each path. The template is then evaluated like a part of a program, in which the event is the
 * input.
 */
function underInput(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(underInput);
  if (!isObject(value)) return value;
  const object = value as JsonObject;
  if (Object.hasOwn(object, "$literal") || Object.hasOwn(object, "$cel")) return object;
  if (typeof object.$ref === "string") return { ...object, $ref: `input.${object.$ref}` };
  if (typeof object.$text === "string") {
    const text = object.$text.replace(/\{\{|\{\s*/g, (brace) => (brace === "{{" ? brace : "{input."));
    return { ...object, $text: text };
  }
  return Object.fromEntries(Object.entries(object).map(([name, item]) => [name, underInput(item)])) as JsonObject;
}

function asGiven(message: string): string {
  return message.replace(/\binput\.(?=[a-z])/g, "").replace(/^input /, "the template ");
}

function compiled(template: ValueTemplate): CompiledBody {
  const computing = expressionsOf(template).map((expression) => ({ expression, ...computationOf(expression) }));
  return {
    async render(event, isLarge, rest) {
      const computed = new Map<Expression, JsonValue>();
      for (const { expression, tooLarge, compute } of computing) {
        if (isLarge && tooLarge(event))
          return { fault: `${expression.pointer} takes too long for a payload of this size` };
        const found = compute(event);
        if ("error" in found) return { fault: `${expression.pointer} ${found.error}` };
        computed.set(expression, parseExactJson(found.text) as JsonValue);
        await rest();
      }
      const filled = resolveValue(template, { input: { event }, params: {}, computed });
      if ("fault" in filled) return { fault: `${filled.fault.pointer} ${asGiven(filled.fault.message)}` };
      const body = JSON.stringify(filled.value);
      if (Buffer.byteLength(body) > bodyMax.body) return { fault: "has more than 256 KiB" };
      return { body };
    },
  };
}

function computationOf({ source }: Expression): {
  tooLarge(event: FilteredEvent): boolean;
  compute(event: FilteredEvent): ComputedText;
} {
  const parsed = parseExpression(source);
  if ("fault" in parsed) return { tooLarge: () => false, compute: () => ({ error: parsed.fault }) };
  const run = evaluationOf(parsed.tree, jsonOfCel, filterStepsMax.large);
  return {
    tooLarge: isTooLarge(parsed.tree),
    compute: (event) => run([{ event: convertedEvent(event) }], () => true)[0] ?? { error: "was not evaluated" },
  };
}
