import type { JsonSchema } from "@svc/catalog";
import type { ShapeFields, ShapeReader } from "./shape.ts";

/** Most hops of a ladder. */
export const hopCount = { min: 1, max: 5 };

/** The JSON Schema of the id of a contact. */
export function principalSchema(example: string): JsonSchema {
  return {
    description: "Id of a contact of the project.",
    type: "string",
    minLength: 1,
    maxLength: 200,
    examples: [example],
  };
}

/** Reads whom a hop goes to. One that cannot be read is "": it keeps its place, since the others are told by theirs. */
export function readPrincipal(fields: ShapeFields | undefined, reader: ShapeReader): string {
  return (fields && reader.text(fields.at("principal"), { max: 200 })) ?? "";
}
