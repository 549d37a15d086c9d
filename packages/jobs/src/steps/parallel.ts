import type { Change } from "../state/change.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

/**
 * The step kind `parallel`, which runs branches of steps at the same time. It replaces the job's position in the program by one position
 * for each branch. When the branches have ended, the driver (the loop that runs one job's steps) joins them into one position.
 */
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
