import { withoutOptionalNulls } from "../build/optional-nulls.ts";
import type { SchemaFault } from "../check/schema-faults.ts";
import type { JsonSchema } from "../read/documents.ts";
import { applyDefaults } from "./formats.ts";
import type { SchemaValidator } from "./json-schema.ts";

/** Returns a value without nulls that mean "absent", and with its schema's defaults. */
export function fillInput(schema: JsonSchema, given: unknown): unknown {
  return applyDefaults(schema, withoutOptionalNulls(schema, given));
}

/**
 * Fills in a value and then validates it, because a schema's rules between properties may concern a default. If only a default is wrong,
 * because it contradicts a given value, the value counts without defaults.
 */
export function fitInput(
  schema: JsonSchema,
  validate: SchemaValidator,
  given: unknown,
): { readonly value: unknown; readonly faults: readonly SchemaFault[] } {
  const own = withoutOptionalNulls(schema, given);
  const value = applyDefaults(schema, own);
  const faults = validate(value);
  if (faults.length === 0) return { value, faults };
  const ownFaults = validate(own);
  if (ownFaults.length === 0) return { value: own, faults: [] };
  // The probable name is searched in the input without defaults. With them, that name is present and does not count as missing.
  const unknown = ownFaults.filter(({ property, missing }) => property !== undefined && missing === undefined);
  const isSame = (a: SchemaFault) => (b: SchemaFault) => a.pointer === b.pointer && a.property === b.property;
  return { value, faults: faults.map((fault) => unknown.find(isSame(fault)) ?? fault) };
}
