import { isObject } from "@svc/core";
import type { JsonObject, Program } from "@svc/program";

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
