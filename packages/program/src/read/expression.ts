import type { JsonSchema } from "@svc/catalog";
import { pointerOf } from "../json.ts";
import type { Expression } from "../template.ts";
import { functionNames } from "../types/cel-kinds.ts";
import type { Node, ShapeReader } from "./shape.ts";
import { conditionForm } from "./value-advice.ts";

/** The definition `expression` of the JSON Schema. */
export const expressionDefinition: JsonSchema = {
  description: `A CEL expression that is true or false: at most 1,024 characters, 200 nodes, 24 levels, one comprehension. JSON numbers are doubles: write 1.0. It may name now, the time at which the step began. A field that is absent fails it: ask has(row.field) first. Functions, beside has, all, exists, exists_one, map and filter: ${functionNames.join(", ")}.`,
  type: "string",
  minLength: 1,
  examples: ["size(row.attendees) > params.minGuests"],
};

/** Reads an expression. What is wrong with it beyond its form is checked later. */
export function readExpression(node: Node, reader: ShapeReader): Expression | undefined {
  const source = reader.text(node, { max: Number.MAX_SAFE_INTEGER, hint: conditionForm(node.value) });
  return source === undefined ? undefined : { source, pointer: pointerOf(node.path) };
}
