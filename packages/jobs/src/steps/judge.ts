import { rerunOf } from "@svc/program";
import type { Change, Edit } from "../state/change.ts";
import { type Flow, type StepInstruction, stepOf } from "../state/flow.ts";
import { overrideEdits } from "./overrides.ts";
import { pointQuestion } from "./questions.ts";
import type { SettledQuestion, StepAt, StepKind } from "./step-kind.ts";

/** The step kind `judge`: asks people the question that the program defines in a judgment point. */
export const judgeKind: StepKind<"judge"> = {
  needs: "nothing",
  set: undefined,
  advance: advanceJudge,
  retried: "anew",
  answer: answerJudge,
};

function advanceJudge({ state, step, progress }: StepAt<"judge">): Change {
  const edits: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  const point = state.loaded.program.points.get(step.point);
  if (point === undefined) throw new Error(`a checked program lacks the point ${step.point}`);
  return {
    edits,
    next: { kind: "ask", question: pointQuestion(point, { kind: "judge", stepId: step.id, state }) },
  };
}

function answerJudge(at: StepAt<"judge">, { decision, overridesJson, chain }: SettledQuestion): Change {
  const { state, step, instruction } = at;
  const finish: Edit = {
    kind: "finish",
    stepId: step.id,
    state: state.isSimulated ? "simulated" : "completed",
    to: instruction.next,
  };
  switch (decision.continuation) {
    case "skip":
      return { edits: [finish, ...skipFollowing(at)], next: { kind: "on" } };
    case "retry-with":
      return { edits: [finish, ...repeat(at, overridesJson, chain)], next: { kind: "on" } };
    default:
      return { edits: [finish], next: { kind: "on" } };
  }
}

/**
 * Returns the changes that skip the step after a `judge` step (a question to a person). If a jump follows the `judge` step, the step that
 * the jump leads to is skipped. Returns an empty list at the end of the step list.
 */
function skipFollowing({ state, instruction }: StepAt<"judge">): Edit[] {
  const following = followingStep(state.loaded.flow, instruction.next);
  if (following === undefined) return [];
  return [
    { kind: "skip", step: following.step },
    { kind: "go", from: instruction.next, to: following.end },
  ];
}

/**
 * Returns the edits (changes to the job's state) that send the job back to an earlier step, with the values that the person changed in the
 * answer. From that step on, all calls are made again in a new round of calls. Their idempotency keys are new, so that they count as new
 * calls.
 */
function repeat({ state, step }: StepAt<"judge">, overridesJson: string, chain: readonly string[]): Edit[] {
  const { program, flow } = state.loaded;
  const overrides = program.points.get(step.point)?.overrides;
  const rerunFrom = overrides?.rerunFrom ?? step.id;
  const repeated = rerunOf(program, rerunFrom, step.id);
  const from = stepOf(flow, step.id).next;
  return [
    ...overrideEdits(step.id, overrides?.target, overridesJson, chain),
    ...("steps" in repeated ? repeated.steps.map(({ id }) => ({ kind: "forget", stepId: id }) as const) : []),
    { kind: "generation", stepId: step.id },
    { kind: "go", from, to: stepOf(flow, rerunFrom).index },
  ];
}

/**
 * Returns the next step at or after an index of the flat list of a program's steps, following any jump. Returns undefined at the end of a
 * round of an `until` step, of a branch, or of the program.
 */
function followingStep(flow: Flow, index: number): StepInstruction | undefined {
  const instruction = flow.instructions[index];
  if (instruction?.kind === "jump") return followingStep(flow, instruction.to);
  return instruction?.kind === "step" ? instruction : undefined;
}
