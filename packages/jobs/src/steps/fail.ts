import type { Change, Edit } from "../state/change.ts";
import { textForPeople } from "./questions.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

/** Error code of a `fail` step. */
const failCode = "FAIL_STEP";

/** The step kind `fail`: fails with the text that the program gives. It does so in a simulation as well. */
export const failKind: StepKind<"fail"> = {
  needs: "nothing",
  set: undefined,
  advance: advanceFail,
  retried: "anew",
  answer: undefined,
};

function advanceFail({ state, step, progress }: StepAt<"fail">): Change {
  const edits: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  return {
    edits,
    next: { kind: "fail", stepId: step.id, code: failCode, message: textForPeople(step.text, step.id, state) },
  };
}
