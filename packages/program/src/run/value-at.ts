import { isRawJson } from "@svc/core";
import type { JsonValue, Path } from "../json.ts";

/** What stands at a path of a JSON value; undefined when nothing does. */
export function valueAt(value: JsonValue | undefined, path: Path): JsonValue | undefined {
  let current = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null || isRawJson(current)) return undefined;
    if (!Object.hasOwn(current, step)) return undefined;
    if (Array.isArray(current) !== (typeof step === "number")) return undefined;
    current = (current as Readonly<Record<string | number, JsonValue>>)[step];
  }
  return current;
}
