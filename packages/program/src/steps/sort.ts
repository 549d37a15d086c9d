import type { Path } from "../json.ts";
import { type ObjectForm, schemaOf } from "../read/form.ts";
import type { ShapeNode, ShapeReader } from "../read/shape.ts";
import { typesOf } from "../types/schema-type.ts";
import { nothing, withoutStates } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { checkField, fieldPathSchema, fieldPlace, readFieldPath } from "./parts/field.ts";
import { checkSource, type RowSource, readSource, sourceOptions, sourceSchema } from "./parts/source.ts";
import { fieldsText } from "./parts/title.ts";
import { noUse } from "./use.ts";

/** A step of kind `sort`: sorts the rows of a set (list of rows). `by`: the fields to sort by, the most important first. */
export type SortStep = AnyStep & RowSource & { readonly kind: "sort"; readonly by: readonly SortKey[] };

/** A field to sort by. `isDescending`: true if the largest value comes first. */
export type SortKey = { readonly field: Path; readonly isDescending: boolean };

const orders = ["asc", "desc"] as const;

const keyCount = { min: 1, max: 5 };

const keyForm: ObjectForm = {
  description: "A field to order by.",
  required: { field: fieldPathSchema("value") },
  optional: { order: { description: "Default: asc.", enum: orders, examples: ["desc"] } },
  examples: [{ field: "value", order: "desc" }],
};

/** Definition of the step kind `sort`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions. */
export const sortLanguage: StepLanguage<SortStep> = {
  form: {
    description:
      "The rows of a set in another order: numbers before texts, null and absent values last. Rows with equal values keep their order.",
    required: {
      sort: sourceSchema("deals"),
      by: {
        description: "Fields to sort by: the first field, then the next for equal rows.",
        type: "array",
        minItems: keyCount.min,
        maxItems: keyCount.max,
        items: schemaOf(keyForm),
        examples: [[{ field: "value", order: "desc" }]],
      },
    },
    optional: sourceOptions,
    examples: [{ id: "largest", sort: "deals", by: [{ field: "value", order: "desc" }] }],
  },
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: undefined, set: "a sort", row: undefined },

  read(base, fields, { reader }) {
    const source = readSource(fields, "sort", reader);
    const by = reader
      .items(fields.at("by"), keyCount, [{ field: "value", order: "desc" }])
      ?.flatMap((item) => readKey(item, reader) ?? []);
    return source === undefined || by === undefined ? undefined : { kind: "sort", ...base, ...source, by };
  },

  check(step, { scope, check }) {
    const row = checkSource({ step, field: "sort" }, scope, check);
    for (const [index, { field }] of step.by.entries()) {
      const at = { field, pointer: step.pointer, place: ["by", index, "field"] };
      const types = typesOf(checkField(row, at, check));
      if (types === undefined || types.has("number") || types.has("string") || types.has("boolean")) continue;
      const hint = "name a field of numbers or texts";
      check.faults.add(
        "PROGRAM_REFERENCE_INVALID",
        fieldPlace(at),
        `is ${[...types].join(" or ")}, which cannot be sorted`,
        hint,
      );
    }
    return { own: { ...nothing, set: withoutStates(row) }, inner: [] };
  },

  title: ({ by }) => `Sort by ${fieldsText(by.map(({ field }) => field))}`,
  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: () => noUse,
  setSize: ({ source }, { sizeOf }) => sizeOf(source),
};

function readKey(node: ShapeNode, reader: ShapeReader): SortKey | undefined {
  const fields = reader.fields(node, keyForm);
  const field = fields && readFieldPath(fields.at("field"), reader);
  return field && { field, isDescending: reader.oneOf(fields.at("order"), orders) === "desc" };
}
