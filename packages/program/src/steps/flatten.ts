import { formatValue } from "@svc/core";
import { fieldType, typesOf, walkType } from "../types/schema-type.ts";
import { nothing } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { checkField, fieldPlace } from "./parts/field.ts";
import { type AddedFields, keepPath, keepSchema, readKeep, withKept } from "./parts/keep.ts";
import { fieldName, fieldSchema, noteUnknown } from "./parts/rows.ts";
import { checkSource, type RowSource, readSource, sourceOptions, sourceSchema } from "./parts/source.ts";
import { quoted } from "./parts/title.ts";
import { noUse } from "./use.ts";

/** Step kind `flatten`: makes one row for each item of a list in a row's field. */
export type FlattenStep = AnyStep &
  RowSource & {
    readonly kind: "flatten";
    readonly field: string;
    /** Fields that each new row gets from its list item: the name of each field, and its path in the item, for example `item.email`. */
    readonly keep: AddedFields;
  };

/**
 * Definition of the step kind `flatten`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions.
 */
export const flattenLanguage: StepLanguage<FlattenStep> = {
  form: {
    description:
      "A row for each item of a list field; the other fields of its row stay. A row without items gives no rows.",
    required: {
      flatten: sourceSchema("contracts"),
      field: fieldSchema("The field that holds a list.", "signers"),
      keep: keepSchema("Fields to take from the item; item alone is the whole item.", "item", [
        { email: "item.email", status: "item.status" },
      ]),
    },
    optional: sourceOptions,
    examples: [{ id: "signers", flatten: "contracts", field: "signers", keep: { email: "item.email" } }],
  },
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: undefined, set: "a flatten", row: undefined },

  read(base, fields, { reader }) {
    const source = readSource(fields, "flatten", reader);
    const field = reader.text(fields.at("field"), fieldName);
    const keep = readKeep(fields.at("keep"), "item", reader);
    if (source === undefined || field === undefined) return undefined;
    return { kind: "flatten", ...base, ...source, field, keep };
  },

  check(step, { scope, check }) {
    const row = checkSource({ step, field: "flatten" }, scope, check);
    if (row === "any") return { own: { ...nothing, set: "any" }, inner: [] };
    const at = { field: [step.field], pointer: step.pointer, place: ["field"] };
    const list = checkField(row, at, check);
    const types = typesOf(list);
    if (types !== undefined && !types.has("array")) {
      const message = `${formatValue(step.field)} is ${[...types].join(" or ")}, not a list`;
      check.faults.add("PROGRAM_REFERENCE_INVALID", fieldPlace(at), message, "name a field that holds a list");
      return { own: { ...nothing, set: "any" }, inner: [] };
    }
    const item = fieldType(list, 0);
    const fieldsOfItem = step.keep.flatMap(([, path]) => (path.length === 0 ? [] : [path.join(".")]));
    noteUnknown("type" in item ? item.type : undefined, keepPath(step), fieldsOfItem, check.faults);
    const kept = step.keep.map(([name, path]) => {
      const found = walkType("type" in item ? item.type : undefined, path);
      if ("type" in found) return [name, found.type] as const;
      const hint = "name a field of the items";
      check.faults.add("PROGRAM_REFERENCE_INVALID", [...keepPath(step), name], `the item ${found.fault}`, hint);
      return [name, undefined] as const;
    });
    const fields = withKept({ row, kept, path: keepPath(step), replaced: step.field }, check);
    return { own: { ...nothing, set: { fields, hasStates: false } }, inner: [] };
  },

  title: ({ field }) => `Make a row for each of ${quoted(field)}`,
  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: () => noUse,
};
