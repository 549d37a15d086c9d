import { limitBounds } from "../limits.ts";
import { wholeSchema } from "../read/form.ts";
import { nothing, withoutStates } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { checkSource, type RowSource, readSource, sourceOptions, sourceSchema } from "./parts/source.ts";
import { noUse } from "./use.ts";

/** A step of kind `limit`: keeps only the first rows of a set (list of rows that an earlier step made), at most `max`. */
export type LimitStep = AnyStep & RowSource & { readonly kind: "limit"; readonly max: number };

/**
 * Definition of the step kind `limit`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions.
 */
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

  title: ({ max }) => `Keep the first ${max} rows`,
  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: () => noUse,
  setSize: ({ source, max }, { sizeOf }) => Math.min(max, sizeOf(source)),
};
