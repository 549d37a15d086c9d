import type { JsonSchema } from "@svc/catalog";
import { formatValue } from "@svc/core";
import type { Check } from "../../check/context.ts";
import { type Path, pathOf } from "../../json.ts";
import { idForm } from "../../read/name.ts";
import { parsePath } from "../../read/reference.ts";
import type { ShapeNode, ShapeReader } from "../../read/shape.ts";
import type { ValueType } from "../../types/schema-type.ts";
import type { RowSet } from "../../types/scope.ts";

/**
 * Fields that a step adds to its rows. Each has a name, and the path of its value in the data that the step reads, for example in the
 * answer of a call.
 */
export type AddedFields = readonly (readonly [name: string, path: Path])[];

const keptCount = { min: 1, max: 50 };
const pathMax = 512;

/**
 * Returns the JSON Schema of a `keep` field, which selects fields to keep by their paths. `root`: first word of every path, for example
 * `item` in `item.name`.
 */
export function keepSchema(description: string, root: string, examples: readonly [object, ...object[]]): JsonSchema {
  return {
    description,
    type: "object",
    minProperties: keptCount.min,
    maxProperties: keptCount.max,
    propertyNames: { pattern: idForm.pattern.source },
    additionalProperties: {
      description: `The path of a value, starting with ${root}.`,
      type: "string",
      maxLength: pathMax,
      pattern: String.raw`^${root}(\.[^.\[\]{}\s"]+|\[\d{1,6}\])*$`,
      examples: Object.values(examples[0]),
    },
    examples,
  };
}

/**
 * Reads the field `keep` of a step: the fields that the step adds to its rows. In the program, each path begins with `root` (for example
 * `item.email`). The returned paths are without `root` (`email`). Returns an empty list if `keep` is absent.
 */
export function readKeep(node: ShapeNode, root: string, reader: ShapeReader): AddedFields {
  const object = node.value === undefined ? undefined : reader.object(node);
  const entries = Object.entries(object ?? {});
  if (object !== undefined && (entries.length === 0 || entries.length > keptCount.max)) {
    const hint = `name 1 to ${keptCount.max} fields, such as {"<name>": "${root}.<field>"}`;
    reader.faults.add("PROGRAM_MALFORMED", node.path, `names ${entries.length} fields`, hint);
  }
  return entries.slice(0, keptCount.max).flatMap(([name, value]) => {
    const at = { value, path: [...node.path, name] };
    if (!idForm.pattern.test(name)) {
      reader.faults.add("PROGRAM_MALFORMED", at.path, `is named ${formatValue(name)}`, idForm.hint);
    }
    const hint = `write the path of a value, such as "${root}.<field>"`;
    const text = reader.text(at, { max: pathMax, hint });
    if (text === undefined) return [];
    const [first, ...path] = parsePath(text) ?? [];
    if (first === root) return [[name, path] as const];
    reader.faults.add("PROGRAM_MALFORMED", at.path, `is ${formatValue(text)}, which does not start with ${root}`, hint);
    return [];
  });
}

/**
 * Returns the fields of a row after a step: with the added fields `kept`, and without the field `replaced`. Records a fault if an added
 * field already exists.
 */
export function withKept(
  { row, kept, path, replaced }: KeptFields,
  { faults }: Pick<Check, "faults">,
): ReadonlyMap<string, ValueType> {
  const fields = new Map(row.fields);
  if (replaced !== undefined) fields.delete(replaced);
  for (const [name, type] of kept) {
    if (fields.has(name)) {
      faults.add("PROGRAM_MALFORMED", [...path, name], "is already a field of the rows", "give it another name");
    }
    fields.set(name, type);
  }
  return fields;
}

/**
 * The fields that a step adds to its rows. `row`: the fields of the rows before the step. `kept`: name and type of each added field. `path`:
 * path in the program where they are named. `replaced`: a field that the step removes.
 */
export type KeptFields = {
  readonly row: RowSet;
  readonly kept: Iterable<readonly [string, ValueType]>;
  readonly path: Path;
  readonly replaced?: string;
};

/** Returns the path of the field `keep` of a step, from the root of the program. `pointer`: JSON Pointer of the step. */
export function keepPath({ pointer }: { readonly pointer: string }): Path {
  return [...pathOf(pointer), "keep"];
}
