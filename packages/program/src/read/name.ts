import type { JsonSchema } from "@svc/catalog";
import { formatValue, isObject } from "@svc/core";
import type { JsonValue } from "../json.ts";
import type { ShapeNode, ShapeReader } from "./shape.ts";

/**
 * Rule for names that an author chooses in a program: ids of steps, ids of judgment points (questions to people), and names of values that
 * are computed over rows. Expressions use these names, so they contain only letters, digits and underscores.
 */
export const idForm = {
  max: 64,
  pattern: /^[A-Za-z][A-Za-z0-9_]{0,63}$/,
  hint: "write 1 to 64 letters, digits and _, a letter first",
};

/**
 * Returns the JSON Schema for a short name in a program: the id of a step, the name of a row set, or the name of a judgment point (a
 * question to people).
 */
export function nameSchema(description: string, example: string): JsonSchema {
  return { description, type: "string", pattern: idForm.pattern.source, examples: [example] };
}

/**
 * Reads the name of a set (list of rows) or of a judgment point (a question to people) in a program. A later check finds out if the name
 * exists.
 */
export function readName(node: ShapeNode, reader: ShapeReader): string | undefined {
  return reader.text(node, { ...idForm, hint: hintOfSet(node.value) });
}

/** Returns the hint for a wrong name of a set (the rows that a step made). The right name is the id of that step. */
function hintOfSet(value: ShapeNode["value"]): string {
  const [, id] =
    typeof value === "string"
      ? (/^\s*(?:\{\{?|\$\{?\.?)?\s*(?:steps\.|rows\.)?([A-Za-z]\w{0,63})(?:[.[}\s]|$)/.exec(value) ?? [])
      : [];
  return id === undefined || id === value
    ? idForm.hint
    : `write ${JSON.stringify(id)}, only the id, of a step that has rows`;
}

/** Returns the kind of a value in words, such as "a text". Of an object, only the first key is named, because values may be sensitive. */
export function kindText(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return "a text";
  if (typeof value === "boolean") return "true or false";
  // A number with more digits than a double can hold is kept as an object with its raw JSON text.
  if (!isObject(value)) return "a number";
  const [key] = Object.keys(value);
  return key === undefined ? "an empty object" : `an object with ${formatValue(key)}`;
}
