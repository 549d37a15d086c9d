import { formatValue, isObject } from "@svc/core";
import type { JsonValue } from "../json.ts";

/** What a value is, in words that repeat nothing of it but the first key of an object: it may be sensitive. */
export function kindText(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (!isObject(value))
    return { string: "a text", number: "a number", boolean: "true or false" }[typeof value as "string"];
  const [key] = Object.keys(value);
  return key === undefined ? "an empty object" : `an object with ${formatValue(key)}`;
}
