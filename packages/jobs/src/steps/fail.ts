import type { CelOutcome } from "@svc/program";
import type { Change, Edit, Next } from "../state/change.ts";
import { stepOf } from "../state/flow.ts";
import type { JobState } from "../state/job.ts";
import type { StepEffects } from "./effects.ts";
import type { CallFault } from "./invoke.ts";
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

/** A row fails for the condition of a call that has no answer. */
export function faultOfExpression(callId: string, outcome: Extract<CelOutcome, { error: string }>): CallFault {
  const message = `when of ${callId} ${outcome.error}`;
  return { code: codeOf(outcome), message, plain: message };
}

/** A step fails for an expression that has no answer. `what` names it, and `where` its row. */
export function expressionFailed(
  stepId: string,
  outcome: Extract<CelOutcome, { error: string }>,
  { what, where = "" }: { readonly what: string; readonly where?: string },
): Next {
  return { kind: "fail", stepId, code: codeOf(outcome), message: `${what} ${outcome.error}${where}` };
}

function codeOf({ isTooExpensive = false }: Extract<CelOutcome, { error: string }>): string {
  return isTooExpensive ? "EXPRESSION_TOO_EXPENSIVE" : "EXPRESSION_FAILED";
}

/** Takes one of two branches. */
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
