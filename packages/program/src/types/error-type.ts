import type { JsonSchema } from "@svc/catalog";
import { isObject } from "@svc/core";
import type { ValueType } from "./schema-type.ts";

/** The error of a step, as `steps.<id>.error` has it: `status` is what the app answered, 0 where it did not. */
const errorType: JsonSchema = {
  type: "object",
  properties: { code: { type: "string" }, message: { type: "string" }, status: { type: "integer" } },
};

/** What `steps.<id>` is of a step that failed and whose error is handled. */
export const onlyError: JsonSchema = { type: "object", properties: { error: errorType } };

/** What `steps.<id>` may be of a step that ended well, or failed and whose error was handled. */
export function typeWithError(type: ValueType): ValueType {
  // Of an answer whose fields are not known any may be there.
  return type === undefined || !isObject(type.properties) ? undefined : { anyOf: [type, onlyError] };
}
