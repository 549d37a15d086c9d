import type { Change, Edit } from "../state/change.ts";
import type { StepEffects } from "./effects.ts";
import { expressionFailed } from "./expression-fault.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

/** The step kind `if`: continues in one of two branches. A condition decides which. */
export const ifKind: StepKind<"if"> = {
  needs: "nothing",
  set: undefined,
  advance: async ({ state, step, instruction }: StepAt<"if">, effects: StepEffects): Promise<Change> => {
    const begin: Edit = { kind: "begin", step };
    const condition = await effects.test(state, step.condition);
    if ("error" in condition) return { edits: [begin], next: expressionFailed(step.id, condition, { what: "if" }) };
    const to = condition.value ? instruction.next : instruction.otherwise;
    return {
      edits: [begin, { kind: "finish", stepId: step.id, state: "completed", to }],
      next: { kind: "on" },
    };
  },
  retried: "anew",
  answer: undefined,
};
