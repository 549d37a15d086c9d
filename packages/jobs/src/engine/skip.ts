import type { Step } from "../program/program.ts";
import type { Run } from "./run.ts";

/** Skips the step at an index, or the one that a jump there leads to. Nothing is done when the program ends there. */
export function skipStepAt(run: Run, index: number): void {
  const instruction = run.loaded.flow.instructions[index];
  if (instruction === undefined) return;
  if (instruction.kind === "jump") {
    skipStepAt(run, instruction.to);
    return;
  }
  skipStep(run, instruction.step);
  run.setPosition(instruction.kind === "if" ? instruction.endAt : index + 1);
}

/** Records a step as skipped: it has no value, and its set, if it makes one, does not exist. */
export function skipStep(run: Run, step: Step): void {
  const known = run.steps.get(step.id);
  const call = step.kind === "call" ? step : step.kind === "map" ? step.calls[0] : undefined;
  run.steps.set(step.id, {
    ordinal: known?.ordinal ?? run.steps.size,
    output: null,
    value: undefined,
    receipt: {
      stepId: step.id,
      kind: step.kind,
      toolSlug: call?.tool ?? "",
      toolVersion: call === undefined ? "" : run.tool(call.tool).toolkit.version,
      attempts: known?.receipt.attempts ?? 0,
      startedAt: known?.receipt.startedAt ?? run.now,
      errors: [],
      ...(known?.receipt.decision && { decision: known.receipt.decision }),
      state: "skipped",
      finishedAt: run.now,
    },
  });
  if (known !== undefined) run.clearSet(step.id);
  run.patchReceipt(step.id, {});
  run.note("step-finished", step.id, { state: "skipped" });
}
