import { handlesCode } from "@svc/program";
import type { Change, Edit, Next } from "../state/change.ts";
import { type StepInstruction, stepOf } from "../state/flow.ts";
import type { JobState } from "../state/job.ts";
import type { StepFailure } from "../state/progress.ts";

type Failing = Extract<Next, { kind: "fail" }>;

/** The most of a message that `lastError` takes. */
const lastErrorMax = 1_000;

/** A step fails. The innermost of it and the blocks it stands in that handles such an error does so; where none does, the job fails. */
export function failureOf(state: JobState, failing: Failing): Change {
  const { stepId, code, message, plain = message, status = 0 } = failing;
  const failure: StepFailure = { code, message, plain, status };
  const ways = waysOut(state, failing);
  const at = ways.findIndex(({ step: { onError } }) => onError !== undefined && handlesCode(onError, code));
  const handler = ways[at];
  const own = failedStep(state, stepId, failure);
  if (handler !== undefined) {
    const left = ways.slice(0, at).filter(({ step }) => step.id !== stepId);
    const closed = left.flatMap((block) => leftBlock(state, block, failure));
    return { edits: [...own, ...closed, ...handle(state, { handler, stepId, failure })], next: { kind: "on" } };
  }
  const lastError = `${code}: step ${stepId}: ${message}`.slice(0, lastErrorMax).toWellFormed();
  return {
    edits: [...own, { kind: "lastError", message: lastError }],
    next: { kind: "end", cause: "failed", chain: state.principalChain },
  };
}

/** Who may handle the error of a step, innermost first: the step itself, unless it has, and the blocks it stands in. */
function waysOut({ loaded: { flow } }: JobState, { stepId, isHandled = false }: Failing): StepInstruction[] {
  const own = stepOf(flow, stepId);
  // Whose error is being handled where the step stands has failed before.
  const blocks = own.inside.filter(({ handles }) => !handles).map((block) => stepOf(flow, block.stepId));
  return [...(isHandled ? [] : [own]), ...blocks.toReversed()];
}

function failedStep({ steps, loaded }: JobState, stepId: string, { code, message }: StepFailure): Edit[] {
  const receipt = steps.get(stepId)?.receipt;
  const isKnown = receipt?.errors.some((error) => error.code === code) === true;
  const { index } = stepOf(loaded.flow, stepId);
  return [
    ...(isKnown ? [] : [{ kind: "error", stepId, code, ordinal: 0, message } as const]),
    ...(receipt?.state === "failed" ? [] : [{ kind: "finish", stepId, state: "failed", to: index } as const]),
  ];
}

/** A block that an error passes through fails with it, unless, as an `if`, it had done its part. */
function leftBlock(
  { steps }: JobState,
  { step: { id }, index }: StepInstruction,
  { code, plain }: StepFailure,
): Edit[] {
  const gone: Edit = { kind: "block", stepId: id, block: undefined };
  if (steps.get(id)?.receipt.state !== "") return [gone];
  return [
    { kind: "error", stepId: id, code, ordinal: 0, message: plain },
    { kind: "finish", stepId: id, state: "failed", to: index },
    gone,
  ];
}

type Handling = { readonly handler: StepInstruction; readonly stepId: string; readonly failure: StepFailure };

/** The job goes on where the error is handled. What the step made is gone, but for its error. */
function handle({ positions }: JobState, { handler, stepId, failure }: Handling): Edit[] {
  const { step, index, end, handler: to = end } = handler;
  const { code, plain: message, status } = failure;
  const from = positions.find((position) => position.index >= index && position.index < end)?.index ?? index;
  const failed: Edit[] = [
    { kind: "error", stepId: step.id, code, ordinal: 0, message },
    { kind: "finish", stepId: step.id, state: "failed", to: index },
  ];
  return [
    ...(step.id === stepId ? [] : failed),
    { kind: "forget", stepId: step.id },
    { kind: "value", stepId: step.id, value: { error: { code, message, status } } },
    { kind: "block", stepId: step.id, block: { kind: "error", ...failure } },
    { kind: "go", from, to },
  ];
}

/** Behind the steps that handled the error of a step, at `from`: the job goes on at `to`, or the step fails even so. */
export function afterHandling(state: JobState, stepId: string, { from, to }: { from: number; to: number }): Change {
  const block = state.blocks[stepId];
  const { step } = stepOf(state.loaded.flow, stepId);
  if (block?.kind !== "error") throw new Error(`${state.id} has handled an error of ${stepId}, which has none`);
  const gone: Edit = { kind: "block", stepId, block: undefined };
  if (step.onError?.goesOn === true) return { edits: [gone, { kind: "go", from, to }], next: { kind: "on" } };
  const { code, message, plain, status } = block;
  return { edits: [gone], next: { kind: "fail", stepId, code, message, plain, status, isHandled: true } };
}
