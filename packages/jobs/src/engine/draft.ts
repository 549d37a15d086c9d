import type {
  Executor,
  JobSetRowChange,
  JobUndoChange,
  NewJobEvent,
  NewJobRow,
  NewJobTask,
  NewJobUndoEntry,
} from "@svc/db";

/** What a driver has gathered for its next commit. */
export type Draft = {
  events: NewJobEvent[];
  steps: Set<string>;
  rows: NewJobRow[];
  setRows: JobSetRowChange[];
  clearedSets: string[];
  undoEntries: NewJobUndoEntry[];
  undoChanges: JobUndoChange[];
  tasks: NewJobTask[];
  also: ((tx: Executor) => Promise<void>)[];
  params: boolean;
  stepArgs: boolean;
  isDirty: boolean;
};

/** Nothing gathered yet. */
export function emptyDraft(): Draft {
  return {
    events: [],
    steps: new Set(),
    rows: [],
    setRows: [],
    clearedSets: [],
    undoEntries: [],
    undoChanges: [],
    tasks: [],
    also: [],
    params: false,
    stepArgs: false,
    isDirty: false,
  };
}
