import type { Change, Edit } from "../state/change.ts";
import { stepOf } from "../state/flow.ts";
import type { JobState } from "../state/job.ts";
import { textForPeople } from "./questions.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

/** Code of the error of a `fail` step. */
const failCode = "FAIL_STEP";

/** Fails with the text of the program, in a simulation too. */
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

/** Returns why a job that has ended asks that its standing program be paused; undefined if it does not. */
export function pauseAskedBy({ status, lastError, loaded }: JobState): string | undefined {
  const [, stepId = "", text] = /^FAIL_STEP: step (\w+): (.*)$/s.exec(lastError) ?? [];
  if (status !== "failed" || text === undefined || !loaded.flow.indexOf.has(stepId)) return undefined;
  const { step } = stepOf(loaded.flow, stepId);
  return step.kind === "fail" && step.pauses ? text : undefined;
}
