import type { Edit } from "./change.ts";
import { type Draft, draftOf, type EditOf, type Editors } from "./edits/draft.ts";
import { jobEditors } from "./edits/job-edits.ts";
import { rowEditors } from "./edits/row-edits.ts";
import { stepEditors } from "./edits/step-edits.ts";
import { undoEditors } from "./edits/undo-edits.ts";
import type { JobState } from "./job.ts";
import { followingFrom, type WorkingJob } from "./work.ts";

/**
 * Applies changes to a job's state in their order, and returns the job. Only this function creates a new state of a running job. Throws an
 * Error if a change of the job's status is not allowed.
 */
export function apply(work: WorkingJob, edits: readonly Edit[], nowMs: number): WorkingJob {
  if (edits.length === 0) return work;
  const draft: Draft = {
    nowMs,
    job: { ...work.state, steps: new Map(work.state.steps) },
    pending: draftOf(work.pending),
  };
  for (const edit of edits) carryOut(draft, edit);
  const state: JobState = Object.assign(draft.job, followingFrom(draft.job));
  return { committed: work.committed, state, pending: draft.pending };
}

const editors: Editors<Edit["kind"]> = { ...stepEditors, ...rowEditors, ...undoEditors, ...jobEditors };

function carryOut<Kind extends Edit["kind"]>(draft: Draft, edit: EditOf<Kind>): void {
  const edits: Editors<Kind> = editors;
  edits[edit.kind as Kind](draft, edit);
}
