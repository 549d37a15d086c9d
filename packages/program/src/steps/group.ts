import { pathOf } from "../json.ts";
import { nothing } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { checkField } from "./parts/field.ts";
import { withKept } from "./parts/keep.ts";
import { checkReductions, type Reductions, readReductions, reductionsSchema } from "./parts/reductions.ts";
import { fieldName, fieldSchema } from "./parts/rows.ts";
import { checkSource, type RowSource, readSource, sourceOptions, sourceSchema } from "./parts/source.ts";
import { quoted } from "./parts/title.ts";
import { noUse } from "./use.ts";

/**
 * Step kind `group`: makes one row for each combination of values of some fields, with values that are computed over the rows of that
 * group.
 */
export type GroupStep = AnyStep &
  RowSource & {
    readonly kind: "group";
    readonly by: readonly string[];
    readonly as: Reductions;
  };

const fieldCount = { min: 1, max: 10 };

/**
 * Definition of the step kind `group`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions.
 */
export const groupLanguage: StepLanguage<GroupStep> = {
  form: {
    description:
      "A row for each combination of values of some fields: it has these fields, and values over the rows that are equal in them. The order is that of first occurrence.",
    required: {
      group: sourceSchema("deals"),
      by: {
        description: "Fields to group by. An absent field counts as null, and null equals null.",
        type: "array",
        minItems: fieldCount.min,
        maxItems: fieldCount.max,
        uniqueItems: true,
        items: fieldSchema("Name of a field.", "owner"),
        examples: [["owner"]],
      },
      as: reductionsSchema,
    },
    optional: sourceOptions,
    examples: [{ id: "owners", group: "deals", by: ["owner"], as: { deals: "count", worth: "sum value" } }],
  },
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: undefined, set: "a group", row: undefined },

  read(base, fields, { reader }) {
    const source = readSource(fields, "group", reader);
    const by = reader
      .items(fields.at("by"), fieldCount, ["owner"])
      ?.flatMap((item) => reader.text(item, fieldName) ?? []);
    const as = readReductions(fields.at("as"), reader);
    if (by !== undefined && new Set(by).size < by.length) {
      reader.faults.add("PROGRAM_MALFORMED", fields.at("by").path, "names a field twice", "name each field once");
    }
    return source === undefined || by === undefined ? undefined : { kind: "group", ...base, ...source, by, as };
  },

  check(step, { scope, check }) {
    const row = checkSource({ step, field: "group" }, scope, check);
    const fields = new Map(
      step.by.map((name, index) => {
        return [name, checkField(row, { field: [name], pointer: step.pointer, place: ["by", index] }, check)] as const;
      }),
    );
    const path = [...pathOf(step.pointer), "as"];
    const kept = Object.entries(checkReductions(step.as, row, { path, scope }, check));
    const set = { fields: withKept({ row: { fields, hasStates: false }, kept, path }, check), hasStates: false };
    return { own: { ...nothing, set: row === "any" ? "any" : set }, inner: [] };
  },

  title: ({ by }) => `Group by ${quoted(by.join(", "))}`,
  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: () => noUse,
  setSize: ({ source }, { sizeOf }) => sizeOf(source),
};
