import type { Change, Edit } from "../state/change.ts";
import type { AgainInstruction } from "../state/flow.ts";
import type { StepEffects } from "./effects.ts";
import { expressionFailed } from "./expression-fault.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

/** Step kind `until`: repeats its inner steps, with pauses, until its expression is true. A simulated job runs them once. */
export const untilKind: StepKind<"until"> = {
  needs: "nothing",
  set: undefined,
  advance: ({ step, instruction }): Change => ({
    edits: [
      { kind: "begin", step },
      { kind: "block", stepId: step.id, block: { kind: "until", rounds: 1 } },
      { kind: "go", from: instruction.index, to: instruction.next },
    ],
    next: { kind: "on" },
  }),
  again: endRound,
  retried: "anew",
  answer: undefined,
};

/**
 * Returns the change at the end of a round of an `until` step (a loop). If it was the last round, the step ends. Otherwise the next round
 * begins after the step's pause.
 */
async function endRound(at: StepAt<"until">, round: AgainInstruction, effects: StepEffects): Promise<Change> {
  const { state, step } = at;
  const { rounds, wakeAt } = roundsOf(at);
  const nowMs = effects.clock.now();
  if (wakeAt !== undefined) {
    if (nowMs < wakeAt) return { edits: [], next: { kind: "wait", stepId: step.id, atMs: wakeAt } };
    return { edits: beginRound(at, round, rounds + 1), next: { kind: "on" } };
  }
  const condition = await effects.test(state, step.condition);
  if ("error" in condition) {
    return {
      edits: leave(at, round, at.instruction.index),
      next: expressionFailed(step.id, condition, { what: "until" }),
    };
  }
  if (condition.value || state.isSimulated) {
    const finished = state.isSimulated ? "simulated" : "completed";
    const finish: Edit = { kind: "finish", stepId: step.id, state: finished, to: round.to };
    return { edits: [finish, ...leave(at, round, round.to)], next: { kind: "on" } };
  }
  if (rounds >= step.max) {
    const message = `the expression is still false after ${rounds} rounds`;
    const code = "UNTIL_EXHAUSTED";
    return { edits: leave(at, round, at.instruction.index), next: { kind: "fail", stepId: step.id, code, message } };
  }
  const dueAt = nowMs + pauseMs(step.pause, rounds);
  return {
    edits: [
      { kind: "logProgress", stepId: step.id, counts: { rounds } },
      { kind: "block", stepId: step.id, block: { kind: "until", rounds, wakeAt: dueAt } },
    ],
    next: { kind: "wait", stepId: step.id, atMs: dueAt },
  };
}

function roundsOf({ state, step }: StepAt<"until">) {
  const block = state.blocks[step.id];
  if (block?.kind !== "until") throw new Error(`${state.id} is in ${step.id}, which has not begun`);
  return block;
}

/** Returns the pause after the given number of rounds, in milliseconds. */
function pauseMs({ everyMs, factor, capMs }: StepAt<"until">["step"]["pause"], rounds: number): number {
  return Math.min(capMs, everyMs * factor ** (rounds - 1));
}

/**
 * Returns the edits (changes to the job's state) that end the `until` step and delete the state of its rounds (runs of its inner steps).
 */
function leave({ step }: StepAt<"until">, { index }: AgainInstruction, to: number): Edit[] {
  return [
    { kind: "block", stepId: step.id, block: undefined },
    { kind: "go", from: index, to },
  ];
}

/**
 * Returns the changes to job state (edits) that begin the next round of an `until` step (a loop). They remove the results of the previous
 * round. Calls of the new round count as new calls.
 */
function beginRound({ step }: StepAt<"until">, { index, from, steps }: AgainInstruction, rounds: number): Edit[] {
  return [
    { kind: "receipt", stepId: step.id, isNewAttempt: true },
    ...steps.map(({ id }) => ({ kind: "forget", stepId: id }) as const),
    { kind: "generation", stepId: step.id },
    { kind: "block", stepId: step.id, block: { kind: "until", rounds } },
    { kind: "go", from: index, to: from },
  ];
}
