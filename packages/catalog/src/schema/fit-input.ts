import { withoutOptionalNulls } from "../build/optional-nulls.ts";
import type { SchemaFault } from "../check/schema-faults.ts";
import type { JsonSchema } from "../read/documents.ts";
import { applyDefaults } from "./formats.ts";
import type { SchemaValidator } from "./json-schema.ts";

/** Returns a value as its schema has it filled in: without the nulls that mean "absent", and with its defaults. */
export function fillInput(schema: JsonSchema, given: unknown): unknown {
  return applyDefaults(schema, withoutOptionalNulls(schema, given));
}

/**
 * Fills a value in, and judges it then: what its schema says of several properties may be about one that is left at its default. Where
 * a default alone is what is wrong, since it stands against something that was given, the value counts without defaults.
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
  // The meant name is found in the input without defaults: with them, that name is present and does not count as missing.
  const unknown = ownFaults.filter(({ property, missing }) => property !== undefined && missing === undefined);
  const isSame = (a: SchemaFault) => (b: SchemaFault) => a.pointer === b.pointer && a.property === b.property;
  return { value, faults: faults.map((fault) => unknown.find(isSame(fault)) ?? fault) };
}
