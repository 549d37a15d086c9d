import { handlesCode } from "@svc/program";
import type { Change, Edit, Next } from "../../state/change.ts";
import { branchOf, type StepInstruction, stepOf } from "../../state/flow.ts";
import type { JobState } from "../../state/job.ts";
import type { StepFailure } from "../../state/progress.ts";

type Failing = Extract<Next, { kind: "fail" }>;

/** Maximum number of characters of a message that `lastError` keeps. */
const lastErrorMax = 1_000;

/**
 * Returns the change of the job after an error of a step. The innermost error handler that accepts the error runs next: the handler of the
 * step, or of a step that contains it. Without such a handler, the job fails. Inside a `parallel` step, only the branch with the error
 * fails at first. The `parallel` step fails after its remaining branches have ended.
 */
export function failureOf(state: JobState, failing: Failing): Change {
  const { stepId, code, message, plain = message, status = 0, failedIn = stepId } = failing;
  const failure: StepFailure = { code, message, plain, status };
  const { ways, parallel } = waysOut(state, failing);
  const at = ways.findIndex(({ step: { onError } }) => onError !== undefined && handlesCode(onError, code));
  const handler = ways[at];
  const own = failedStep(state, stepId, failure);
  if (handler !== undefined) {
    return { edits: [...own, ...handle(state, { handler, stepId, failedIn, failure })], next: { kind: "on" } };
  }
  if (parallel !== undefined) {
    return { edits: [...own, ...endBranch(state, parallel, { stepId: failedIn, ...failure })], next: { kind: "on" } };
  }
  const lastError = `${code}: step ${failedIn}: ${message}`.slice(0, lastErrorMax).toWellFormed();
  return {
    edits: [...own, { kind: "lastError", message: lastError }],
    next: { kind: "end", cause: "failed", chain: state.principalChain },
  };
}

type Ways = { readonly ways: readonly StepInstruction[]; readonly parallel: InBranch | undefined };
type InBranch = { readonly parallel: StepInstruction; readonly branch: number };

/**
 * Returns the steps whose error handlers may handle an error, the innermost step first. The failed step comes first, unless its handler has
 * already run. The steps that contain it follow. If the failed step is in a branch of a `parallel` step, the list ends inside that branch.
 */
function waysOut({ loaded: { flow }, positions }: JobState, { stepId, isHandled = false }: Failing): Ways {
  const own = stepOf(flow, stepId);
  const parallel = positions.length > 1 ? branchOf(flow, own.index) : undefined;
  // A block is a step that contains other steps. If the block already runs its own error handler, that handler cannot handle a second
  // error.
  const blocks = own.inside.filter(({ handles }) => !handles).map((block) => stepOf(flow, block.stepId));
  const inner = parallel === undefined ? blocks : blocks.slice(blocks.indexOf(parallel.parallel) + 1);
  return { ways: [...(isHandled ? [] : [own]), ...inner.toReversed()], parallel };
}

/**
 * Returns the changes that end the failed `branch` of a `parallel` step. Other unfinished branches of the step are cancelled if they have
 * made no call.
 */
function endBranch(
  { blocks, positions, steps, loaded: { flow } }: JobState,
  { parallel, branch }: InBranch,
  failed: StepFailure & { readonly stepId: string },
): Edit[] {
  const { id } = parallel.step;
  const block = blocks[id];
  if (block?.kind !== "parallel") throw new Error(`a branch of ${id} failed, which is not at work`);
  const { begun, over } = block;
  const ended = positions.flatMap(({ index }, at) => (parallel.branches[at]?.join === index ? [at] : []));
  const cancelled = positions.flatMap((_position, at) => {
    return at === branch || [...begun, ...over, ...ended].includes(at) ? [] : [at];
  });
  const open = cancelled.flatMap((at) => {
    const { from, join } = parallel.branches[at] ?? { from: 0, join: 0 };
    return [...steps].flatMap(([stepId, { receipt }]) => {
      const index = flow.indexOf.get(stepId) ?? -1;
      return receipt.state === "" && index >= from && index < join ? [{ stepId, index }] : [];
    });
  });
  return [
    ...open.flatMap(({ stepId, index }) => [
      { kind: "finish", stepId, state: "skipped", to: index } as const,
      { kind: "block", stepId, block: undefined } as const,
    ]),
    {
      kind: "block",
      stepId: id,
      block: { ...block, over: [...over, branch, ...cancelled], failed: block.failed ?? failed },
    },
  ];
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

type Handling = {
  readonly handler: StepInstruction;
  readonly stepId: string;
  readonly failedIn: string;
  readonly failure: StepFailure;
};

/**
 * Returns the changes of the job's state after a step with an error handler has failed. The job continues with the handler's steps. The
 * failed step keeps its error; its output is dropped.
 */
function handle(state: JobState, handling: Handling): Edit[] {
  const { handler, stepId, failedIn, failure } = handling;
  const inner = failedIn === handler.step.id ? {} : { failedIn };
  const { step, index, end, handler: to = end } = handler;
  const { positions, loaded } = state;
  const { code, plain: message, status } = failure;
  const from = positions.find((position) => position.index >= index && position.index < end)?.index ?? index;
  const isInBranch = positions.length === 1 || branchOf(loaded.flow, index) !== undefined;
  const failed: Edit[] = [
    { kind: "error", stepId: step.id, code, ordinal: 0, message },
    { kind: "finish", stepId: step.id, state: "failed", to: index },
  ];
  return [
    ...closeInside(state, handling),
    ...(step.id === stepId ? [] : failed),
    { kind: "forget", stepId: step.id },
    { kind: "value", stepId: step.id, value: { error: { code, message, status } } },
    { kind: "block", stepId: step.id, block: { kind: "error", ...failure, ...inner } },
    isInBranch ? { kind: "go", from, to } : { kind: "join", to },
  ];
}

/**
 * Returns the changes to job state (edits) that mark running steps as failed. These steps are inside a failing block (a step that contains
 * steps, such as `if`).
 */
function closeInside({ steps, blocks, loaded: { flow } }: JobState, { handler, stepId, failure }: Handling): Edit[] {
  const { index: from, end } = handler;
  const isInside = (id: string) => {
    const index = flow.indexOf.get(id) ?? -1;
    return index > from && index < end;
  };
  const { code, plain: message } = failure;
  const open = [...steps].filter(([id, { receipt }]) => receipt.state === "" && id !== stepId && isInside(id));
  return [
    ...open.flatMap(([id]) => [
      { kind: "error", stepId: id, code, ordinal: 0, message } as const,
      { kind: "finish", stepId: id, state: "failed", to: stepOf(flow, id).index } as const,
    ]),
    ...Object.keys(blocks)
      .filter(isInside)
      .map((id) => ({ kind: "block", stepId: id, block: undefined }) as const),
  ];
}

/**
 * Returns the change of the job after a step's error handler has run. If `goesOn` is true in the step's `onError`, the job continues at
 * instruction `to`. Otherwise the step fails. `from`: the instruction at which the handler ends.
 */
export function afterHandling(state: JobState, stepId: string, { from, to }: { from: number; to: number }): Change {
  const block = state.blocks[stepId];
  const { step } = stepOf(state.loaded.flow, stepId);
  if (block?.kind !== "error")
    throw new Error(`${state.id} has handled an error of ${stepId}, but no error is recorded`);
  const gone: Edit = { kind: "block", stepId, block: undefined };
  if (step.onError?.goesOn === true) return { edits: [gone, { kind: "go", from, to }], next: { kind: "on" } };
  const { kind: _kind, ...failure } = block;
  return { edits: [gone], next: { kind: "fail", stepId, ...failure, isHandled: true } };
}
