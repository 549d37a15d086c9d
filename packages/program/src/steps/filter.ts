import { checkExpression } from "../check/expression.ts";
import type { Path } from "../json.ts";
import { limitBounds } from "../limits.ts";
import { readExpression } from "../read/expression.ts";
import { ref, wholeSchema } from "../read/form.ts";
import type { Expression } from "../template.ts";
import { nothing, withoutStates } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { checkField, fieldPathSchema, readFieldPath } from "./parts/field.ts";
import { checkSource, type RowSource, readSource, sourceOptions, sourceSchema } from "./parts/source.ts";
import { noUse } from "./use.ts";

/** The rows of a set for which an expression holds, as a new set. */
export type FilterStep = AnyStep & RowSource & { readonly kind: "filter"; readonly where: Expression };

/** The language of `filter`. */
export const filterLanguage: StepLanguage<FilterStep> = {
  form: {
    description: "The rows of a set for which an expression over row holds, as a new set.",
    required: { filter: sourceSchema("fetch"), where: ref("expression") },
    optional: sourceOptions,
    examples: [{ id: "open", filter: "fetch", where: "size(row.attendees) > 1" }],
  },
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: undefined, set: "a filter", row: { place: "the where of a filter", isExpression: true } },

  read(base, fields, { reader }) {
    const source = readSource(fields, "filter", reader);
    const where = readExpression(fields.at("where"), reader);
    return source === undefined || where === undefined ? undefined : { kind: "filter", ...base, ...source, where };
  },

  check(step, { scope, check }) {
    const row = checkSource({ step, field: "filter" }, scope, check);
    checkExpression(step.where, { ...scope, row }, check.faults);
    return { own: { ...nothing, set: withoutStates(row) }, inner: [] };
  },

  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: () => noUse,
  setSize: ({ source }, { sizeOf }) => sizeOf(source),
};

/** The first rows of a set. */
export type LimitStep = AnyStep & RowSource & { readonly kind: "limit"; readonly max: number };

/** The language of `limit`. */
export const limitLanguage: StepLanguage<LimitStep> = {
  form: {
    description: "The first rows of a set, as a new set.",
    required: { limit: sourceSchema("largest"), max: wholeSchema("Most rows.", limitBounds.rows, 10) },
    optional: sourceOptions,
    examples: [{ id: "top", limit: "largest", max: 10 }],
  },
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: undefined, set: "a limit", row: undefined },

  read(base, fields, { reader }) {
    const source = readSource(fields, "limit", reader);
    const max = reader.number(fields.at("max"), limitBounds.rows);
    return source === undefined || max === undefined ? undefined : { kind: "limit", ...base, ...source, max };
  },

  check(step, { scope, check }) {
    const row = checkSource({ step, field: "limit" }, scope, check);
    return { own: { ...nothing, set: withoutStates(row) }, inner: [] };
  },

  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: () => noUse,
  setSize: ({ source, max }, { sizeOf }) => Math.min(max, sizeOf(source)),
};

/** The first row of a set for each value of some fields. */
export type DistinctStep = AnyStep & RowSource & { readonly kind: "distinct"; readonly by: readonly Path[] };

const fieldCount = { min: 1, max: 10 };

/** The language of `distinct`. */
export const distinctLanguage: StepLanguage<DistinctStep> = {
  form: {
    description: "Of the rows of a set that are alike in some fields the first one each, as a new set.",
    required: {
      distinct: sourceSchema("contacts"),
      by: {
        description: "Fields in which rows are alike. What is absent is null, and null is like null.",
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

  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: () => noUse,
  setSize: ({ source }, { sizeOf }) => sizeOf(source),
};
