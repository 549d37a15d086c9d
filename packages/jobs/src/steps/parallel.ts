import type { Change } from "../state/change.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

/** The step kind `parallel`: splits the job's position into one for each branch. The driver joins the branches at their end. */
export const parallelKind: StepKind<"parallel"> = {
  needs: "nothing",
  set: undefined,
  advance: ({ step, instruction: { index, branches } }: StepAt<"parallel">): Change => ({
    edits: [
      { kind: "begin", step },
      { kind: "block", stepId: step.id, block: { kind: "parallel", begun: [], over: [] } },
      { kind: "fork", from: index, to: branches.map(({ from }) => from) },
    ],
    next: { kind: "on" },
  }),
  retried: "anew",
  answer: undefined,
};
