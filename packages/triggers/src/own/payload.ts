import type { SchemaFault, SchemaValidator } from "@svc/catalog";
import { isObject, parseExactJson, repeatsName } from "@svc/core";

/** A payload that was read: its JSON text, written again with every digit of its numbers, or its faults. */
export type ReadPayload = { readonly text: string } | { readonly faults: readonly SchemaFault[] };

/**
 * Reads the payload of an event. It must be a JSON object without repeated names that satisfies the schema. `validate`: returns the faults of
 * a value; undefined if every object is accepted.
 */
export function readPayload(json: string, validate: SchemaValidator | undefined): ReadPayload {
  const read = parse(json);
  if ("faults" in read) return read;
  const { value } = read;
  if (!isObject(value)) return faultOf("must be an object");
  if (repeatsName(json, value)) return faultOf("must not repeat a name in an object");
  const faults = validate?.(value) ?? [];
  return faults.length > 0 ? { faults } : { text: JSON.stringify(value) };
}

function parse(json: string): { readonly value: unknown } | { readonly faults: readonly SchemaFault[] } {
  if (json === "") return faultOf("must not be empty; an object without properties is {}");
  try {
    return { value: parseExactJson(json) };
  } catch (error) {
    // The message of the parser is used only for depth, because others quote the text.
    const isDeep = error instanceof SyntaxError && error.message.includes("nested");
    return faultOf(isDeep ? "is nested too deeply" : "is not JSON");
  }
}

function faultOf(message: string): { readonly faults: readonly SchemaFault[] } {
  return { faults: [{ pointer: "", message }] };
}
