import { withoutOptionalNulls } from "../build/optional-nulls.ts";
import type { SchemaFault } from "../check/schema-faults.ts";
import type { JsonSchema } from "../read/documents.ts";
import { applyDefaults } from "./formats.ts";
import type { SchemaValidator } from "./json-schema.ts";

/** Returns a value without nulls that mean "absent", and with the defaults of its schema. */
export function fillInput(schema: JsonSchema, given: unknown): unknown {
  return applyDefaults(schema, withoutOptionalNulls(schema, given));
}

/**
 * Returns arguments with their defaults, and the errors of the result. Defaults are added before validation, because rules between
 * properties may concern a default. If only a default is invalid, because it contradicts a given value, the arguments are used without
 * defaults.
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
  // An error about an unknown argument may name the argument that was probably meant. This name is found in the arguments without defaults.
  // After defaults are added, the meant argument is already present and is not suggested.
  const unknown = ownFaults.filter(({ property, missing }) => property !== undefined && missing === undefined);
  const isSame = (a: SchemaFault) => (b: SchemaFault) => a.pointer === b.pointer && a.property === b.property;
  return { value, faults: faults.map((fault) => unknown.find(isSame(fault)) ?? fault) };
}
