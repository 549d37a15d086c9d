import type { Change } from "../state/change.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

/** Splits the job into its branches. The driver joins them. */
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
