import { idForm, nameSchema } from "../read/name.ts";
import { pointExample } from "../read/points.ts";
import { nothing } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { quoted } from "./parts/title.ts";
import { noUse } from "./use.ts";

/** A step of kind `judge`: asks people the question of a judgment point (the place in a program where a person decides). */
export type JudgeStep = AnyStep & { readonly kind: "judge"; readonly point: string };

/**
 * Definition of the step kind `judge`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions.
 */
export const judgeLanguage: StepLanguage<JudgeStep> = {
  form: {
    description: "Asks a point and continues by the answer; skipped if when is false.",
    required: { judge: nameSchema("The point.", "many") },
    optional: {},
    examples: [{ id: "gate", judge: "many", when: "rows.open > 50" }],
  },
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: undefined, set: undefined, row: undefined },

  read(base, fields, { reader }) {
    const hint = `write the name of a point that is declared in points, such as "points": {"many": ${pointExample}}`;
    const point = reader.text(fields.at("judge"), { ...idForm, hint });
    return point === undefined ? undefined : { kind: "judge", ...base, point };
  },

  check: () => ({ own: nothing, inner: [] }),

  title({ point }, points) {
    const { isApproval = false, escalation = [] } = points.get(point) ?? {};
    const asked = quoted(escalation.map(({ principal }) => principal).join(", ")) || "an approver";
    return isApproval ? `Ask ${asked} for approval` : `Ask ${asked}`;
  },
  lists: () => [],
  calls: () => [],
  asks: ({ point }) => [{ point, about: "step", field: ["judge"], isCertain: true }],
  estimate: () => noUse,
};
