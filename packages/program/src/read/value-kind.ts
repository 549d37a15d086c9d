import { formatValue, isObject } from "@svc/core";
import type { JsonValue } from "../json.ts";

/** What a value is, in words that repeat nothing of it but the first key of an object: it may be sensitive. */
export function kindText(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return "a text";
  if (typeof value === "boolean") return "true or false";
  // One beyond a double's digits stands as the raw JSON that was written.
  if (!isObject(value)) return "a number";
  const [key] = Object.keys(value);
  return key === undefined ? "an empty object" : `an object with ${formatValue(key)}`;
}
