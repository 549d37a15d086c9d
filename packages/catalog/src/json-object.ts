import type { JsonSchema } from "./documents.ts";

/** Whether a value is a JSON object, as every schema but true and false is. */
export function isJsonObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
