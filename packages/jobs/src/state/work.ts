import type { PreparedAsk } from "@svc/asks";
import { isObject } from "@svc/core";
import type { CallRecord } from "@svc/db/calls/repo";
import type { StepState } from "@svc/db/documents/step-receipt";
import type { NewJobTask } from "@svc/db/job-tasks/task";
import type { NewJobEvent } from "@svc/db/jobs/record";
import type { JobSetRun } from "@svc/db/jobs/rows";
import type { JobUndoChange } from "@svc/db/jobs/undo";
import type { JsonObject, JsonValue } from "@svc/program";
import type { UnrecordedEnd } from "@svc/tools";
import type { Edit, MappedRow, NewChild, RetriedChild, UndoOf } from "./change.ts";
import { type Flow, stepOf } from "./flow.ts";
import type { DerivedState, JobState, StepEntry, StoredState } from "./job.ts";

/**
 * A row that a step fetched or made. `rowNumber` counts from 1 over the rows of all sets of the job. A set is the group of rows made by one
 * step.
 */
export type FetchedRow = { readonly rowNumber: number; readonly data: JsonObject };

/** A row in the set of a `map` step (a step that makes calls for each row): its number in the set, and the state of its calls. */
export type PlacedRow = Omit<MappedRow, "data"> & { readonly setId: string };

/** A stored way to undo one call of the job (an undo entry). `entry`: number of the entry, counted over all calls of the job. */
export type ArmedUndo = Omit<UndoOf, "args"> & { readonly entry: number; readonly args: JsonObject };

/** Data that the next commit writes in addition to the job and its steps. */
export type PendingWrites = {
  readonly events: readonly NewJobEvent[];
  readonly rows: readonly FetchedRow[];
  readonly placed: readonly PlacedRow[];
  /** Ranges of rows that are appended to sets (lists of rows) of the job. Each range has its first position and its row numbers. */
  readonly runs: readonly JobSetRun[];
  /** Sets (lists of rows) of the job that are emptied before new rows are appended. */
  readonly clearedSets: readonly string[];
  readonly turned: readonly Extract<Edit, { kind: "turned" }>[];
  readonly armed: readonly ArmedUndo[];
  readonly undone: readonly JobUndoChange[];
  readonly tasks: readonly NewJobTask[];
  readonly asks: readonly PreparedAsk[];
  /** Ledger rows of calls whose outcomes are stored with this commit. */
  readonly records: readonly CallRecord[];
  /** Results of tool calls that were made and are not yet in the ledger (the stored record of every tool call). */
  readonly made: readonly UnrecordedEnd[];
  /** Child jobs that begin with the commit, to run skills. */
  readonly children: readonly NewChild[];
  /** Child jobs that are retried with the commit. */
  readonly retried: readonly RetriedChild[];
  /** Results of undoing calls that child jobs made. A child job is a job that a step of this job started. */
  readonly childUndone: readonly (JobUndoChange & { readonly jobId: JobState["id"] })[];
};

/**
 * A job in memory. `committed`: its state at the last commit. `state`: its present state; the same object if nothing has changed.
 * `pending`: data that the next commit writes in addition to the state.
 */
export type WorkingJob = { readonly committed: JobState; readonly state: JobState; readonly pending: PendingWrites };

const nothing: PendingWrites = {
  events: [],
  rows: [],
  placed: [],
  runs: [],
  clearedSets: [],
  turned: [],
  armed: [],
  undone: [],
  tasks: [],
  asks: [],
  records: [],
  made: [],
  children: [],
  retried: [],
  childUndone: [],
};

/** Returns a job that was just read from the database, in the form in which its steps change it. It has no uncommitted changes. */
export function workOf(job: StoredState): WorkingJob {
  const state: JobState = { ...job, ...followingFrom(job) };
  return { committed: state, state, pending: nothing };
}

/**
 * Returns the job after its changes were committed. `found`: changes that others made to the job's row and that the commit has read, such
 * as a request to cancel.
 */
export function committedWork(
  { state }: WorkingJob,
  found: Pick<JobState, "lastSeq" | "cancel" | "pause">,
): WorkingJob {
  const { lastSeq, cancel = state.cancel, pause } = found;
  const next: JobState = { ...state, lastSeq, cancel, pause };
  return { committed: next, state: next, pending: nothing };
}

/**
 * Returns the values that references in the program can use: the value of each step (`steps.<id>`) and the number of rows of each set
 * (`rows.<set>`). If rows of a set were lost, its number of rows is left out.
 */
export function followingFrom({ input, params, steps: entries, loaded: { flow } }: StoredState): DerivedState {
  const steps: Record<string, JsonValue> = {};
  const rows: Record<string, number> = {};
  const lostSets = lostSetsOf(entries, flow);
  for (const [id, { receipt, value }] of entries) {
    if (value !== undefined) steps[id] = value;
    const instruction = flow.instructions[flow.indexOf.get(id) ?? -1];
    const set = instruction?.kind === "step" ? instruction.set : undefined;
    if (set === undefined || lostSets.has(id)) continue;
    if (receipt.rows !== undefined) rows[id] = receipt.rows[set];
    else if (receipt.state === "skipped" || receipt.state === "failed") rows[id] = 0;
  }
  return { scope: { input, params, steps, rows }, lostSets };
}

const none: ReadonlySet<string> = new Set();

/** Returns the ids of the steps whose sets (lists of rows) may be incomplete because the step failed. */
function lostSetsOf(entries: JobState["steps"], flow: Flow): ReadonlySet<string> {
  if (![...entries.values()].some(hasFailedHandled)) return none;
  return new Set([...flow.indexOf.keys()].filter((id) => isLostSet(entries, flow, id)));
}

/**
 * True if a step's set may lack rows: the step failed and its error was handled, or an enclosing block failed before the step ended.
 * Without this check, the rows present would be taken for the whole set.
 */
function isLostSet(entries: JobState["steps"], flow: Flow, stepId: string): boolean {
  const own = entries.get(stepId);
  if (own !== undefined && hasFailedHandled(own)) return true;
  if (own !== undefined && madeStates.has(own.receipt.state)) return false;
  return stepOf(flow, stepId).inside.some(({ stepId: around, handles }) => {
    const block = handles ? undefined : entries.get(around);
    return block !== undefined && hasFailedHandled(block);
  });
}

const madeStates: ReadonlySet<StepState> = new Set(["completed", "partial", "simulated", "undone"]);

/**
 * True if the step failed and its error was handled; its value is then the error. False if the step did not fail, or its error was not
 * handled.
 */
function hasFailedHandled({ receipt: { state }, value }: StepEntry): boolean {
  return state === "failed" && isObject(value) && "error" in value;
}
