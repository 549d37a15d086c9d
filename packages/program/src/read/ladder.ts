import type { JsonSchema } from "@svc/catalog";
import type { ShapeFields, ShapeReader } from "./shape.ts";

/** Minimum and maximum number of hops (stages) in an escalation. */
export const hopCount = { min: 1, max: 5 };

/** Returns the JSON Schema of a contact's id. */
export function principalSchema(example: string): JsonSchema {
  return {
    description: "Id of a contact of the project.",
    type: "string",
    minLength: 1,
    maxLength: 200,
    examples: [example],
  };
}

/**
 * Reads the contact of one hop (stage of an escalation, in which one contact is asked). Returns an empty text if the contact cannot be
 * read. So the hop stays in the list, and the other hops keep their numbers in fault messages.
 */
export function readPrincipal(fields: ShapeFields | undefined, reader: ShapeReader): string {
  return (fields && reader.text(fields.at("principal"), { max: 200 })) ?? "";
}
