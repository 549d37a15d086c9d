import { isObject, parseExactJson } from "@svc/core";
import type { JsonObject, JsonValue } from "../json.ts";

/** Objects that version 0.1 took as they stand, and that say something since. */
const youngForms = ["$cel", "$literal", "$secret"];

/**
 * The text of a program that version 0.1 accepted, so that it says today what it said then: what looks like a form of a value that
 * version 0.1 did not know becomes a `$literal`. Nearly always that is the text as it is.
 */
export function withOldForms(programJson: string): string {
  if (!youngForms.some((form) => programJson.includes(`"${form}"`))) return programJson;
  const program = parseExactJson(programJson) as JsonObject;
  return JSON.stringify(Array.isArray(program["steps"]) ? { ...program, steps: stepsOf(program["steps"]) } : program);
}

/** Values stand in arguments, wherever a call does. */
function stepsOf(steps: readonly JsonValue[]): JsonValue[] {
  return steps.map((step) => {
    if (!isObject(step)) return step;
    const changed = Object.entries(step as JsonObject).map(([name, value]): readonly [string, JsonValue] => {
      if (name === "args") return [name, valuesOf(value)];
      if (name === "undo") return [name, stepsOf([value])[0] ?? null];
      const isList = ["do", "then", "else"].includes(name) && Array.isArray(value);
      return [name, isList ? stepsOf(value) : value];
    });
    return Object.fromEntries(changed);
  });
}

function valuesOf(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(valuesOf);
  if (!isObject(value)) return value;
  const fields = value as JsonObject;
  if (Object.hasOwn(fields, "$ref") || Object.hasOwn(fields, "$text")) return value;
  if (youngForms.some((form) => Object.hasOwn(fields, form))) return { $literal: value };
  return Object.fromEntries(Object.entries(fields).map(([name, item]) => [name, valuesOf(item)]));
}
