import type { StepReceiptDocument, StepState } from "@svc/db/documents/step-receipt";
import type { Step } from "@svc/program";
import type { Edit } from "./change.ts";
import { addError, sumCalls } from "./counts.ts";
import { type Editors, entryOf, type JobDraft, note, patch, toldText } from "./draft.ts";
import { goTo } from "./edit-positions.ts";
import { isEndCode } from "./end-codes.ts";
import { branchOf, stepOf } from "./flow.ts";
import type { StepProgress } from "./progress.ts";
import { withWrites } from "./simulated.ts";

/** Begin, change and end the steps of a job. */
export const stepEditors: Editors<
  "begin" | "receipt" | "calls" | "error" | "unsent" | "value" | "finish" | "reopen" | "skip" | "forget"
> = {
  begin: beginStep,
  receipt: changeReceipt,
  calls: (draft, { stepId, calls }) =>
    patch(draft, stepId, ({ receipt }) => ({ calls: receipt.calls ? sumCalls([receipt.calls, calls]) : calls })),
  error: (draft, { stepId, ...error }) =>
    patch(draft, stepId, ({ receipt: { errors } }) => {
      // The receipt keeps only the first error message for each error code.
      const isKnown = errors.some(({ code }) => code === error.code);
      return { errors: addError(errors, isKnown ? error : { ...error, message: toldText(draft.job, error.message) }) };
    }),
  unsent: ({ job }, { stepId, ...writes }) => {
    job.simulated = withWrites(job.simulated, stepId, writes);
  },
  value: ({ job }, { stepId, value }) => {
    job.steps.set(stepId, { ...entryOf(job, stepId), value });
  },
  finish: finishStep,
  reopen: reopenStep,
  skip: skipStep,
  forget: forgetStep,
};

/**
 * Returns the receipt (stored summary) of a step that begins. If the step ran before, the new receipt keeps the number of attempts, the
 * first start time and the decision.
 */
function newReceipt({ job, nowMs }: JobDraft, step: Step): StepReceiptDocument {
  const before = job.steps.get(step.id)?.receipt;
  const tool = toolNamed(step);
  return {
    stepId: step.id,
    kind: step.kind,
    toolSlug: tool ?? "",
    toolVersion: tool === undefined || tool === "http" ? "" : versionOf(job, tool),
    state: "",
    attempts: before?.attempts ?? 0,
    startedAt: before?.startedAt ?? nowMs,
    ...(before?.decision && { decision: before.decision }),
    errors: [],
  };
}

/** Returns the slug of the tool that a step's receipt (stored summary) names: the step's own tool, or the tool of its first call. */
function toolNamed(step: Step): string | undefined {
  if ("tool" in step) return step.tool;
  if (step.kind === "run") return step.skill;
  if (step.kind !== "map") return undefined;
  const [first] = step.calls;
  return first && (first.kind === "run" ? first.skill : first.tool);
}

function versionOf({ loaded }: JobDraft["job"], tool: string): string {
  const skill = loaded.skills[tool];
  if (skill !== undefined) return String(skill.version);
  const pinned = loaded.tools.get(tool);
  if (pinned === undefined) throw new Error(`the pins of a job lack ${tool}`);
  return pinned.toolkit.version;
}

function beginStep(
  draft: JobDraft,
  { step, rows, now = draft.nowMs, sinceMs = draft.nowMs }: Extract<Edit, { kind: "begin" }>,
): void {
  const { job, pending } = draft;
  const before = job.steps.get(step.id);
  const { calls, undo, startedAt = sinceMs } = before?.receipt ?? {};
  const receipt = {
    ...newReceipt(draft, step),
    ...(rows && { rows }),
    ...(calls && { calls }),
    ...(undo && { undo }),
    startedAt,
  };
  if (before !== undefined) pending.clearedSets.push(step.id);
  const ordinal = before?.ordinal ?? job.steps.size;
  const attempts = receipt.attempts + 1;
  job.steps.set(step.id, { ordinal, receipt: { ...receipt, attempts }, value: undefined });
  beginInBranch(draft, step.id);
  const index = job.loaded.flow.indexOf.get(step.id);
  const begun = { kind: step.kind, stepId: step.id, now };
  job.positions = job.positions.map((position) =>
    position.index === index ? { ...position, progress: begun } : position,
  );
  note(draft, { type: "step-started", stepId: step.id, payload: { kind: step.kind, attempt: attempts } });
}

/**
 * Notes in the state of the `parallel` step that the step's branch has begun a call. Such a branch is not given up when another branch
 * fails.
 */
function beginInBranch({ job }: JobDraft, stepId: string): void {
  if (job.positions.length === 1) return;
  const { flow } = job.loaded;
  const { index, calls } = stepOf(flow, stepId);
  const at = calls ? branchOf(flow, index) : undefined;
  const block = at && job.blocks[at.parallel.step.id];
  if (at === undefined || block?.kind !== "parallel" || block.begun.includes(at.branch)) return;
  const begun = [...block.begun, at.branch];
  job.blocks = { ...job.blocks, [at.parallel.step.id]: { ...block, begun } };
}

function changeReceipt(
  draft: JobDraft,
  { kind: _kind, stepId, isNewAttempt, ...changed }: Extract<Edit, { kind: "receipt" }>,
): void {
  patch(draft, stepId, ({ receipt }) => {
    return isNewAttempt === true ? { ...changed, attempts: receipt.attempts + 1 } : changed;
  });
}

function finishStep(draft: JobDraft, { stepId, state, to, isCut }: Extract<Edit, { kind: "finish" }>): void {
  const { job, nowMs } = draft;
  patch(draft, stepId, () => ({ state, finishedAt: nowMs }));
  noteEnd(draft, stepId, state);
  const index = job.loaded.flow.indexOf.get(stepId);
  if (state !== "failed" || to !== index) {
    goTo(job, index, to);
    return;
  }
  const { step } = stepOf(job.loaded.flow, stepId);
  // A failed step keeps its position and progress, because another attempt of the job may continue from there.
  const begun: StepProgress = { kind: step.kind, stepId };
  job.positions = job.positions.map((position) => {
    if (position.index !== index) return position;
    const { progress = begun } = position;
    return { ...position, progress: isCut === true ? progress : { ...progress, hasFailed: true } };
  });
}

/** Reopens a step for another attempt. Errors that only report the end of the job are removed. */
function reopenStep(draft: JobDraft, { stepId, progress }: Extract<Edit, { kind: "reopen" }>): void {
  const { job } = draft;
  const entry = entryOf(job, stepId);
  const { finishedAt: _end, ...receipt } = entry.receipt;
  const attempts = receipt.attempts + 1;
  const errors = receipt.errors.filter(({ code }) => !isEndCode(code));
  job.steps.set(stepId, { ...entry, receipt: { ...receipt, state: "", attempts, errors } });
  const index = job.loaded.flow.indexOf.get(stepId);
  if (progress !== undefined) {
    job.positions = job.positions.map((position) => (position.index === index ? { ...position, progress } : position));
  }
  note(draft, { type: "step-started", stepId, payload: { kind: receipt.kind, attempt: attempts } });
}

function noteEnd(draft: JobDraft, stepId: string, state: StepState): void {
  const { rows } = entryOf(draft.job, stepId).receipt;
  note(draft, { type: "step-finished", stepId, payload: { state, ...(rows && { rows }) } });
}

/** Records that a step was skipped. The step then has no value, and its list of rows is empty. */
function skipStep(draft: JobDraft, { step }: Extract<Edit, { kind: "skip" }>): void {
  const { job, pending, nowMs } = draft;
  const before = job.steps.get(step.id);
  if (before !== undefined) pending.clearedSets.push(step.id);
  job.steps.set(step.id, {
    ordinal: before?.ordinal ?? job.steps.size,
    receipt: { ...newReceipt(draft, step), state: "skipped", finishedAt: nowMs },
    value: undefined,
  });
  noteEnd(draft, step.id, "skipped");
}

function forgetStep({ job, pending }: JobDraft, { stepId }: Extract<Edit, { kind: "forget" }>): void {
  const entry = job.steps.get(stepId);
  if (entry === undefined) return;
  const { rows: _rows, ...receipt } = entry.receipt;
  job.steps.set(stepId, { ordinal: entry.ordinal, receipt, value: undefined });
  pending.clearedSets.push(stepId);
}
