import type { JsonSchema } from "@svc/catalog";
import { formatValue } from "@svc/core";
import type { Check } from "../../check/context.ts";
import { type Path, pathOf } from "../../json.ts";
import { parsePath } from "../../read/reference.ts";
import type { ShapeNode, ShapeReader } from "../../read/shape.ts";
import { type ValueType, walkType } from "../../types/schema-type.ts";
import type { RowSet } from "../../types/scope.ts";

const pathMax = 512;
const pathPattern = String.raw`^[^.\[\]{}\s"]+(\.[^.\[\]{}\s"]+|\[\d{1,6}\])*$`;

/** Returns the JSON Schema for the text in a program that names a field of a row, or a path inside a field. */
export function fieldPathSchema(
  example: string,
  description = "A field of the rows, or a path inside one.",
): JsonSchema {
  return { description, type: "string", maxLength: pathMax, pattern: pathPattern, examples: [example] };
}

/** Reads the text in which a step names a field of a row. Returns the field's path. */
export function readFieldPath(node: ShapeNode, reader: ShapeReader): Path | undefined {
  const hint = 'write the name of a field, such as "value", or a path inside it, such as "owner.name"';
  const text = reader.text(node, { max: pathMax, hint });
  const path = text === undefined ? undefined : parsePath(text);
  if (text !== undefined && path === undefined) {
    reader.faults.add(
      "PROGRAM_MALFORMED",
      node.path,
      `is ${formatValue(text)}, which is not the path of a field`,
      hint,
    );
  }
  return path;
}

/** A field of a row that a step names. `field`: path of the field in the row. `place`: path in the step at which it is named. */
export type NamedField = { readonly field: Path; readonly pointer: string; readonly place: Path };

/** Checks that a field which a step names exists in its rows, and returns the field's type. Records every fault. */
export function checkField(row: RowSet | "any", named: NamedField, { faults }: Pick<Check, "faults">): ValueType {
  if (row === "any") return undefined;
  const [first, ...rest] = named.field;
  const name = String(first);
  const add = (message: string, hint: string) =>
    faults.add("PROGRAM_REFERENCE_INVALID", fieldPlace(named), message, hint);
  if (!row.fields.has(name)) {
    add(`rows have no field ${name}`, `keep it, or use ${[...row.fields.keys()].join(", ")}`);
    return undefined;
  }
  const found = walkType(row.fields.get(name), rest);
  if ("type" in found) return found.type;
  add(`the field ${found.fault}`, "name a field that exists");
  return undefined;
}

/** Returns the path in the program where a step writes the name of a field. Fault reports use this path. */
export function fieldPlace({ pointer, place }: Pick<NamedField, "pointer" | "place">): Path {
  return [...pathOf(pointer), ...place];
}
