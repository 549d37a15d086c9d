import type { PreparedAsk } from "@svc/asks";
import { isObject } from "@svc/core";
import type { CallRecord } from "@svc/db/calls/repo";
import type { StepReceiptDocument, StepState } from "@svc/db/documents/step-receipt";
import type { NewJobTask } from "@svc/db/job-tasks/task";
import type { NewJobEvent } from "@svc/db/jobs/record";
import type { JobSetRun } from "@svc/db/jobs/rows";
import type { JobUndoChange } from "@svc/db/jobs/undo";
import type { JsonObject, JsonValue, Step } from "@svc/program";
import type { UnrecordedEnd } from "@svc/tools";
import type { Edit, LogNote, MappedRow, NewChild, RetriedChild, UndoOf } from "./change.ts";
import { addError, noRows, sumCalls } from "./counts.ts";
import { isEndCode } from "./end-codes.ts";
import { branchOf, type Flow, stepOf } from "./flow.ts";
import type { DerivedState, JobState, StepEntry, StoredState } from "./job.ts";
import type { StepProgress } from "./progress.ts";
import { shownOf } from "./shown.ts";
import { withWrites } from "./simulated.ts";
import { endStatuses, type JobStatus, movesOf, transitions } from "./statuses.ts";

/**
 * A row that a step fetched or made. `rowNumber`: number of the row in its job, from 1. It is unique in the job, because one counter numbers
 * the rows of all sets (lists of rows).
 */
export type FetchedRow = { readonly rowNumber: number; readonly data: JsonObject };

/** A row in the set of a `map` step (a step that makes calls for each row): its number in the set, and the state of its calls. */
export type PlacedRow = Omit<MappedRow, "data"> & { readonly setId: string };

/**
 * A stored undo entry: the call with which one call of the job can be undone. `entry`: number of the entry, in the order of the job's calls.
 */
export type ArmedUndo = Omit<UndoOf, "args"> & { readonly entry: number; readonly args: JsonObject };

/** Data that the next commit of a job writes, in addition to the job itself and its steps: log entries, rows and undo entries. */
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
 * Returns the values that references in the program can use: the value of each step (`steps.<id>`) and the number of rows of each set
 * (`rows.<set>`). If rows of a set were lost, its number of rows is left out.
 */
function followingFrom({ input, params, steps: entries, loaded: { flow } }: StoredState): DerivedState {
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

/**
 * Returns a job in memory after its changes were committed. `found`: values that the commit read from the job's row because other writers
 * can change them, such as a request to cancel.
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

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };
type PendingDraft = { [Name in keyof PendingWrites]: PendingWrites[Name][number][] };
type Draft = {
  readonly nowMs: number;
  readonly job: Mutable<Omit<JobState, "steps">> & { steps: Map<string, StepEntry> };
  readonly pending: PendingDraft;
};

/**
 * Returns a copy of the pending writes, to which later changes of the job are added. The lists are copied one by one by name, because a
 * loop over the names would create much garbage for each change.
 */
function draftOf(pending: PendingWrites): PendingDraft {
  return {
    events: [...pending.events],
    rows: [...pending.rows],
    placed: [...pending.placed],
    runs: [...pending.runs],
    clearedSets: [...pending.clearedSets],
    turned: [...pending.turned],
    armed: [...pending.armed],
    undone: [...pending.undone],
    tasks: [...pending.tasks],
    asks: [...pending.asks],
    records: [...pending.records],
    made: [...pending.made],
    children: [...pending.children],
    retried: [...pending.retried],
    childUndone: [...pending.childUndone],
  };
}

function carryOut<Kind extends Edit["kind"]>(draft: Draft, edit: Extract<Edit, { kind: Kind }>): void {
  editors[edit.kind as Kind](draft, edit);
}

const editors: { readonly [Kind in Edit["kind"]]: (draft: Draft, edit: Extract<Edit, { kind: Kind }>) => void } = {
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
  called: ({ pending }, { end }) => {
    pending.made.push(end);
  },
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
  fetched: takeRows,
  chosen: chooseRows,
  made: makeRows,
  mapped: (draft, { setId, rows }) => {
    for (const { data, ...row } of rows) {
      const rowNumber = data === undefined ? row.rowNumber : makeRow(draft, data);
      draft.pending.placed.push({ setId, ...row, rowNumber });
    }
  },
  turned: turnRows,
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
  plan: ({ job }, { plan }) => {
    job.plan = plan;
  },
  undo: ({ job }, { undo }) => {
    job.undo = undo;
  },
  armUndo,
  endUndo,
  endChildUndo: ({ pending }, { jobId, entry, state }) => {
    pending.childUndone.push({ jobId, entry, state });
  },
  child: ({ pending }, { child }) => {
    pending.children.push(child);
  },
  retryChild: ({ pending }, { child }) => {
    pending.retried.push(child);
  },
  saga: ({ job }, { saga }) => {
    job.saga = { ...job.saga, ...saga };
  },
  move: moveJob,
  park: ({ job }, { park }) => {
    job.park = park;
  },
  deadline: turnClock,
  use: ({ job }, { used }) => {
    const { toolCalls = 0, writes = 0, rows = 0, asks = 0 } = used;
    job.used = {
      toolCalls: job.used.toolCalls + toolCalls,
      writes: job.used.writes + writes,
      rows: job.used.rows + rows,
      asks: job.used.asks + asks,
    };
  },
  recorded: ({ pending }, { records }) => {
    for (const record of records) pending.records.push(record);
  },
  params: ({ job }, { params }) => {
    job.params = { ...job.params, ...params };
  },
  stepArgs: ({ job }, { stepId, args }) => {
    job.stepArgs = { ...job.stepArgs, [stepId]: { ...job.stepArgs[stepId], ...args } };
  },
  fork: ({ job }, { from, to }) => {
    const { generation } = job;
    job.positions = job.positions.flatMap((position) => {
      return position.index === from ? to.map((index) => ({ index, progress: undefined, generation })) : [position];
    });
  },
  join: ({ job }, { to }) => {
    job.positions = [{ index: to, progress: undefined }];
  },
  generation: ({ job }, { stepId }) => {
    job.generation += 1;
    if (job.positions.length === 1) return;
    const { generation } = job;
    const { flow } = job.loaded;
    const branch = stepId === undefined ? undefined : branchOf(flow, stepOf(flow, stepId).index)?.branch;
    job.positions = job.positions.map((position, at) => {
      return branch === undefined || at === branch ? { ...position, generation } : position;
    });
  },
  lastError: ({ job }, { message }) => {
    job.lastError = toldText(job, message);
  },
  note: (draft, { note: entry }) => note(draft, entry),
  logProgress,
  logUndo: (draft, { note: entry, isAlways }) => {
    if (isAlways || mayLogProgress(draft)) noteProgress(draft, entry);
  },
  asked: putQuestion,
  withdrawn: ({ pending }, { events }) => {
    pending.events.push(...events);
  },
  wakeJob: (draft, { jobId }) => wake(draft, jobId),
  end: endJob,
};

/** Returns a message with sensitive values masked. An app's message may quote data that svc sent to the app. */
function toldText(job: Draft["job"], message: string): string {
  return job.loaded.hasSensitive ? shownOf({ ...job, ...followingFrom(job) }).redact(message) : message;
}

const payloadBytesMax = 4_096;

/** Adds a log entry. A payload that is too long is dropped; then the entry has only its type. */
function note({ job, pending }: Draft, { type, stepId, payload, chain = job.principalChain }: LogNote): void {
  const text = JSON.stringify(payload);
  const isShort = Buffer.byteLength(text) <= payloadBytesMax;
  pending.events.push({
    type,
    stepId,
    payload: isShort ? text : '{"truncated":true}',
    // A log entry that the program itself causes stores no chain of causes, because the job already stores this chain.
    principalChain: chain === job.submitChain ? null : [...chain],
  });
}

function entryOf({ steps }: Draft["job"], stepId: string): StepEntry {
  const entry = steps.get(stepId);
  if (entry === undefined) throw new Error(`step ${stepId} has not begun`);
  return entry;
}

function patch({ job }: Draft, stepId: string, changed: (entry: StepEntry) => Partial<StepReceiptDocument>): void {
  const entry = entryOf(job, stepId);
  job.steps.set(stepId, { ...entry, receipt: { ...entry.receipt, ...changed(entry) } });
}

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

function beginStep(
  draft: Draft,
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

function changeReceipt(
  draft: Draft,
  { kind: _kind, stepId, isNewAttempt, ...changed }: Extract<Edit, { kind: "receipt" }>,
): void {
  patch(draft, stepId, ({ receipt }) => {
    return isNewAttempt === true ? { ...changed, attempts: receipt.attempts + 1 } : changed;
  });
}

function finishStep(draft: Draft, { stepId, state, to, isCut }: Extract<Edit, { kind: "finish" }>): void {
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
function reopenStep(draft: Draft, { stepId, progress }: Extract<Edit, { kind: "reopen" }>): void {
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
function skipStep(draft: Draft, { step }: Extract<Edit, { kind: "skip" }>): void {
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

function forgetStep({ job, pending }: Draft, { stepId }: Extract<Edit, { kind: "forget" }>): void {
  const entry = job.steps.get(stepId);
  if (entry === undefined) return;
  const { rows: _rows, ...receipt } = entry.receipt;
  job.steps.set(stepId, { ordinal: entry.ordinal, receipt, value: undefined });
  pending.clearedSets.push(stepId);
}

function takeRows(draft: Draft, { setId, rows }: Extract<Edit, { kind: "fetched" }>): void {
  const { job, pending } = draft;
  const counts = entryOf(job, setId).receipt.rows ?? noRows;
  const first = job.used.rows + job.rowsMade + 1;
  const rowNumbers = rows.map((_row, index) => first + index);
  for (const [index, data] of rows.entries()) pending.rows.push({ rowNumber: first + index, data });
  placeRows(draft, { setId, fromOrdinal: counts.in, rowNumbers });
  job.used = { ...job.used, rows: job.used.rows + rows.length };
  patch(draft, setId, () => ({ rows: { ...counts, in: counts.in + rows.length, ok: counts.ok + rows.length } }));
}

/** Adds a new row that a step made from other rows. Returns the row's number. */
function makeRow({ job, pending }: Draft, data: JsonObject): number {
  job.rowsMade += 1;
  const rowNumber = job.used.rows + job.rowsMade;
  pending.rows.push({ rowNumber, data });
  return rowNumber;
}

function chooseRows(draft: Draft, { setId, rowNumbers, looked }: Extract<Edit, { kind: "chosen" }>): void {
  const counts = entryOf(draft.job, setId).receipt.rows ?? noRows;
  placeRows(draft, { setId, fromOrdinal: counts.ok, rowNumbers });
  const ok = counts.ok + rowNumbers.length;
  const skipped = counts.skipped + looked - rowNumbers.length;
  patch(draft, setId, () => ({ rows: { ...counts, in: counts.in + looked, ok, skipped } }));
}

function makeRows(draft: Draft, { setId, rows, looked }: Extract<Edit, { kind: "made" }>): void {
  const counts = entryOf(draft.job, setId).receipt.rows ?? noRows;
  placeRows(draft, { setId, fromOrdinal: counts.ok, rowNumbers: rows.map((data) => makeRow(draft, data)) });
  patch(draft, setId, () => ({ rows: { ...counts, in: counts.in + looked, ok: counts.ok + rows.length } }));
}

/**
 * Appends rows to a set (the rows that a step has made). If they directly follow the last pending rows of the same set, both become one
 * range.
 */
function placeRows({ pending: { runs } }: Draft, run: JobSetRun): void {
  if (run.rowNumbers.length === 0) return;
  const last = runs.at(-1);
  const isNext = last?.setId === run.setId && last.fromOrdinal + last.rowNumbers.length === run.fromOrdinal;
  if (isNext) runs[runs.length - 1] = { ...last, rowNumbers: [...last.rowNumbers, ...run.rowNumbers] };
  else runs.push(run);
}

function turnRows(draft: Draft, edit: Extract<Edit, { kind: "turned" }>): void {
  const { setId, from, to } = edit;
  draft.pending.turned.push(edit);
  patch(draft, setId, ({ receipt: { rows = noRows } }) => {
    return { rows: { ...rows, [from]: 0, [to]: rows[to] + rows[from] } };
  });
}

/**
 * Adds undo entries, which say how calls are undone. If the arguments of an undo call cannot be computed, no entry is added, and one failed
 * undo is counted.
 */
function armUndo(draft: Draft, { entries }: Extract<Edit, { kind: "armUndo" }>): void {
  const { job, pending } = draft;
  for (const { args, ...undo } of entries) {
    const entry = job.saga.entries + 1;
    const failed = args === undefined ? 1 : 0;
    job.saga = { ...job.saga, state: "armed", entries: entry, failed: job.saga.failed + failed };
    if (args === undefined) countUndo(draft, undo.stepId, "failed");
    else pending.armed.push({ ...undo, entry, args });
  }
}

function endUndo(draft: Draft, { stepId, entry, state }: Extract<Edit, { kind: "endUndo" }>): void {
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

function moveJob(draft: Draft, { to, reason, chain }: Extract<Edit, { kind: "move" }>): void {
  const { job } = draft;
  const mayBecome = movesOf[job.isRehearsal ? "rehearsal" : "job"][job.status];
  if (!mayBecome.includes(to)) throw new Error(`a job that is ${job.status} cannot become ${to}`);
  const payload = { from: job.status, to, reason };
  if (isWaitedFor(job.status, to)) wakeParent(draft);
  note(draft, { type: "job-status-changed", stepId: "", payload, ...(chain && { chain }) });
  job.status = to;
  if (to !== "parked" && to !== "pending_plan_approval") job.park = null;
}

/**
 * True if the parent of a child job must read the child again after this status change: it begins or ends a wait, or the child ends. False
 * for any other change.
 */
function isWaitedFor(from: JobStatus, to: JobStatus): boolean {
  return from === "parked" || to === "parked" || endStatuses.has(to);
}

function wakeParent(draft: Draft): void {
  const { parent } = draft.job;
  if (parent !== null) wake(draft, parent.jobId);
}

/** Makes a job due, so that a node runs it. The next commit stores this. Does nothing if that commit already makes the job due. */
function wake({ job: { projectId }, pending: { tasks }, nowMs }: Draft, jobId: JobState["id"]): void {
  const isWoken = tasks.some((task) => task.jobId === jobId && task.kind === "run");
  if (!isWoken) tasks.push({ jobId, kind: "run", subject: "", projectId, dueAt: nowMs });
}

/** Stops, starts or resets the clock of the job's deadline. The clock is stopped while a job waits for a person and while it is paused. */
function turnClock({ job, nowMs }: Draft, { clock, sinceMs = nowMs }: Extract<Edit, { kind: "deadline" }>): void {
  const { deadline } = job;
  if (clock === "begins") job.deadline = { leftMs: job.loaded.program.limits.deadlineMs };
  if (clock === "stops" && "atMs" in deadline) job.deadline = { leftMs: Math.max(0, deadline.atMs - sinceMs) };
  if (clock === "runs" && "leftMs" in deadline) job.deadline = { atMs: nowMs + deadline.leftMs };
}

const progressPauseMs = 5_000;

function logProgress(draft: Draft, { stepId, counts = {} }: Extract<Edit, { kind: "logProgress" }>): void {
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

function putQuestion({ job, pending }: Draft, { prepared, isOfPlan }: Extract<Edit, { kind: "asked" }>): void {
  pending.events.push(...prepared.events);
  pending.tasks.push(...prepared.tasks);
  pending.asks.push(prepared);
  if (isOfPlan) job.planApprovalId = prepared.approvalId;
}

/**
 * Applies the end of the job to its state. No question, undo action or running block (step that contains steps) is left. The job's position
 * is kept, so that a new attempt can continue from it.
 */
function endJob({ job, nowMs }: Draft): void {
  if (!endStatuses.has(job.status)) throw new Error(`a job that is ${job.status} has not ended`);
  job.finishedAt = nowMs;
  // The question about the job's plan is dropped, because a later attempt asks its own question. `changedBy` (the keys whose answers
  // changed the job) is kept.
  const { changedBy } = job.plan ?? {};
  job.plan = changedBy && { changedBy };
  job.undo = undefined;
  job.progressLoggedAt = 0;
  if (transitions[job.status].length > 0) return;
  job.positions = job.positions.map((position) => ({ ...position, progress: undefined }));
}
