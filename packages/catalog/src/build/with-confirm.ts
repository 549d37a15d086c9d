import { isObject } from "@svc/core";
import type { JsonSchema } from "../read/documents.ts";

/** The input schema of a destructive tool, whose calls are held until `confirm` is true; it is part of no request. */
export function withConfirm(input: JsonSchema, confirm: JsonSchema): JsonSchema {
  const properties = isObject(input.properties) ? input.properties : {};
  return { ...input, properties: { ...properties, confirm } };
}
