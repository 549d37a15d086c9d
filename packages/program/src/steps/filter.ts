import { checkExpression } from "../check/expression.ts";
import { readExpression } from "../read/expression.ts";
import { ref } from "../read/form.ts";
import type { Expression } from "../template.ts";
import { nothing, withoutStates } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { checkSource, type RowSource, readSource, sourceOptions, sourceSchema } from "./parts/source.ts";
import { quotedRule } from "./parts/title.ts";
import { noUse } from "./use.ts";

/** A step of kind `filter`: makes a new set (list of rows) of the rows for which a condition is true. */
export type FilterStep = AnyStep & RowSource & { readonly kind: "filter"; readonly where: Expression };

/**
 * Definition of the step kind `filter`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions.
 */
export const filterLanguage: StepLanguage<FilterStep> = {
  form: {
    description: "A new set of the rows for which the expression over row is true.",
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

  title: ({ where }) => `Keep ${quotedRule(where.source)}`,
  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: () => noUse,
  setSize: ({ source }, { sizeOf }) => sizeOf(source),
};
