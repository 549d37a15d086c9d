import { pathOf } from "../json.ts";
import { nothing } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import {
  checkReductions,
  type Reductions,
  readReductions,
  reductionsSchema,
  reductionsText,
} from "./parts/reductions.ts";
import { checkSource, type RowSource, readSource, sourceOptions, sourceSchema } from "./parts/source.ts";
import { noUse } from "./use.ts";

/** A step of kind `reduce`: computes values over all rows of a set (list of rows). `as`: the computed values by name. */
export type ReduceStep = AnyStep & RowSource & { readonly kind: "reduce"; readonly as: Reductions };

/**
 * Definition of the step kind `reduce`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions.
 */
export const reduceLanguage: StepLanguage<ReduceStep> = {
  form: {
    description: "Values over a set, read as steps.<id>.<name>.",
    required: { reduce: sourceSchema("remind"), as: reductionsSchema },
    optional: sourceOptions,
    examples: [
      { id: "sum", reduce: "remind", as: { sent: "count ok", failed: "count failed" } },
      {
        id: "digest",
        reduce: "deals",
        as: { lines: { text: { of: "- {row.title}", max: 50, more: "and {more} others" } } },
      },
    ],
  },
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: "reduces", set: undefined, row: { place: "the texts of a reduce or a group", isExpression: false } },

  read(base, fields, { reader }) {
    const source = readSource(fields, "reduce", reader);
    const as = readReductions(fields.at("as"), reader);
    return source === undefined ? undefined : { kind: "reduce", ...base, ...source, as };
  },

  check(step, { scope, check }) {
    const row = checkSource({ step, field: "reduce" }, scope, check);
    const properties = checkReductions(step.as, row, { path: [...pathOf(step.pointer), "as"], scope }, check);
    const type = check.faults.has(`${step.pointer}/as`) ? undefined : { type: "object", properties };
    return { own: { ...nothing, value: { type } }, inner: [] };
  },

  title: ({ as }) => reductionsText(as),
  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: () => noUse,
};
