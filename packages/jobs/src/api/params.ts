import { isObject, parseExactJson } from "@svc/core";
import type { JsonObject, Program } from "@svc/program";
import { jobFaults } from "../errors.ts";

const charactersMax = 65_536;

/** Values for params of a program, as they are given. Throws OVERRIDES_INVALID for a text that is no JSON object. */
export function readParams(paramsJson: string): JsonObject {
  if (paramsJson === "") return {};
  if (paramsJson.length > charactersMax)
    throw jobFaults.OVERRIDES_INVALID(`has ${paramsJson.length} characters, above ${charactersMax}`);
  const params = parsed(paramsJson);
  if (!isObject(params)) throw jobFaults.OVERRIDES_INVALID('is no JSON object, such as {"minValue": 1000}');
  return params as JsonObject;
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

/**
 * Why a program's params cannot be given such values; undefined where they can. What was checked of the program holds for values of
 * the same types alone.
 */
export function faultOfParams({ params: own }: Program, params: JsonObject): string | undefined {
  for (const [name, value] of Object.entries(params)) {
    if (!Object.hasOwn(own, name)) {
      const names = Object.keys(own).slice(0, 20).join(", ");
      return `names ${JSON.stringify(name)}, which is none of the program's params (${names || "it has none"})`;
    }
    const [was, is] = [typeOf(own[name]), typeOf(value)];
    if (was !== is) return `gives ${name} ${is}, where the program has ${was}`;
  }
  return undefined;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  // Exact numbers are objects of their own.
  return typeof value === "string"
    ? "a text"
    : typeof value === "boolean"
      ? "true or false"
      : isObject(value)
        ? "an object"
        : "a number";
}
