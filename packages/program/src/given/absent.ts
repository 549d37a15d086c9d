import { isObject } from "@svc/core";
import type { Path } from "../json.ts";
import { fieldType, type ValueType } from "../types/schema-type.ts";

/**
 * Whether what is given may lack what a path names: an object on the way says which of its fields it always has, and the next one is not
 * among them.
 */
export function mayLack(type: ValueType, path: Path): boolean {
  let current = type;
  for (const step of path) {
    const { required, properties } = current ?? {};
    if (Array.isArray(required) && isObject(properties) && Object.hasOwn(properties, step) && !required.includes(step))
      return true;
    const field = fieldType(current, step);
    if ("fault" in field) return false;
    current = field.type;
  }
  return false;
}
