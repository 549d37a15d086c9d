import type { JsonSchema } from "@svc/catalog";
import { durationBounds } from "../limits.ts";
import type { Hop } from "../point.ts";
import { durationSchema, type ObjectForm } from "./form.ts";
import type { Fields, Node, ShapeReader } from "./shape.ts";

/** Most hops of a ladder. */
export const hopCount = { min: 1, max: 5 };

/** The form of a hop. */
export const hopForm: ObjectForm = {
  description: "One contact that a question goes to.",
  required: { principal: principalSchema("lead") },
  optional: {
    timeout: durationSchema(
      "How long the question stays here, 1m to 30d. Only the last hop may lack it, and then the question stays.",
      "4h",
    ),
  },
  examples: [{ principal: "lead", timeout: "4h" }],
};

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
export function readPrincipal(fields: Fields | undefined, reader: ShapeReader): string {
  return (fields && reader.text(fields.at("principal"), { max: 200 })) ?? "";
}

/** Reads the ladder of a question; none when nothing is said. */
export function readLadder(node: Node, reader: ShapeReader): Hop[] {
  const items = node.value === undefined ? undefined : reader.items(node, hopCount);
  return (items ?? []).map((item) => {
    const fields = reader.fields(item, hopForm);
    const timeoutMs = fields && reader.duration(fields.at("timeout"), durationBounds.hop);
    return { principal: readPrincipal(fields, reader), timeoutMs };
  });
}
