import type { Edit } from "./change.ts";
import { followingFrom } from "./derived.ts";
import { draftOf, type Editors, type JobDraft } from "./draft.ts";
import { jobEditors } from "./edit-job.ts";
import { positionEditors } from "./edit-positions.ts";
import { rowEditors } from "./edit-rows.ts";
import { stepEditors } from "./edit-steps.ts";
import { undoEditors } from "./edit-undo.ts";
import type { JobState } from "./job.ts";
import type { WorkingJob } from "./working-job.ts";

/**
 * Applies changes to a job's state in their order, and returns the job. Only this function creates a new state of a running job. Throws an
 * Error if a change of the job's status is not allowed.
 */
export function apply(work: WorkingJob, edits: readonly Edit[], nowMs: number): WorkingJob {
  if (edits.length === 0) return work;
  const draft: JobDraft = {
    nowMs,
    job: { ...work.state, steps: new Map(work.state.steps) },
    pending: draftOf(work.pending),
  };
  for (const edit of edits) carryOut(draft, edit);
  const state: JobState = Object.assign(draft.job, followingFrom(draft.job));
  return { committed: work.committed, state, pending: draft.pending };
}

function carryOut<Kind extends Edit["kind"]>(draft: JobDraft, edit: Extract<Edit, { kind: Kind }>): void {
  editors[edit.kind as Kind](draft, edit);
}

const editors: Editors<Edit["kind"]> = {
  ...stepEditors,
  ...positionEditors,
  ...rowEditors,
  ...undoEditors,
  ...jobEditors,
};
