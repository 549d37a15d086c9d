import { isObject, parseExactJson } from "@svc/core";
import type { JsonObject, JsonValue } from "../json.ts";
import { limitBounds } from "../limits.ts";
import { durationSchema, type ObjectForm, wholeSchema } from "./form.ts";

/** The required and optional fields of a program's `limits`, with their schemas. */
export const limitsForm: ObjectForm = {
  description: "Limits of the job. A step that reaches one fails with LIMIT_REACHED.",
  required: {},
  optional: {
    deadline: durationSchema(
      "Time before the job expires, 1s to 30d. The time in which it waits for a person does not count. Default 24h.",
      "24h",
    ),
    toolCalls: wholeSchema(
      "Tool calls, including repetitions. 1 to 1,000,000. Default 10,000.",
      limitBounds.toolCalls,
      10_000,
    ),
    writes: wholeSchema("Calls that write. 0 to 1,000,000. Default 1,000.", limitBounds.writes, 1000),
    rows: wholeSchema("Rows. 1 to 1,000,000. Default 10,000.", limitBounds.rows, 10_000),
    asks: wholeSchema("Questions to people. 0 to 1,000. Default 20.", limitBounds.asks, 20),
    concurrency: wholeSchema("Calls at the same time. 1 to 32. Default 8.", limitBounds.concurrency, 8),
  },
  examples: [{ deadline: "24h", toolCalls: 5000, writes: 500, rows: 20_000, asks: 10, concurrency: 8 }],
};

/**
 * Keys that give an object a special meaning today, for example that the object is an expression. They had no such meaning in version 0.1,
 * which accepted objects with these keys as plain values.
 */
const youngForms = ["$cel", "$literal", "$secret"];

/**
 * Returns the text of a program of version 0.1, changed so that it keeps its meaning in this version: an object whose key now has a special
 * meaning becomes a `$literal`. Most texts need no change.
 */
export function withOldForms(programJson: string): string {
  if (!youngForms.some((form) => programJson.includes(`"${form}"`))) return programJson;
  const program = parseExactJson(programJson) as JsonObject;
  return JSON.stringify(Array.isArray(program["steps"]) ? { ...program, steps: stepsOf(program["steps"]) } : program);
}

/** Returns a copy of the steps in which the arguments of calls are changed by `valuesOf`. Everything else is unchanged. */
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
