import type { JsonSchema } from "@svc/catalog";
import type { Node, ShapeReader } from "./shape.ts";

/** The form of ids of steps and points, and of names of reduced numbers: names that expressions can write. */
export const idForm = {
  max: 64,
  pattern: /^[A-Za-z][A-Za-z0-9_]{0,63}$/,
  hint: "write 1 to 64 letters, digits and _, a letter first",
};

/** The JSON Schema of an id or of the name of a set or point. */
export function nameSchema(description: string, example: string): JsonSchema {
  return { description, type: "string", pattern: idForm.pattern.source, examples: [example] };
}

/** Reads the name of a set or point; whether it is one is checked later. */
export function readName(node: Node, reader: ShapeReader): string | undefined {
  return reader.text(node, { ...idForm, hint: hintOfSet(node.value) });
}

/** A set has the name of its step. */
function hintOfSet(value: Node["value"]): string {
  const [, id] =
    typeof value === "string"
      ? (/^\s*(?:\{\{?|\$\{?\.?)?\s*(?:steps\.|rows\.)?([A-Za-z]\w{0,63})(?:[.[}\s]|$)/.exec(value) ?? [])
      : [];
  return id === undefined || id === value
    ? idForm.hint
    : `write ${JSON.stringify(id)}, the id alone, whose step has rows`;
}

/** What to write for an id that has not its form. */
export function hintOfId(value: Node["value"]): string {
  const id =
    typeof value === "string"
      ? value
          .slice(0, 64)
          .replaceAll(/[^A-Za-z0-9]+/g, "_")
          .replace(/^[^A-Za-z]+|_$/g, "")
      : "";
  return id === "" ? idForm.hint : `write ${JSON.stringify(id)}: 1 to 64 letters, digits and _, a letter first`;
}
