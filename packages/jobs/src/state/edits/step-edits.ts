import type { StepReceiptDocument, StepState } from "@svc/db/documents/step-receipt";
import type { Step } from "@svc/program";
import type { LogNote } from "../change.ts";
import { addError, sumCalls } from "../counts.ts";
import { isEndCode } from "../end-codes.ts";
import { branchOf, stepOf } from "../flow.ts";
import type { StepProgress } from "../progress.ts";
import { withWrites } from "../simulated.ts";
import { type Draft, type EditOf, type Editors, entryOf, note, patch, toldText } from "./draft.ts";

/** Edits of a step: its receipt, its value, its place in the flow, and its progress. */
export const stepEditors: Editors<
  | "begin"
  | "receipt"
  | "calls"
  | "error"
  | "unsent"
  | "value"
  | "finish"
  | "reopen"
  | "skip"
  | "forget"
  | "go"
  | "progress"
  | "block"
  | "stepArgs"
  | "logProgress"
  | "logUndo"
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
  go: ({ job }, { from, to }) => goTo(job, from, to),
  progress: ({ job }, { progress }) => {
    const index = job.loaded.flow.indexOf.get(progress.stepId);
    job.positions = job.positions.map((position) => {
      if (position.index !== index) return position;
      const now = position.progress?.now;
      return { ...position, progress: now === undefined ? progress : { ...progress, now } };
    });
  },
  block: ({ job }, { stepId, block }) => {
    const { [stepId]: _before, ...others } = job.blocks;
    job.blocks = block === undefined ? others : { ...others, [stepId]: block };
  },
  stepArgs: ({ job }, { stepId, args }) => {
    job.stepArgs = { ...job.stepArgs, [stepId]: { ...job.stepArgs[stepId], ...args } };
  },
  logProgress,
  logUndo: (draft, { note: entry, isAlways }) => {
    if (isAlways || mayLogProgress(draft)) noteProgress(draft, entry);
  },
};

/**
 * Returns the receipt (stored summary) of a step that begins. If the step ran before, its number of attempts, first start time and answer
 * to its question are kept.
 */
function newReceipt({ job, nowMs }: Draft, step: Step): StepReceiptDocument {
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

function versionOf({ loaded }: Draft["job"], tool: string): string {
  const skill = loaded.skills[tool];
  if (skill !== undefined) return String(skill.version);
  const pinned = loaded.tools.get(tool);
  if (pinned === undefined) throw new Error(`the pins of a job lack ${tool}`);
  return pinned.toolkit.version;
}

function beginStep(draft: Draft, { step, rows, now = draft.nowMs, sinceMs = draft.nowMs }: EditOf<"begin">): void {
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
function beginInBranch({ job }: Draft, stepId: string): void {
  if (job.positions.length === 1) return;
  const { flow } = job.loaded;
  const { index, calls } = stepOf(flow, stepId);
  const at = calls ? branchOf(flow, index) : undefined;
  const block = at && job.blocks[at.parallel.step.id];
  if (at === undefined || block?.kind !== "parallel" || block.begun.includes(at.branch)) return;
  const begun = [...block.begun, at.branch];
  job.blocks = { ...job.blocks, [at.parallel.step.id]: { ...block, begun } };
}

function changeReceipt(draft: Draft, { kind: _kind, stepId, isNewAttempt, ...changed }: EditOf<"receipt">): void {
  patch(draft, stepId, ({ receipt }) => {
    return isNewAttempt === true ? { ...changed, attempts: receipt.attempts + 1 } : changed;
  });
}

function finishStep(draft: Draft, { stepId, state, to, isCut }: EditOf<"finish">): void {
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

/** Reopens a step for another attempt. Errors that only say that the job ended are removed from the step. */
function reopenStep(draft: Draft, { stepId, progress }: EditOf<"reopen">): void {
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

function noteEnd(draft: Draft, stepId: string, state: StepState): void {
  const { rows } = entryOf(draft.job, stepId).receipt;
  note(draft, { type: "step-finished", stepId, payload: { state, ...(rows && { rows }) } });
}

function goTo(job: Draft["job"], from: number | undefined, to: number): void {
  job.positions = job.positions.map((position) => {
    return position.index === from ? { ...position, index: to, progress: undefined } : position;
  });
}

/** Records that a step was skipped. The step then has no value, and its list of rows is empty. */
function skipStep(draft: Draft, { step }: EditOf<"skip">): void {
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

function forgetStep({ job, pending }: Draft, { stepId }: EditOf<"forget">): void {
  const entry = job.steps.get(stepId);
  if (entry === undefined) return;
  const { rows: _rows, ...receipt } = entry.receipt;
  job.steps.set(stepId, { ordinal: entry.ordinal, receipt, value: undefined });
  pending.clearedSets.push(stepId);
}

const progressPauseMs = 5_000;

function logProgress(draft: Draft, { stepId, counts = {} }: EditOf<"logProgress">): void {
  if (!mayLogProgress(draft)) return;
  const { rows } = entryOf(draft.job, stepId).receipt;
  noteProgress(draft, { type: "step-progress", stepId, payload: { ...counts, ...(rows && { rows }) } });
}

function mayLogProgress({ job, nowMs }: Draft): boolean {
  return nowMs - job.progressLoggedAt >= progressPauseMs;
}

function noteProgress(draft: Draft, entry: LogNote): void {
  draft.job.progressLoggedAt = draft.nowMs;
  note(draft, entry);
}
