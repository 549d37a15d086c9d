import { checkCondition } from "../check/expression.ts";
import { readExpression } from "../read/expression.ts";
import { type ObjectForm, ref } from "../read/form.ts";
import type { Expression } from "../template.ts";
import { nothing, whereAsked } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { quotedRule } from "./parts/title.ts";
import { eitherUse } from "./use.ts";

/** Step kind `if`: runs one of two lists of steps. `Inner`: the type of these steps. */
export type IfStepOf<Inner extends AnyStep> = AnyStep & {
  readonly kind: "if";
  readonly condition: Expression;
  readonly whenTrue: readonly Inner[];
  readonly whenFalse: readonly Inner[];
};

const stepCount = { min: 1, max: Number.MAX_SAFE_INTEGER };
const branchExample = [{ id: "pause", wait: "1m" }];

const form: ObjectForm = {
  description: "Runs one of two lists of steps. References to a branch's values from outside need else.",
  // biome-ignore lint/suspicious/noThenProperty: programs have the field, and nobody awaits a form.
  required: { if: ref("expression"), then: ref("branch") },
  optional: { else: ref("branch") },
  // biome-ignore lint/suspicious/noThenProperty: as above.
  examples: [{ id: "busy", if: "rows.open > 0", then: branchExample }],
};

/**
 * Returns the definition of the step kind `if`: its fields, and how svc reads and checks such a step and estimates its calls, rows and
 * questions. `Inner`: the type of the steps in its branches.
 */
export function ifLanguage<Inner extends AnyStep>(): StepLanguage<IfStepOf<Inner>, Inner> {
  return {
    form,
    formInMap: undefined,
    refusedInItself: {
      message: "is an if inside a branch of another",
      hint: "put the condition next to the outer one, or after it in a separate step",
    },
    takesOnError: true,
    definitions: {
      branch: {
        description: "Steps, run in order. If, until and parallel may contain each other, but not their own kind.",
        type: "array",
        minItems: stepCount.min,
        items: ref("step"),
        examples: [branchExample],
      },
    },
    named: { value: undefined, set: undefined, row: undefined },

    read(base, fields, { reader, list }) {
      const condition = readExpression(fields.at("if"), reader) ?? { source: "true", pointer: base.pointer };
      const whenTrue = list(fields.at("then"), "branch", stepCount);
      const whenFalse = fields.has("else") ? list(fields.at("else"), "branch", stepCount) : [];
      return { kind: "if", ...base, condition, whenTrue, whenFalse };
    },

    check({ condition, whenTrue, whenFalse }, { scope, check, list }) {
      checkCondition(condition, scope, check.faults);
      const inside = whereAsked(scope, condition);
      const left = [whenTrue, whenFalse].flatMap((steps) => [...list(steps, inside)]);
      // Later steps cannot rely on the results of a branch, because the job may have taken the other branch.
      return { own: nothing, inner: left.map(([id, ended]) => [id, { ...ended, maySkip: true }] as const) };
    },

    title: ({ condition }) => `If ${quotedRule(condition.source)}`,
    lists: ({ whenTrue, whenFalse }) => [whenTrue, whenFalse],
    calls: () => [],
    asks: () => [],
    estimate: ({ whenTrue, whenFalse }, { list }) => eitherUse(list(whenTrue), list(whenFalse)),
  };
}
