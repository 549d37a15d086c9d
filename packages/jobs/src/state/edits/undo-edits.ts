import { type Draft, type EditOf, type Editors, patch } from "./draft.ts";

/** Edits of undo entries, and of the job's saga (how it undoes calls). */
export const undoEditors: Editors<"undo" | "armUndo" | "endUndo" | "endChildUndo" | "saga"> = {
  undo: ({ job }, { undo }) => {
    job.undo = undo;
  },
  armUndo,
  endUndo,
  endChildUndo: ({ pending }, { jobId, entry, state }) => {
    pending.childUndone.push({ jobId, entry, state });
  },
  saga: ({ job }, { saga }) => {
    job.saga = { ...job.saga, ...saga };
  },
};

/**
 * Adds undo entries, which say how calls are undone. If the arguments of an undo call cannot be computed, no entry is added, and one failed
 * undo is counted.
 */
function armUndo(draft: Draft, { entries }: EditOf<"armUndo">): void {
  const { job, pending } = draft;
  for (const { args, ...undo } of entries) {
    const entry = job.saga.entries + 1;
    const failed = args === undefined ? 1 : 0;
    job.saga = { ...job.saga, state: "armed", entries: entry, failed: job.saga.failed + failed };
    if (args === undefined) countUndo(draft, undo.stepId, "failed");
    else pending.armed.push({ ...undo, entry, args });
  }
}

function endUndo(draft: Draft, { stepId, entry, state }: EditOf<"endUndo">): void {
  const { job, pending } = draft;
  pending.undone.push({ entry, state });
  job.saga = { ...job.saga, [state]: job.saga[state] + 1 };
  countUndo(draft, stepId, state);
}

function countUndo(draft: Draft, stepId: string, state: "done" | "failed"): void {
  patch(draft, stepId, ({ receipt: { undo = { done: 0, failed: 0 } } }) => {
    return { undo: { ...undo, [state]: undo[state] + 1 } };
  });
}
