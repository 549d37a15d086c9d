import { checkExpression } from "../check/expression.ts";
import { readExpression } from "../read/expression.ts";
import { ref } from "../read/form.ts";
import { nameSchema, readName } from "../read/name.ts";
import type { Expression } from "../template.ts";
import { nothing } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { noUse } from "./use.ts";

/** Asks a point; with `when` false it is skipped. */
export type JudgeStep = AnyStep & {
  readonly kind: "judge";
  readonly point: string;
  readonly when: Expression | undefined;
};

/** The language of `judge`. */
export const judgeLanguage: StepLanguage<JudgeStep> = {
  form: {
    description: "Asks a point and goes on as the answer says; with when false it is skipped.",
    required: { judge: nameSchema("The point.", "many") },
    optional: { when: ref("expression") },
    examples: [{ id: "gate", judge: "many", when: "rows.open > 50" }],
  },
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: undefined, set: undefined, row: undefined },

  read(base, fields, { reader }) {
    const point = readName(fields.at("judge"), reader);
    const when = fields.has("when") ? readExpression(fields.at("when"), reader) : undefined;
    return point === undefined ? undefined : { kind: "judge", ...base, point, when };
  },

  check({ when }, { scope, check }) {
    if (when !== undefined) checkExpression(when, scope, check.faults);
    return { own: nothing, inner: [] };
  },

  lists: () => [],
  calls: () => [],
  asks: ({ point, when }) => [{ point, about: "step", field: ["judge"], isCertain: when === undefined }],
  estimate: () => noUse,
};
