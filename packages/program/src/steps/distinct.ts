import type { Path } from "../json.ts";
import { nothing, withoutStates } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { checkField, fieldPathSchema, readFieldPath } from "./parts/field.ts";
import { checkSource, type RowSource, readSource, sourceOptions, sourceSchema } from "./parts/source.ts";
import { fieldsText } from "./parts/title.ts";
import { noUse } from "./use.ts";

/** Step kind `distinct`: keeps the first row for each combination of values of the `by` fields. */
export type DistinctStep = AnyStep & RowSource & { readonly kind: "distinct"; readonly by: readonly Path[] };

const fieldCount = { min: 1, max: 10 };

/**
 * Definition of the step kind `distinct`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions.
 */
export const distinctLanguage: StepLanguage<DistinctStep> = {
  form: {
    description: "A new set without duplicates: of rows that are equal in the named fields, only the first stays.",
    required: {
      distinct: sourceSchema("contacts"),
      by: {
        description: "Fields to compare. An absent field counts as null, and null equals null.",
        type: "array",
        minItems: fieldCount.min,
        maxItems: fieldCount.max,
        items: fieldPathSchema("email"),
        examples: [["email"]],
      },
    },
    optional: sourceOptions,
    examples: [{ id: "people", distinct: "contacts", by: ["email"] }],
  },
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: undefined, set: "a distinct", row: undefined },

  read(base, fields, { reader }) {
    const source = readSource(fields, "distinct", reader);
    const by = reader.items(fields.at("by"), fieldCount, ["email"])?.flatMap((item) => {
      const field = readFieldPath(item, reader);
      return field === undefined ? [] : [field];
    });
    return source === undefined || by === undefined ? undefined : { kind: "distinct", ...base, ...source, by };
  },

  check(step, { scope, check }) {
    const row = checkSource({ step, field: "distinct" }, scope, check);
    for (const [index, field] of step.by.entries()) {
      checkField(row, { field, pointer: step.pointer, place: ["by", index] }, check);
    }
    return { own: { ...nothing, set: withoutStates(row) }, inner: [] };
  },

  title: ({ by }) => `Keep one row for each ${fieldsText(by)}`,
  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: () => noUse,
  setSize: ({ source }, { sizeOf }) => sizeOf(source),
};
