import type { Id } from "@svc/core";
import type { JobStatus } from "@svc/db/schema/words";
import { isCall, type JsonObject, rerunOf, type Step } from "@svc/program";
import type { Edit } from "../../state/change.ts";
import { type Instruction, stepAt, stepOf } from "../../state/flow.ts";
import type { JobState, Position } from "../../state/job.ts";
import type { ProgressOf } from "../../state/progress.ts";
import { stepKinds } from "../../steps/index.ts";
import { toolOf } from "../../steps/invoke.ts";
import { overrideEdits } from "../../steps/overrides.ts";
import type { StepKind } from "../../steps/step-kind.ts";

/**
 * A request for another attempt of a job. `fromStepId`: step to start from; empty to start where the job stopped. `params`: changed params.
 * `resendsUnknown`: true if writes in doubt are sent again.
 */
export type RetryRequest = {
  readonly fromStepId: string;
  readonly params: JsonObject;
  readonly resendsUnknown: boolean;
  /** The chain of causes of the request for another attempt (for example the key that sent the request). */
  readonly chain: readonly string[];
};

/**
 * Reason why a retry is refused. `not_retryable`: the job cannot be retried, or not in this way. `step_unknown`: the job cannot start from
 * the requested step.
 */
export type RetryFault = { readonly outcome: "not_retryable" | "step_unknown"; readonly why: string };

/**
 * Inputs for starting a new attempt of an ended job. `status`: the final status of the last attempt. `children`: for each child job, the
 * reason why it cannot continue, or undefined if it can.
 */
type RetryParts = {
  readonly status: JobStatus;
  readonly request: RetryRequest;
  readonly children?: ReadonlyMap<Id<"job">, string | undefined>;
};

/**
 * Returns the changes of the job's state that begin another attempt of a job, or a fault if the request is not allowed. The job continues
 * where it stopped; successful steps keep their results. If the request names a step, the job goes back to it and runs it and the later
 * steps again. A write that was already done is never sent again.
 */
export function retryEdits(
  state: JobState,
  { status: ended, request, children = new Map() }: RetryParts,
): readonly Edit[] | RetryFault {
  const { fromStepId, params, resendsUnknown, chain } = request;
  const standing =
    fromStepId === "" || fromStepId === stepStanding(state)?.id
      ? goOn(state, { request, children })
      : goBack(state, fromStepId);
  if ("outcome" in standing) return standing;
  const payload = {
    attempt: state.attempt,
    ended,
    ...(fromStepId !== "" && { fromStepId }),
    ...(resendsUnknown && { resendUnknown: true }),
  };
  return [
    { kind: "note", note: { type: "job-retried", stepId: "", payload, chain } },
    ...overrideEdits("", { kind: "params" }, JSON.stringify(params), chain),
    { kind: "lastError", message: "" },
    { kind: "deadline", clock: "begins" },
    { kind: "generation" },
    ...standing.edits,
  ];
}

/** Returns the step where a job stopped, or undefined if the job stopped after its last step. */
export function stepStanding({ positions, loaded: { flow } }: JobState): Step | undefined {
  const [position] = positions;
  const instruction = position && flow.instructions[position.index];
  if (instruction?.kind === "again") return instruction.step;
  return position && stepAt(flow, position.index)?.step;
}

type RetryStart = { readonly edits: readonly Edit[] } | RetryFault;

type CompleteRetry = Required<Omit<RetryParts, "status">>;

function goOn(state: JobState, asked: CompleteRetry): RetryStart {
  const edits: Edit[] = [];
  const reopened = new Set<string>();
  for (const position of state.positions) {
    const instruction = state.loaded.flow.instructions[position.index];
    if (instruction === undefined) continue;
    const resumed = resume(state, position, instruction, asked);
    if ("outcome" in resumed) return resumed;
    for (const edit of reopenBlocks(state, instruction)) {
      if (edit.kind === "reopen" && !reopened.has(edit.stepId)) edits.push(edit);
      if (edit.kind === "reopen") reopened.add(edit.stepId);
    }
    edits.push(...resumed.edits);
  }
  return { edits: [...edits, ...reopenBranches(state)] };
}

function resume(
  state: JobState,
  { index, progress, generation = state.generation }: Position,
  instruction: Instruction,
  { request, children }: CompleteRetry,
): RetryStart {
  if (instruction.kind === "handled") return redoHandled(state, instruction);
  if (instruction.kind !== "step") return { edits: [] };
  const { step } = instruction;
  if (progress === undefined) {
    // Since version 0.2, the progress of a step is kept if a first attempt ends at this step. If a failed step has no progress in the
    // second attempt, the first attempt ran under an older version. Later attempts may end before they begin the step, so missing progress
    // then proves nothing.
    const isOld = state.attempt === 2 && state.steps.get(step.id)?.receipt.state === "failed";
    const why = `ended under a version that did not store the progress of step ${step.id}`;
    return isOld ? { outcome: "not_retryable", why } : { edits: [] };
  }
  const childId = endedChildOf(progress);
  const why = childId === undefined ? "did not end well" : children.get(childId);
  if (childId !== undefined && children.has(childId) && why === undefined) {
    return { edits: [{ kind: "reopen", stepId: step.id, progress: retriesChild(step.id, childId, request) }] };
  }
  // Only a step of kind `run` is checked here, because it has one child job. In a map, each row has its own child job, and each child is
  // retried separately.
  if (step.kind === "run" && hasWritten(state, step.id)) {
    const job = childId === undefined ? "" : ` (${childId})`;
    return {
      outcome: "not_retryable",
      why: `stopped at step ${step.id}, whose skill${job} has written and ${why}: a retry would write again`,
    };
  }
  const { retried } = stepKinds[step.kind] as StepKind<Step["kind"]>;
  const { resendsUnknown } = request;
  const kept =
    retried === "anew" ? undefined : retried({ state, step, instruction, progress }, { generation, resendsUnknown });
  if (kept !== undefined) return { edits: [{ kind: "reopen", stepId: step.id, progress: kept }] };
  const inside = state.loaded.flow.instructions.slice(index + 1, instruction.end);
  return {
    edits: [
      ...inside.flatMap((inner) => (inner.kind === "step" ? [{ kind: "forget", stepId: inner.step.id } as const] : [])),
      { kind: "go", from: index, to: index },
    ],
  };
}

/** Returns the child job that a step had at the end of the attempt, or undefined if there was no child. */
export function endedChildOf(progress: Position["progress"]): Id<"job"> | undefined {
  if (progress?.kind !== "run") return undefined;
  return progress.retriesId ?? progress.endedId ?? progress.childId;
}

function retriesChild(stepId: string, retriesId: Id<"job">, { resendsUnknown }: RetryRequest): ProgressOf<"run"> {
  return { kind: "run", stepId, retriesId, ...(resendsUnknown && { resendsUnknown }) };
}

/**
 * Handles a retry of a job that ended after the error handler of one of its steps. Returns the edits (changes to the job's state) with
 * which that step begins again. Returns a refusal if steps that have already written would then run again.
 */
function redoHandled(state: JobState, { index, step }: Extract<Instruction, { kind: "handled" }>): RetryStart {
  const { steps, loaded } = state;
  const { index: to, end, handler = end } = stepOf(loaded.flow, step.id);
  const begun = loaded.flow.instructions.slice(to, index).flatMap((each) => {
    return each.kind === "step" && steps.has(each.step.id) ? [each] : [];
  });
  const written = begun.find((each) => each.index < handler && hasWritten(state, each.step.id));
  if (written !== undefined) {
    const why = `stopped after it handled the error of step ${step.id}: a retry would repeat step ${written.step.id}, which has written`;
    return { outcome: "not_retryable", why };
  }
  return {
    edits: [
      ...begun.map((each) => ({ kind: "forget", stepId: each.step.id }) as const),
      { kind: "go", from: index, to },
    ],
  };
}

/**
 * Returns the changes with which the branches of a `parallel` step continue at their present position. Branches that failed or were given
 * up continue as well. Questions that branches asked are withdrawn.
 */
function reopenBranches({ blocks }: JobState): Edit[] {
  return Object.entries(blocks).flatMap(([stepId, block]): Edit[] => {
    if (block.kind === "asked") return [{ kind: "block", stepId, block: undefined }];
    if (block.kind !== "parallel") return [];
    return [{ kind: "block", stepId, block: { kind: "parallel", begun: block.begun, over: [] } }];
  });
}

/**
 * Returns the changes to job state (edits) that set failed blocks back to running, because a new attempt of the job continues inside them.
 * A block is a step that contains steps, such as `if`. The blocks failed when the previous attempt ended.
 */
function reopenBlocks({ steps }: JobState, instruction: Instruction): Edit[] {
  // Only those enclosing steps (for example an `if`) are reopened whose normal branches contain the step. If the step is in an enclosing
  // step's error handler, that enclosing step has failed and stays failed.
  const blocks = instruction.inside.flatMap(({ stepId, handles }) => (handles ? [] : [stepId]));
  if (instruction.kind === "again") blocks.push(instruction.step.id);
  return [...new Set(blocks)].flatMap((stepId) => {
    return steps.get(stepId)?.receipt.state === "failed" ? [{ kind: "reopen", stepId } as const] : [];
  });
}

/**
 * Returns the changes to job state (edits) with which the job starts again from an earlier step. Returns the reason of a refusal if the job
 * has made a write since that step.
 */
function goBack(state: JobState, fromStepId: string): RetryStart {
  const { steps, positions, loaded } = state;
  const standing = stepStanding(state);
  const [position] = positions;
  if (!loaded.flow.indexOf.has(fromStepId)) return unknownStep(fromStepId, "is not a step of the program");
  if (standing === undefined || position === undefined || !steps.has(fromStepId)) {
    return unknownStep(fromStepId, "is a step that the job has not begun");
  }
  if (positions.length > 1) {
    const why = "is in several branches at once: retry from the place where it stopped, without fromStepId";
    return { outcome: "not_retryable", why };
  }
  const repeated = rerunOf(loaded.program, fromStepId, standing.id);
  if ("fault" in repeated) {
    if (repeated.fault === "later" || repeated.fault === "unknown")
      return unknownStep(fromStepId, "comes after the place where the job stopped");
    return {
      outcome: "not_retryable",
      why: `cannot go back from step ${standing.id} to ${fromStepId}, which is in another block`,
    };
  }
  const written = isCutWriting(state, standing, position)
    ? standing
    : repeated.steps.find(({ id }) => hasWritten(state, id));
  if (written !== undefined) {
    const why = `would repeat step ${written.id}, which has written: retry from the place where it stopped, without fromStepId`;
    return { outcome: "not_retryable", why };
  }
  const begun = repeated.steps.filter(({ id }) => steps.has(id));
  return {
    edits: [
      ...begun.map(({ id }) => ({ kind: "forget", stepId: id }) as const),
      ...reopenBlocks(state, stepOf(loaded.flow, fromStepId)),
      { kind: "go", from: position.index, to: stepOf(loaded.flow, fromStepId).index },
    ],
  };
}

/** True if the step was interrupted while a write may have been in flight. The step's counts do not include this write yet. */
function isCutWriting(state: JobState, step: Step, { progress }: Position): boolean {
  if (progress === undefined || progress.hasFailed === true || step.kind === "wait") return false;
  const calls = "calls" in step ? step.calls.filter(isCall) : "tool" in step ? [step] : [];
  const isReading = calls.every((call) => toolOf(state, call).action.class === "read");
  return stepKinds[step.kind].retried !== "anew" && !(isReading && calls.length > 0);
}

function unknownStep(stepId: string, why: string): RetryFault {
  return { outcome: "step_unknown", why: `${JSON.stringify(stepId)} ${why}` };
}

/** True if a step has sent writes. A failed call that the app did not execute does not count. */
function hasWritten({ steps, lastError }: JobState, stepId: string): boolean {
  const { calls, kind, state } = steps.get(stepId)?.receipt ?? {};
  if (calls === undefined || calls.write + calls.destructive === 0) return false;
  const isFailedCall = kind === "call" && state === "failed" && calls.unknown === 0 && /^[a-z]/.test(lastError);
  return !isFailedCall;
}
