import { isObject } from "@svc/core";
import type { JsonObject, JsonValue } from "@svc/program";

/** The kept fields of an item; of one that is no object, `value`. */
export function pickFields(item: JsonValue, keep: readonly string[]): JsonObject {
  const fields: JsonObject = isObject(item) ? item : { value: item };
  return Object.fromEntries(
    keep.flatMap((name) => (Object.hasOwn(fields, name) ? [[name, fields[name] as JsonValue]] : [])),
  );
}
